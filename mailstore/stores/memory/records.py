"""The records of one mailbox in memory, shared by its stores, and whoever waits for more of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import RLock

from mailstore.records.message import Delivery, Intervention, Receipt
from mailstore.records.roster import Agent

__all__ = ["Record", "Records"]

Record = str | Agent | Receipt | Delivery | Intervention
"""A message is a line of text, which may be damaged; the others are values."""


class Records:
    """Records in the order in which they came. Any thread may read and write."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.is_gone = False
        self._records: list[Record] = []
        self._version = 0
        self._waiting: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}

    def append(self, *records: Record) -> int:
        """Append records; return the place of the first."""
        with self.lock:
            first = len(self._records)
            self._records.extend(records)
            self._wake()
        return first

    def replace(self, *records: Record) -> None:
        """Put others in the place of all there are; who reads them reads everything anew."""
        with self.lock:
            self._records = list(records)
            self._version += 1
            self.is_gone = False
            self._wake()

    def remove(self) -> None:
        """Take everything away, until something else is put in its place."""
        with self.lock:
            self._records = []
            self._version += 1
            self.is_gone = True
            self._wake()

    def since(self, place: int) -> tuple[int, list[Record]]:
        """Return which version of the mailbox this is, and its records from a place on."""
        with self.lock:
            return self._version, self._records[place:]

    def at(self, place: int) -> Record | None:
        """Return the record at a place, if there is one."""
        with self.lock:
            return self._records[place] if 0 <= place < len(self._records) else None

    @contextmanager
    def woken(self) -> Iterator[asyncio.Event]:
        """Give an event of the running loop that is set whenever anything changes."""
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
            # a loop that was closed under its generators can't be woken, and need not be
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(changed.set)
