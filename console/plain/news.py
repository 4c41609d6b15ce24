"""Follows the mailbox in a thread of its own, so that news can be printed between two commands."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from queue import Empty, SimpleQueue
from threading import Thread

from mailstore.errors import StoreError
from mailstore.records.events import Event, Gone
from mailstore.store import Capability, Store


class News:
    """Events since the last look, in the order in which the store reported them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._came: SimpleQueue[list[Event]] = SimpleQueue()
        self._loop = asyncio.new_event_loop()
        self._task: asyncio.Task[None] | None = None
        self._thread = Thread(target=self._run, daemon=True, name="news")
        if Capability.FOLLOW in store.capabilities:
            self._thread.start()

    def take(self) -> list[Event]:
        """Return what came since the last call."""
        result: list[Event] = []
        with suppress(Empty):
            while True:
                result += self._came.get_nowait()
        return result

    def close(self) -> None:
        """Stop following."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._cancel)
            self._thread.join(timeout=5)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _run(self) -> None:
        self._task = self._loop.create_task(self._follow())
        with suppress(asyncio.CancelledError):
            self._loop.run_until_complete(self._task)
        self._loop.close()

    async def _follow(self) -> None:
        try:
            async with aclosing(self._store.changes()) as changes:
                async for batch in changes:
                    self._came.put(batch)
        except StoreError as error:
            self._came.put([Gone(error.problem)])
