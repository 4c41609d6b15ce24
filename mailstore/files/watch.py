"""Wakes whoever follows a folder when something in it may have changed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from pathlib import Path

from watchfiles import awatch

__all__ = ["wakeups"]

STEP_MS = 5
TICK_SECONDS = 1.0
POLL_SECONDS = 0.02
RETURN_SECONDS = 0.2


async def wakeups(folder: Path, *, poll: bool = False) -> AsyncGenerator[None, None]:
    """Yield whenever something below a folder may have changed, and about once a second regardless.

    File system events where there are any, else (`poll`, as for NFS) a look every 20 ms. A folder that is
    gone is waited for. The consumer finds out itself what changed: events merge and can be missed.
    """
    while True:
        if poll:
            yield None
            await asyncio.sleep(POLL_SECONDS)
        elif folder.is_dir():
            async for _ in _events(folder):
                yield None
        else:
            yield None
            await asyncio.sleep(RETURN_SECONDS)


async def _events(folder: Path) -> AsyncGenerator[None, None]:
    """Yield for each batch of events, until the folder is no longer the one that is watched."""
    watched = _identity(folder)
    stopped = asyncio.Event()
    changes = awatch(
        folder,
        watch_filter=None,
        debounce=STEP_MS,
        step=STEP_MS,
        stop_event=stopped,
        rust_timeout=int(TICK_SECONDS * 1000),
        yield_on_timeout=True,
        recursive=True,
    )
    try:
        # a file that changed before the watch stood is found by this first look
        yield None
        async for _ in changes:
            yield None
            if _identity(folder) != watched:
                return
    except FileNotFoundError:
        return
    finally:
        stopped.set()
        with contextlib.suppress(RuntimeError):
            await changes.aclose()


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        facts = folder.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino
