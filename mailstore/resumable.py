"""A store whose mail can be folded at once, kept, and resumed from where reading stopped."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path

from mailstore.records.events import Event
from mailstore.state.mailbox import Mailbox
from mailstore.store import Store


class Stale(Exception):
    """What was kept of a mailbox no longer holds because its files were replaced. The text says why."""


class Resumable(Store):
    """A store with so much mail that its folded state is kept between runs (`mailstore.folding`). Methods block.

    Optional: a store that is not resumable is scanned at every start.
    """

    @abstractmethod
    def is_long(self) -> bool:
        """Say whether there is so much mail that reading it takes a noticeable time."""

    @abstractmethod
    def glimpse(self) -> list[Event]:
        """Return the roster and the newest mail, for a first screen. Raises StoreError."""

    @abstractmethod
    def fold_all(self, mailbox: Mailbox, now: float) -> None:
        """Fold all records into an empty mailbox, as a scan would; `news` yields what follows. Raises StoreError."""

    @abstractmethod
    def position(self) -> bytes:
        """Return how far everything was read, to resume from there in another run. Raises OSError."""

    @abstractmethod
    def resume(self, position: bytes) -> list[Event]:
        """Resume from a position; return what must be folded before anything else. Raises Stale."""

    @abstractmethod
    def begin_anew(self) -> None:
        """Make the next scan yield everything, whatever was read before."""

    @abstractmethod
    def confirm(self) -> None:
        """Check thoroughly that what was read before `resume` is still there. Raises Stale."""

    @abstractmethod
    def news(self) -> Iterator[list[Event]]:
        """Yield what came since, by checking once."""

    def has_grown(self) -> bool:
        """Say whether so much came since the position it was resumed from that its folded state should be kept anew."""
        return False

    def note(self, mailbox: Mailbox, folder: Path) -> None:
        """Write what helps to read the mailbox without folding it, given what was just folded. Raises OSError.

        The folder belongs to the user's cache.
        """
