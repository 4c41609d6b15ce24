"""The records of one mailbox in memory, shared by its stores, and those waiting for changes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import RLock

from mailstore.records.message import Delivery, Intervention, Receipt
from mailstore.records.roster import Agent

Record = str | Agent | Receipt | Delivery | Intervention
"""A message is a line of text, possibly damaged; the others are values."""


class Records:
    """Records in order of arrival. Thread-safe."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.is_gone = False
        self._records: list[Record] = []
        self._version = 0
        self._waiting: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}

    def append(self, *records: Record) -> int:
        """Append records; return the index of the first."""
        with self.lock:
            first = len(self._records)
            self._records.extend(records)
            self._wake()
        return first

    def replace(self, *records: Record) -> None:
        """Replace all records; readers reload everything."""
        with self.lock:
            self._records = list(records)
            self._version += 1
            self.is_gone = False
            self._wake()

    def remove(self) -> None:
        """Remove everything until `replace` is called."""
        with self.lock:
            self._records = []
            self._version += 1
            self.is_gone = True
            self._wake()

    def since(self, place: int) -> tuple[int, list[Record]]:
        """Return the version of the mailbox, and its records from an index on."""
        with self.lock:
            return self._version, self._records[place:]

    def at(self, place: int) -> Record | None:
        """Return the record at an index, or None."""
        with self.lock:
            return self._records[place] if 0 <= place < len(self._records) else None

    @contextmanager
    def woken(self) -> Iterator[asyncio.Event]:
        """Yield an event of the running loop that is set at every change."""
        changed = asyncio.Event()
        with self.lock:
            self._waiting[changed] = asyncio.get_running_loop()
        try:
            yield changed
        finally:
            with self.lock:
                del self._waiting[changed]

    def _wake(self) -> None:
        for changed, loop in self._waiting.items():
            # a closed loop can't be woken, and doesn't need to be
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(changed.set)
