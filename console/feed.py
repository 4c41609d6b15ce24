"""Feed a store's events into the mailbox, in slices so short that they never delay a key."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from threading import Event as Flag
from time import perf_counter, time

from console.prefetch import Prefetch
from mailstore.errors import StoreError
from mailstore.folding import COMPLETE_URL, kept
from mailstore.records.events import Event, Reset
from mailstore.registry import complete_url
from mailstore.resumable import Resumable, Stale
from mailstore.state.mailbox import Mailbox
from mailstore.store import Capability, Store

SLICE_SECONDS = 0.003
SLICE_EVENTS = 24
QUEUED_BATCHES = 8


async def events(store: Store, scan: Callable[[], Iterator[list[Event]]]) -> AsyncGenerator[list[Event] | None]:
    """Yield the batches of a scan, then None, then the changes; never blocks the event loop.

    The scan runs in a thread, at most a few batches ahead of the consumer.
    """
    async for batch in _scanned(scan):
        yield batch
    yield None
    if Capability.FOLLOW in store.capabilities:
        async for batch in store.changes():
            yield batch


async def _scanned(batches: Callable[[], Iterator[list[Event]]]) -> AsyncGenerator[list[Event]]:
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[list[Event] | None] = asyncio.Queue(QUEUED_BATCHES)
    stopped = Flag()

    def scan() -> None:
        try:
            for batch in batches():
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


@dataclass(frozen=True, slots=True)
class Sink:
    """The receiver of events, called on the event loop.

    `changed(is_loading)` is called after each slice; `failed` when the store can no longer be read; `rest` returns how
    long to sleep after so many seconds of work.
    """

    fold: Callable[[list[Event]], None]
    adopt: Callable[[Mailbox], None]
    """Takes a complete mailbox that replaces everything folded so far."""
    changed: Callable[[bool], None]
    failed: Callable[[StoreError], None]
    rest: Callable[[float], float]


async def feed(store: Store, user: str, seen: Callable[[], Sequence[Event]], sink: Sink, prefetch: Prefetch) -> None:
    """Feed a store's events to a sink, a few milliseconds at a time; a long store is indexed by another process first.

    `seen` returns the messages that the person has seen, as events for such a mailbox; it blocks.
    """
    try:
        if isinstance(store, Resumable) and await asyncio.to_thread(store.is_long):
            preview = await asyncio.to_thread(prefetch.late_preview)
            if not prefetch.is_preview:
                preview = await asyncio.to_thread(store.glimpse)
            await _sliced(preview, sink, True)
            mailbox = await _whole(store, user, seen, may_use_snapshot=True)
            while mailbox is not None:
                sink.adopt(mailbox)
                sink.changed(False)
                if not await _followed(store, sink):
                    return
                mailbox = await _whole(store, user, seen, may_use_snapshot=False)
            await asyncio.to_thread(store.begin_anew)
        is_loading = True
        async with aclosing(events(store, store.scan if prefetch.is_preview else prefetch.rest)) as batches:
            async for batch in batches:
                is_loading = is_loading and batch is not None
                await _sliced(batch or [], sink, is_loading)
    except StoreError as error:
        sink.failed(error)


async def _whole(
    store: Resumable, user: str, seen: Callable[[], Sequence[Event]], *, may_use_snapshot: bool
) -> Mailbox | None:
    """Return a long store's mailbox, indexed by another process unless there is a snapshot; None if that fails."""
    for is_kept in (True, False) if may_use_snapshot else (False,):
        if not is_kept:
            await _fold_elsewhere(store.url, user)
        mailbox = await asyncio.to_thread(kept, store, user, time())
        if mailbox is not None:
            marks = await asyncio.to_thread(seen)
            await asyncio.to_thread(mailbox.fold, marks, time())
            return mailbox
    return None


async def _fold_elsewhere(url: str, user: str) -> None:
    """Index a store in another process, which saves a snapshot: it has a core of its own, and no screen to delay."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "mailstore.folding", url, user),
        env={**os.environ, COMPLETE_URL: complete_url(url)},
        stdin=DEVNULL,
        stdout=DEVNULL,
        stderr=DEVNULL,
    )
    try:
        await process.wait()
    finally:
        if process.returncode is None:
            process.kill()


async def _followed(store: Resumable, sink: Sink) -> bool:
    """Feed the changes; return whether everything must be read again, because the files were replaced."""
    try:
        await asyncio.to_thread(store.confirm)
    except Stale:
        return True
    async with aclosing(store.changes()) as batches:
        async for batch in batches:
            if any(isinstance(event, Reset) for event in batch) and await asyncio.to_thread(store.is_long):
                return True
            await _sliced(batch, sink, False)
    return False


async def _sliced(batch: list[Event], sink: Sink, is_loading: bool) -> None:
    start = perf_counter()
    for at in range(0, len(batch), SLICE_EVENTS):
        sink.fold(batch[at : at + SLICE_EVENTS])
        if (took := perf_counter() - start) > SLICE_SECONDS:
            sink.changed(is_loading)
            await asyncio.sleep(sink.rest(took))
            start = perf_counter()
    sink.changed(is_loading)
