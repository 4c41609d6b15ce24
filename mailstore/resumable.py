"""A store whose mail can be folded at once, and gone on with from where it was read to."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

from mailstore.records.events import Event
from mailstore.state.mailbox import Mailbox
from mailstore.store import Store

__all__ = ["Resumable", "Stale"]


class Stale(Exception):
    """What was folded of a mailbox no longer holds: its files are others now. The text says why."""


class Resumable(Store):
    """What `folding` needs of a store, so that a folded mailbox can be kept and taken up again. Methods block."""

    @abstractmethod
    def is_long(self) -> bool:
        """Say whether there is so much mail that reading it takes a while."""

    @abstractmethod
    def glimpse(self) -> list[Event]:
        """Return the roster and the newest mail, for a first look. Raises StoreError."""

    @abstractmethod
    def fold_all(self, mailbox: Mailbox, now: float) -> None:
        """Fold all there is into an empty mailbox, as if it was scanned; `news` tells the rest. Raises StoreError."""

    @abstractmethod
    def position(self) -> bytes:
        """Return how far everything was read, to go on from there another time. Raises OSError."""

    @abstractmethod
    def resume(self, position: bytes) -> list[Event]:
        """Go on from where another reading stopped; return what must be folded before what comes. Raises Stale."""

    @abstractmethod
    def begin_anew(self) -> None:
        """Let the next scan tell everything, whatever was read before."""

    @abstractmethod
    def confirm(self) -> None:
        """Make sure that what was read before `resume` still stands, where there is any doubt. Raises Stale."""

    @abstractmethod
    def news(self) -> Iterator[list[Event]]:
        """Yield what came since, by one look."""
