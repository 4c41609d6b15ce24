"""Which mail is handed out first where not all of it can be. Imports nothing: a hook reads it at every start."""

from __future__ import annotations

from mailstore.records.protocol import USER_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["URGENT_TYPES", "is_urgent"]

URGENT_TYPES = frozenset({"question", "cancel", "incident"})
URGENT_TAGS = frozenset(f"{field}:{word}" for field in ("priority", "importance") for word in ("high", "urgent"))


def is_urgent(sender: str, kind: str, tags: Iterable[str]) -> bool:
    """Say whether a message goes before older ones: the person's, what is asked or called off, what is marked so."""
    return (
        sender in USER_NAMES or sender.startswith("person:") or kind in URGENT_TYPES or not URGENT_TAGS.isdisjoint(tags)
    )
