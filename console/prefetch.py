"""The beginning of a store's scan, read before there is a screen: the first frame is drawn from it."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Thread

from mailstore.errors import StoreError
from mailstore.records.events import Event, Progress
from mailstore.resumable import Resumable
from mailstore.store import Store

__all__ = ["Prefetch"]

PATIENCE_SECONDS = 0.1
"""How long the first frame waits for a store that is slow; its mail comes into a later one."""


class Prefetch:
    """A store's scan in two parts: what is there at once, and the rest.

    A store that says how far it has read says so first when its newest mail has been told: that ends the
    first part. Each batch is handed out once, in order. Of a long one the first part is a glimpse of it.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._scan = store.scan()
        self._read: list[list[Event]] = []
        self._error: StoreError | OSError | None = None
        self._told = 0
        self.is_glimpse = False
        self._thread = Thread(target=self._look, name="ahead", daemon=True)
        self._thread.start()

    def _look(self) -> None:
        store = self._store
        try:
            if isinstance(store, Resumable) and store.is_long():
                self._read.append(store.glimpse())
                self.is_glimpse = True
                return
            for batch in self._scan:
                self._read.append(batch)
                if any(type(event) is Progress for event in batch):
                    return
        except (StoreError, OSError) as error:
            self._error = error

    def head(self) -> list[list[Event]]:
        """Return what is there at once; waits for it no longer than a first frame may."""
        self._thread.join(PATIENCE_SECONDS)
        found = self._read[:]
        self._told = len(found)
        return found

    def rest(self) -> Iterator[list[Event]]:
        """Yield what `head` did not return; blocks. Raises StoreError and OSError."""
        self._thread.join()
        yield from self._read[self._told :]
        self._read.clear()
        if self._error is not None:
            raise self._error
        yield from self._scan
