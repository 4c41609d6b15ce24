"""Carries a store's events onto the event loop, and folds them there without holding it up."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from threading import Event as Flag
from time import perf_counter

from mailstore.errors import StoreError
from mailstore.events import Event
from mailstore.store import Capability, Store

__all__ = ["carry", "events"]

SLICE_SECONDS = 0.004
SLICE_EVENTS = 256
AHEAD = 8


async def events(store: Store) -> AsyncIterator[list[Event] | None]:
    """Yield everything a store holds, then None, then everything that comes; blocks nothing.

    The scan runs in a thread, at most a few batches ahead of the consumer.
    """
    async for batch in _scanned(store):
        yield batch
    yield None
    if Capability.FOLLOW in store.capabilities:
        async for batch in store.changes():
            yield batch


async def _scanned(store: Store) -> AsyncIterator[list[Event]]:
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[list[Event] | None] = asyncio.Queue(AHEAD)
    stopped = Flag()

    def scan() -> None:
        try:
            for batch in store.scan():
                if stopped.is_set():
                    return
                asyncio.run_coroutine_threadsafe(queue.put(batch), loop).result()
        finally:
            with contextlib.suppress(RuntimeError):
                asyncio.run_coroutine_threadsafe(queue.put(None), loop)

    scanning = asyncio.create_task(asyncio.to_thread(scan))
    try:
        while (batch := await queue.get()) is not None:
            yield batch
        await scanning
    finally:
        stopped.set()
        while not queue.empty():
            queue.get_nowait()


async def carry(
    store: Store,
    fold: Callable[[list[Event]], None],
    changed: Callable[[bool], None],
    failed: Callable[[StoreError], None],
) -> None:
    """Fold a store's events as they come, a few milliseconds at a time.

    `changed(is_loading)` is called after each slice; `failed` when the store can't be read any more.
    """
    is_loading = True
    try:
        async for batch in events(store):
            if batch is None:
                is_loading = False
                batch = []
            start = perf_counter()
            for at in range(0, len(batch), SLICE_EVENTS):
                fold(batch[at : at + SLICE_EVENTS])
                if perf_counter() - start > SLICE_SECONDS:
                    changed(is_loading)
                    await asyncio.sleep(0)
                    start = perf_counter()
            changed(is_loading)
    except StoreError as error:
        failed(error)
