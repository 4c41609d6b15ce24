"""Wakes whoever follows a folder when something in it may have changed."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from time import monotonic

from mailstore.files.inotify import OF_FOLDERS, Inotify

__all__ = ["wakeups"]

TICK_SECONDS = 1.0
REST_SECONDS = 0.003
"""How long at least it is from one look to the next: what happens meanwhile is found by one look."""
CHECK_SECONDS = 5.0
"""How often it is seen to that the folders are still those that are watched, where no event says they aren't."""
STEP_MS = 10
"""How often other systems than Linux are asked whether events have come."""
BUSY_SECONDS = 0.01
IDLE_SECONDS = 0.05
POLL_SHARE = 20
"""How many times longer than a look the pause after it is: looking at a full folder must not take a whole core."""
RETURN_SECONDS = 0.2

Entry = tuple[str, int, int, int]
Identity = tuple[int, int] | None
Below = Sequence[str] | Callable[[], Sequence[str]]
Watched = dict[Path, Identity]


async def wakeups(folder: Path, below: Below = (), *, poll: bool = False) -> AsyncGenerator[bool, None]:
    """Yield when an entry of a folder may have changed, and about once a second regardless: then False.

    `below` names folders in it whose entries count too, whether or not they are there yet, or says which these are
    by now. File system events where there are any (docs/decisions/0029); else (`poll`, as for NFS) a look every 10 ms,
    every 50 ms when nothing happens, and seldomer where a look takes long. A folder that is gone is waited for. The
    consumer finds out itself what has changed: events merge and can be missed.
    """

    def watched() -> Watched:
        names = below() if callable(below) else below
        return {path: _identity(path) for path in (folder, *(folder / name for name in names))}

    while True:
        there = await asyncio.to_thread(watched)
        if there[folder] is None:
            yield True
            await asyncio.sleep(RETURN_SECONDS)
            continue
        waking = _polled(watched) if poll else _events(watched, there)
        async with aclosing(waking):
            try:
                async for has_changed in waking:
                    yield has_changed
            except FileNotFoundError:
                continue
            except OSError:
                # no more watches are to be had: look instead
                poll = True


async def _queued(watched: Callable[[], Watched], there: Watched) -> AsyncGenerator[bool, None]:
    """Yield as the kernel tells of events, until the folders are no longer those that are watched."""
    with Inotify() as queue:
        for path, identity in there.items():
            if identity:
                queue.watch(path)
        # the watch stands now: what changed before is found by this look, what changes from here on wakes
        yield True
        what, looked, checked = OF_FOLDERS, monotonic(), 0.0
        while True:
            if what & OF_FOLDERS or looked > checked + CHECK_SECONDS:
                if await asyncio.to_thread(watched) != there:
                    return
                checked = monotonic()
            await queue.wait(TICK_SECONDS)
            if (rest := looked + REST_SECONDS - monotonic()) > 0:
                await asyncio.sleep(rest)
            what, looked = queue.drain(), monotonic()
            yield what > 0


async def _asked(watched: Callable[[], Watched], there: Watched) -> AsyncGenerator[bool, None]:
    """Yield for each batch of events that `watchfiles` has, until the folders are no longer those that are watched."""
    from watchfiles import awatch

    stopped = asyncio.Event()
    changes = awatch(
        *(path for path, identity in there.items() if identity),
        watch_filter=None,
        debounce=STEP_MS,
        step=STEP_MS,
        stop_event=stopped,
        rust_timeout=int(TICK_SECONDS * 1000),
        yield_on_timeout=True,
        recursive=False,
    )
    first = asyncio.ensure_future(anext(changes))
    try:
        await asyncio.sleep(0)
        # the watch stands now: what changed before is found by this look, what changes from here on wakes
        yield True
        yield bool(await first)
        while await asyncio.to_thread(watched) == there:
            yield bool(await anext(changes))
    finally:
        stopped.set()
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await changes.aclose()


async def _polled(watched: Callable[[], Watched]) -> AsyncGenerator[bool, None]:
    """Yield when the entries of some folders are no longer the same, until the first folder is gone."""
    entries: set[Entry] | None = None
    pause = BUSY_SECONDS
    last = 0.0
    while True:
        start = monotonic()
        now = await asyncio.to_thread(_entries, watched)
        end = monotonic()
        if now is None:
            return
        pause = BUSY_SECONDS if now != entries else min(pause * 1.5, IDLE_SECONDS)
        if now != entries or end - last > TICK_SECONDS:
            has_changed, entries, last = now != entries, now, end
            yield has_changed
        await asyncio.sleep(max(pause, POLL_SHARE * (end - start)) if end - start > BUSY_SECONDS else pause)


_events = _queued if sys.platform == "linux" else _asked


def _identity(folder: Path) -> Identity:
    try:
        facts = folder.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def _entries(watched: Callable[[], Watched]) -> set[Entry] | None:
    """Return the facts of all that stands in some folders; None when the first is gone."""
    found: set[Entry] = set()
    for at, folder in enumerate(watched()):
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    with suppress(OSError):
                        facts = entry.stat()
                        found.add((entry.path, facts.st_ino, facts.st_size, facts.st_mtime_ns))
        except OSError:
            if at == 0 and not folder.is_dir():
                return None
    return found
