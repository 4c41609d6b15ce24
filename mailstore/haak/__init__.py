"""The HAAK mailbox, the protocol of the first seed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mailstore.haak.store import HaakStore

__all__ = ["HaakStore"]


def __getattr__(name: str) -> object:
    """Import the store when it is asked for: a hook that reads one agent's mail needs little of it."""
    if name != "HaakStore":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from mailstore.haak.store import HaakStore

    return HaakStore
