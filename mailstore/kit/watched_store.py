"""A store over a folder that is watched for changes.

Usage:

    class BoardStore(WatchedStore):
        def __init__(self, folder, *, poll=False):
            super().__init__(PartReader(BoardSource(folder)), folder, poll=poll)
"""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

from mailstore.kit.locating import found_at, is_found, unreadable
from mailstore.location import path_of
from mailstore.records.events import Event
from mailstore.store import Store, WatchedPaths

MOST_PATHS = 300
MANY, MANY_REST_SECONDS = 24, 0.03
"""After a check that found more events than this the next one waits: reading few large pieces costs less than many."""


class EventReader(Protocol):
    """Finds the events in a mailbox's files, as `PartReader` and `RecordReader` do; for one consumer; blocks."""

    def scan(self) -> Iterator[list[Event]]:
        """Yield everything, the newest mail early. Raises OSError."""

    def changes(self, has_changed: bool) -> Iterator[list[Event]]:
        """Yield what came since the last call; `has_changed` if the watch reported a change."""


class WatchedStore(Store):
    """Implements `scan`, `changes` and `close` of a store over a folder, with what an event reader finds in it.

    What is left to the kind: `find`, `content`, `raw`, and the commands it offers. `open` makes a store of what `find`
    returns and `poll`. `url` and `title` are the folder's, unless it says otherwise.
    """

    missing: ClassVar[tuple[str, str]] = ("there is no mailbox of this kind at {path}", "name its folder")
    """The problem and the remedy for a path where `find` finds nothing."""

    def __init__(self, reader: EventReader, folder: Path, *, poll: bool = False) -> None:
        self._reader = reader
        self.folder = folder
        """The folder that is watched."""
        self._poll = poll
        self._scanning = reader.scan()
        self._changing: Iterator[list[Event]] = iter(())
        self._turn = threading.Lock()
        self._ready: list[Event] = []

    @classmethod
    def find(cls, path: Path) -> Any:
        """Return what `__init__` takes for the mailbox at a path; None if there is none.

        May raise OSError and ValueError.
        """
        raise NotImplementedError

    @classmethod
    def is_likely(cls, place: Any) -> bool:
        """Say whether what `find` returned is a mailbox of this kind even if the user didn't say so."""
        return True

    @classmethod
    def recognise(cls, path: Path) -> bool:
        return is_found(cls.find, path, cls.is_likely)

    @classmethod
    def open(cls, location: str | Path, *, poll: bool = False) -> Self:
        problem, remedy = cls.missing
        path = path_of(location)
        make: Callable[..., Self] = cls
        return make(found_at(cls.find, path, problem.format(path=path), remedy), poll=poll)

    @property
    def url(self) -> str:
        return f"{self.kind}:{self.folder.resolve()}"

    @property
    def title(self) -> str:
        return self.folder.name

    def watched(self) -> WatchedPaths:
        """Return the file that the URL names, with the log that it has if it is a database; or the folder's files."""
        place = self.url.partition(":")[2]
        if os.path.isdir(place):  # noqa: PTH112
            return watched_folders(place)
        return WatchedPaths((place, f"{place}-wal"))

    def below(self) -> Sequence[str]:
        """Return the folders inside the mailbox's folder that are watched too, whether or not they exist."""
        return ()

    def scan(self) -> Iterator[list[Event]]:
        """Yield everything once: the roster, the newest mail, then the rest."""
        while self._take(self._scanned):
            yield self._hand_out()

    def news(self) -> Iterator[list[Event]]:
        """Check for changes once; yield what came since the last batch."""
        self._look(True)
        while self._take(self._changed):
            yield self._hand_out()

    def _rewind(self) -> None:
        """Make `scan` yield everything again."""
        with self._turn:
            self._scanning, self._changing = self._reader.scan(), iter(())
            self._ready = []

    def _skip(self) -> None:
        """Discard what was not yielded yet: all of it was folded by other ways."""
        with self._turn:
            self._scanning = self._changing = iter(())
            self._ready = []

    async def changes(self) -> AsyncGenerator[list[Event], None]:
        """Yield what came since the last batch; what a scan left over comes first."""
        import asyncio

        from mailstore.files.watch import wakeups

        # a batch that was read is kept until it is yielded, so that a cancelled consumer loses nothing
        while await asyncio.to_thread(self._take, self._scanned):
            yield self._hand_out()
        async with aclosing(wakeups(self.folder, self.below, poll=self._poll)) as woken:
            async for has_changed in woken:
                self._look(has_changed)
                number = 0
                while await asyncio.to_thread(self._take, self._changed):
                    number += len(self._ready)
                    yield self._hand_out()
                if number > MANY:
                    await asyncio.sleep(MANY_REST_SECONDS)

    def _look(self, has_changed: bool) -> None:
        """Queue a check for changes behind what an earlier one has left."""
        with self._turn:
            left = self._changing
            self._changing = (batch for batches in (left, self._reader.changes(has_changed)) for batch in batches)

    def _take(self, read: Callable[[], list[Event]]) -> bool:
        """Make the next batch ready; say whether there is one."""
        with self._turn:
            self._ready = self._ready or read()
            return bool(self._ready)

    def _hand_out(self) -> list[Event]:
        batch, self._ready = self._ready, []
        return batch

    def _scanned(self) -> list[Event]:
        """Return the scan's next batch; an empty one at its end."""
        try:
            return next(self._scanning, [])
        except OSError as error:
            raise unreadable(self.folder, error) from error

    def _changed(self) -> list[Event]:
        """Return the next batch of changes; an empty one if there are no more."""
        return next(self._changing, [])

    def close(self) -> None:
        """Release the files that an unfinished scan holds open."""
        with self._turn:
            self._scanning = self._changing = iter(())


def watched_folders(*tops: str | Path) -> WatchedPaths:
    """Return folders and all that is in them; their folders alone where there are many files, each of them a message.

    Nothing where there are very many folders. What a program writes into one of many files is not seen.
    """
    trees = [_tree(str(top)) for top in tops]
    return WatchedPaths(tuple(path for tree in trees for path in tree)) if all(trees) else WatchedPaths()


def _tree(top: str) -> list[str]:
    folders, files = [top], []
    for folder, inner, names in os.walk(top):
        folders += [f"{folder}/{name}" for name in inner]
        files += [f"{folder}/{name}" for name in names]
        if len(folders) > MOST_PATHS:
            return []
    return folders if len(folders) + len(files) > MOST_PATHS else folders + files
