"""Which mail comes first where not all of it can be shown. Imports nothing: a hook reads it at every start."""

from __future__ import annotations

from mailstore.records.protocol import USER_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

URGENT_TYPES = frozenset({"question", "cancel", "incident"})
URGENT_TAGS = frozenset(f"{field}:{word}" for field in ("priority", "importance") for word in ("high", "urgent"))


def is_urgent(sender: str, kind: str, tags: Iterable[str]) -> bool:
    """Say whether a message comes before older ones: from the user, a question or cancellation, or marked urgent."""
    return (
        sender in USER_NAMES or sender.startswith("person:") or kind in URGENT_TYPES or not URGENT_TAGS.isdisjoint(tags)
    )
