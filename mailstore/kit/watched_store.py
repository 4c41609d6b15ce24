"""A store over a folder that is watched: hands out what its reader finds, each batch once."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Protocol, TypeVar

from mailstore.errors import MailboxMissing, StoreError, reason_of
from mailstore.records.events import Event
from mailstore.store import Store

__all__ = ["EventReader", "WatchedStore", "found_at", "is_found", "unreadable"]

Place = TypeVar("Place")
Find = Callable[[Path], Place | None]
"""Finds a kind's mailbox at a path that a person names; None where none is. May raise OSError and ValueError."""


class EventReader(Protocol):
    """Finds the events in a mailbox's files; belongs to one consumer at a time, and blocks."""

    def scan(self) -> Iterator[list[Event]]:
        """Yield all there is, the newest mail early. Raises OSError."""

    def changes(self, has_changed: bool) -> Iterator[list[Event]]:
        """Yield what came since the last look; `has_changed` where the watch saw that something did."""


class WatchedStore(Store):
    """Implements `scan`, `changes` and `close`; what is watched is `_below` the folder."""

    def __init__(self, reader: EventReader, folder: Path, *, poll: bool = False) -> None:
        self._reader = reader
        self._folder = folder
        self._poll = poll
        self._scanning = reader.scan()
        self._changing: Iterator[list[Event]] = iter(())
        self._turn = threading.Lock()
        self._ready: list[Event] = []

    def _below(self) -> Sequence[str]:
        """Return the folders below the mailbox's whose entries count too, there or not."""
        return ()

    def scan(self) -> Iterator[list[Event]]:
        """Yield all there is, once: the roster, the newest mail, then the rest."""
        while self._take(self._scanned):
            yield self._hand_out()

    def news(self) -> Iterator[list[Event]]:
        """Yield what came since the last batch handed out, by one look."""
        self._look(True)
        while self._take(self._changed):
            yield self._hand_out()

    def _rewind(self) -> None:
        """Hand out everything again."""
        with self._turn:
            self._scanning, self._changing = self._reader.scan(), iter(())
            self._ready = []

    def _skip(self) -> None:
        """Forget what is still to be handed out: all of it was folded by other ways."""
        with self._turn:
            self._scanning = self._changing = iter(())
            self._ready = []

    async def changes(self) -> AsyncGenerator[list[Event], None]:
        """Yield what came since the last batch handed out; what a scan left over comes first."""
        import asyncio

        from mailstore.files.watch import wakeups

        # what was read is kept until it is handed out: whoever is cancelled meanwhile loses nothing
        while await asyncio.to_thread(self._take, self._scanned):
            yield self._hand_out()
        async with aclosing(wakeups(self._folder, self._below, poll=self._poll)) as woken:
            async for has_changed in woken:
                self._look(has_changed)
                while await asyncio.to_thread(self._take, self._changed):
                    yield self._hand_out()

    def _look(self, has_changed: bool) -> None:
        """Have the next look taken, after what an earlier one has left."""
        with self._turn:
            left = self._changing
            self._changing = (batch for batches in (left, self._reader.changes(has_changed)) for batch in batches)

    def _take(self, read: Callable[[], list[Event]]) -> bool:
        """Have a batch ready; say whether there is one."""
        with self._turn:
            self._ready = self._ready or read()
            return bool(self._ready)

    def _hand_out(self) -> list[Event]:
        batch, self._ready = self._ready, []
        return batch

    def _scanned(self) -> list[Event]:
        """Return the scan's next batch, an empty one at its end."""
        try:
            return next(self._scanning, [])
        except OSError as error:
            raise unreadable(self._folder, error) from error

    def _changed(self) -> list[Event]:
        """Return the next batch of what came, an empty one when nothing more did."""
        return next(self._changing, [])

    def close(self) -> None:
        """Let go of the files that a scan holds open which was given up."""
        with self._turn:
            self._scanning = self._changing = iter(())


def is_found(find: Find[Place], path: Path, looks_right: Callable[[Place], bool] = lambda place: True) -> bool:
    """Say whether a mailbox lies at a path; one that can't be looked at is none."""
    try:
        place = find(path)
        return place is not None and looks_right(place)
    except (OSError, ValueError):
        return False


def found_at(find: Find[Place], path: Path, problem: str, remedy: str) -> Place:
    """Return the mailbox at a path; raises MailboxMissing, and StoreError where it can't be looked for."""
    try:
        place = find(path)
    except (OSError, ValueError) as error:
        raise unreadable(path, error if isinstance(error, OSError) else OSError(str(error))) from error
    if place is None:
        raise MailboxMissing(problem, remedy)
    return place


def unreadable(path: Path, error: OSError) -> StoreError:
    """Return the error for what the file system won't let be read."""
    return StoreError(f"{path} can't be read", reason_of(error))
