"""Wakes whoever follows a folder when something in it may have changed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from time import monotonic

from watchfiles import awatch

__all__ = ["wakeups"]

STEP_MS = 10
"""How often the watch looks whether events have come: docs/decisions/0011-watching-a-folder.md."""
TICK_SECONDS = 1.0
BUSY_SECONDS = 0.01
IDLE_SECONDS = 0.05
RETURN_SECONDS = 0.2

Entry = tuple[str, int, int, int]
Identity = tuple[int, int] | None


async def wakeups(folder: Path, below: Sequence[str] = (), *, poll: bool = False) -> AsyncGenerator[None, None]:
    """Yield when an entry of a folder may have changed, and about once a second regardless.

    `below` names folders in it whose entries count too, whether or not they are there yet. File system events
    where there are any; else (`poll`, as for NFS) a look every 10 ms, every 50 ms when nothing happens. A folder
    that is gone is waited for. The consumer finds out itself what has changed: events merge and can be missed.
    """
    folders = [folder, *(folder / name for name in below)]
    while True:
        there = await asyncio.to_thread(_identities, folders)
        if there[0] is None:
            yield None
            await asyncio.sleep(RETURN_SECONDS)
            continue
        waking = _polled(folders) if poll else _events(folders, there)
        async with aclosing(waking):
            try:
                async for _ in waking:
                    yield None
            except FileNotFoundError:
                continue
            except OSError:
                # no more watches are to be had: look instead
                poll = True


async def _events(folders: list[Path], there: list[Identity]) -> AsyncGenerator[None, None]:
    """Yield for each batch of events, until one of the folders is no longer the one that is watched."""
    stopped = asyncio.Event()
    changes = awatch(
        *(path for path, identity in zip(folders, there, strict=True) if identity),
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
        yield None
        await first
        yield None
        while await asyncio.to_thread(_identities, folders) == there:
            await anext(changes)
            yield None
    finally:
        stopped.set()
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await changes.aclose()


async def _polled(folders: list[Path]) -> AsyncGenerator[None, None]:
    """Yield when the entries of some folders are no longer the same, until the first folder is gone."""
    entries: set[Entry] | None = None
    pause = BUSY_SECONDS
    last = 0.0
    while (now := await asyncio.to_thread(_entries, folders)) is not None:
        pause = BUSY_SECONDS if now != entries else min(pause * 1.5, IDLE_SECONDS)
        if now != entries or monotonic() - last > TICK_SECONDS:
            entries, last = now, monotonic()
            yield None
        await asyncio.sleep(pause)


def _identities(folders: list[Path]) -> list[Identity]:
    return [_identity(folder) for folder in folders]


def _identity(folder: Path) -> Identity:
    try:
        facts = folder.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def _entries(folders: list[Path]) -> set[Entry] | None:
    """Return the facts of all that stands in some folders; None when the first is gone."""
    found: set[Entry] = set()
    for folder in folders:
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    with suppress(OSError):
                        facts = entry.stat()
                        found.add((entry.name, facts.st_ino, facts.st_size, facts.st_mtime_ns))
        except OSError:
            if folder is folders[0] and not folder.is_dir():
                return None
    return found
