"""Wake a consumer when something in a folder may have changed."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from time import monotonic

from mailstore.files.inotify import OF_FOLDERS, Inotify
from mailstore.files.mounts import silent_file_system

TICK_SECONDS = 1.0
REST_SECONDS = 0.003
"""The shortest time between two wakeups: changes within it are found together."""
CHECK_SECONDS = 5.0
"""How often the watched folders are checked to be the same, even without an event that says otherwise."""
STEP_MS = 10
"""How often `watchfiles` checks for events (not on Linux)."""
BUSY_SECONDS = 0.01
IDLE_SECONDS = 0.05
POLL_SHARE = 20
"""How many times longer the pause is than the listing before it: a full folder must not keep a core busy."""
RETURN_SECONDS = 0.2

Entry = tuple[str, int, int, int]
Identity = tuple[int, int] | None
Below = Sequence[str] | Callable[[], Sequence[str]]
Watched = dict[Path, Identity]


async def wakeups(folder: Path, below: Below = (), *, poll: bool = False) -> AsyncGenerator[bool, None]:
    """Yield True when an entry of a folder may have changed, and False about once a second regardless.

    `below` names folders inside it that are watched too, whether or not they exist, or returns their current names.
    Uses file system events if possible (docs/decisions/0029). Where there are none (`poll`, or a file system that is
    known for it, such as NFS or Windows' drives in WSL) it lists the folders every 10 ms, every 50 ms while nothing
    happens, and less often if listing takes long. Waits for a missing folder. The consumer must find out what changed:
    events merge and can be missed.
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
        is_silent = poll or bool(await asyncio.to_thread(silent_file_system, folder))
        waking = _polled(watched) if is_silent else _events(watched, there)
        async with aclosing(waking):
            try:
                async for has_changed in waking:
                    yield has_changed
            except FileNotFoundError:
                continue
            except (OSError, ImportError):
                # there are no more watches, or nothing that watches: poll instead
                poll = True


async def _queued(watched: Callable[[], Watched], there: Watched) -> AsyncGenerator[bool, None]:
    """Yield when the kernel reports events, until the folders are no longer the watched ones."""
    with Inotify() as queue:
        for path, identity in there.items():
            if identity:
                queue.watch(path)
        # the watch is set up: this wakeup finds earlier changes, events report later ones
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
    """Yield for each batch of events of `watchfiles`, until the folders are no longer the watched ones."""
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
        # the watch is set up: this wakeup finds earlier changes, events report later ones
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
    """Yield when the entries of some folders changed, until the first folder is gone."""
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
    """Return the entries of some folders with their stamps; None if the first folder is gone."""
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
