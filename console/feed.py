"""Carries a store's events onto the event loop, and folds them there without holding it up."""

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

__all__ = ["Sink", "carry", "events"]

SLICE_SECONDS = 0.003
SLICE_EVENTS = 24
AHEAD = 8


async def events(store: Store, scan: Callable[[], Iterator[list[Event]]]) -> AsyncGenerator[list[Event] | None]:
    """Yield everything that a scan of a store hands out, then None, then everything that comes; blocks nothing.

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
    queue: asyncio.Queue[list[Event] | None] = asyncio.Queue(AHEAD)
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
    """Who takes what comes: all on the event loop, none of it slow.

    `changed(is_loading)` is called after each slice that was folded; `failed` when the store can't be read any more;
    `rest` says how long to rest after working for so many seconds.
    """

    fold: Callable[[list[Event]], None]
    adopt: Callable[[Mailbox], None]
    """Takes a whole mailbox in the place of what was folded until then."""
    changed: Callable[[bool], None]
    failed: Callable[[StoreError], None]
    rest: Callable[[float], float]


async def carry(store: Store, user: str, seen: Callable[[], Sequence[Event]], sink: Sink, ahead: Prefetch) -> None:
    """Fold a store's events as they come, a few milliseconds at a time; a long mailbox is folded elsewhere first.

    `seen` says what the person has marked, and blocks: it is folded into such a mailbox before it is handed over.
    """
    try:
        if isinstance(store, Resumable) and await asyncio.to_thread(store.is_long):
            if not ahead.is_glimpse:
                await _sliced(await asyncio.to_thread(store.glimpse), sink, True)
            mailbox = await _whole(store, user, seen, may_be_kept=True)
            while mailbox is not None:
                sink.adopt(mailbox)
                sink.changed(False)
                if not await _followed(store, sink):
                    return
                mailbox = await _whole(store, user, seen, may_be_kept=False)
            await asyncio.to_thread(store.begin_anew)
        is_loading = True
        async with aclosing(events(store, store.scan if ahead.is_glimpse else ahead.rest)) as batches:
            async for batch in batches:
                is_loading = is_loading and batch is not None
                await _sliced(batch or [], sink, is_loading)
    except StoreError as error:
        sink.failed(error)


async def _whole(
    store: Resumable, user: str, seen: Callable[[], Sequence[Event]], *, may_be_kept: bool
) -> Mailbox | None:
    """Return all that a long store holds, folded by another process unless it is kept; None where that fails."""
    for is_kept in (True, False) if may_be_kept else (False,):
        if not is_kept:
            await _fold_elsewhere(store.url, user)
        mailbox = await asyncio.to_thread(kept, store, user, time())
        if mailbox is not None:
            marks = await asyncio.to_thread(seen)
            await asyncio.to_thread(mailbox.fold, marks, time())
            return mailbox
    return None


async def _fold_elsewhere(url: str, user: str) -> None:
    """Have another process fold a store and keep the result: it has another core, and no screen to hold up."""
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
    """Fold what comes; say whether all must be read anew, because the files are others now."""
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
