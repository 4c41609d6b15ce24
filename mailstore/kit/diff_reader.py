"""Yield what is new since the last look, each event once, and start over when something that was yielded is gone.

The two ways to compare are `PartReader` (files read whole) and `RecordReader` (a database asked for what changed).
"""

from __future__ import annotations

import errno
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import ClassVar

from mailstore.errors import reason_of
from mailstore.records.events import Event, Gone, Person, Reset
from mailstore.records.message import Message, Trace
from mailstore.records.roster import Agent

BATCH = 1000
MOST_RESTARTS = 20
"""How often everything is read again because something was gone when all was read."""


class DiffReader(ABC):
    """Compares a mailbox with what was yielded of it. Belongs to one consumer at a time. Blocks."""

    _expected: ClassVar[tuple[type[Exception], ...]] = (OSError,)
    """What `_read_all` and `_look` raise when the mailbox can't be read."""
    _gone = ""
    """Why the mailbox can't be read now; empty while it can."""
    _restarts = 0
    """How often everything is being read again, one time within the other."""

    @abstractmethod
    def _read_all(self) -> Iterator[list[Event]]:
        """Forget what was yielded and yield everything, the newest mail early."""

    @abstractmethod
    def _look(self, *, closely: bool) -> tuple[list[Event], str]:
        """Return what is new, and why everything must be read again (empty if it need not be).

        `closely` if something is known to have changed.
        """

    def _unreachable(self, why: str) -> str:
        """Say, for a user, that the mailbox can't be read."""
        return f"it can't be read: {why}"

    def scan(self) -> Iterator[list[Event]]:
        """Yield everything, the newest mail early. Raises OSError."""
        yield from self._read_all()

    def changes(self, has_changed: bool) -> Iterator[list[Event]]:
        """Yield what came since the last look; `Reset` and then everything if something no longer holds."""
        try:
            fresh, lost = self._look(closely=has_changed)
            if lost or self._gone:
                yield from self._restart("the mailbox is back" if self._gone else lost)
            else:
                yield from in_batches(in_order(fresh))
        except self._expected as error:
            reason = self._unreachable(reason_of(error))
            if not self._gone:
                self._gone = reason
                yield [Gone(reason)]

    def _restart(self, reason: str) -> Iterator[list[Event]]:
        if self._restarts == MOST_RESTARTS:
            raise OSError(errno.EAGAIN, "it changes each time it is read")
        self._restarts += 1
        try:
            batches = self._read_all()  # which may restart
            # what was yielded stays valid until the first batch that replaces it could be read
            first = next(batches, [])
            self._gone = ""
            yield [Reset(reason), *first]
            yield from batches
        finally:
            self._restarts -= 1


def in_batches(events: Iterable[Event]) -> Iterator[list[Event]]:
    """Yield events in lists of at most a thousand, none of them empty."""
    listed = list(events)
    for at in range(0, len(listed), BATCH):
        yield listed[at : at + BATCH]


def in_order(events: list[Event]) -> list[Event]:
    """Sort agents first, then messages by the time they were sent, then receipts and the like."""

    def key(event: Event) -> tuple[int, float, str]:
        if isinstance(event, Message):
            return 1, event.time, event.id
        return (0 if isinstance(event, (Agent, Person, Trace)) else 2), 0.0, ""

    return sorted(events, key=key)
