"""Read the beginning of a store before there is a screen, for the first frame."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Thread

from mailstore.records.events import Event, Progress
from mailstore.resumable import Resumable
from mailstore.store import Store

PATIENCE_SECONDS = 0.1
"""How long the first frame waits for a slow store, whose mail is then drawn in a later one."""


class Prefetch:
    """A store's scan in two parts, `head` and `rest`; each batch is returned once, in order.

    The head ends with the first Progress event, which follows the newest mail. Of a long resumable store, the head is
    a preview (`is_preview`), and the rest is to be read otherwise.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._scan = store.scan()
        self._read: list[list[Event]] = []
        self._error: Exception | None = None
        self._returned = 0
        self.is_preview = False
        self._thread = Thread(target=self._read_head, name="prefetch", daemon=True)
        self._thread.start()

    def _read_head(self) -> None:
        store = self._store
        try:
            if isinstance(store, Resumable) and store.is_long():
                self._read.append(store.glimpse())
                self.is_preview = True
                return
            for batch in self._scan:
                self._read.append(batch)
                if any(type(event) is Progress for event in batch):
                    return
        except Exception as error:  # `rest` raises it
            self._error = error

    def head(self) -> list[list[Event]]:
        """Return the batches read so far; wait a moment for the newest mail."""
        self._thread.join(PATIENCE_SECONDS)
        events = self._read[:]
        self._returned = len(events)
        return events

    def late_preview(self) -> list[Event]:
        """Return a preview that `head` came too early for; blocks until it is read."""
        self._thread.join()
        if not self.is_preview:
            return []
        late = [event for batch in self._read[self._returned :] for event in batch]
        self._returned = len(self._read)
        return late

    def rest(self) -> Iterator[list[Event]]:
        """Yield the batches that `head` did not return; blocks. Raises what the store raised, StoreError as a rule."""
        self._thread.join()
        yield from self._read[self._returned :]
        self._read.clear()
        if self._error is not None:
            raise self._error
        yield from self._scan
