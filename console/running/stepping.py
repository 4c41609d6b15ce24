"""Goes through steps on the event loop, which alone touches the mailbox; threads get values (docs/decisions/0037)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import closing, suppress
from time import perf_counter
from typing import Any, TypeVar

from mailstore.steps import BackgroundWork, Steps

SLICE_SECONDS = 0.003
MOST_REST_SECONDS = 15.0
"""How long what is shown may lag behind the mailbox …"""
LEAST_SHARE = 8
"""… unless finding out takes so long that it would leave the mail itself no time: it rests so many times as long."""
T = TypeVar("T")


def rest_after(cost: float, share: int) -> float:
    """Return how long a search of the whole mailbox rests that took so many seconds and should rest `share` times."""
    return min(share * cost, max(MOST_REST_SECONDS, LEAST_SHARE * cost))


async def stepped(steps: Steps[T], rest: Callable[[float], float]) -> AsyncGenerator[T]:
    """Yield what steps find, working a few milliseconds at a time; what is to be done aside is done by a thread.

    `rest` says how long to rest after working for so many seconds.
    """
    start = perf_counter()
    with closing(steps):
        for step in steps:
            if isinstance(step, BackgroundWork):
                await aside(step)
                start = perf_counter()
            elif step is not None:
                yield step
            if (took := perf_counter() - start) > SLICE_SECONDS:
                await asyncio.sleep(rest(took))
                start = perf_counter()


async def aside(work: BackgroundWork[Any]) -> None:
    """Have a thread do some work; whoever is cancelled meanwhile, however often, waits until it is done."""
    doing = asyncio.ensure_future(asyncio.to_thread(work.do))
    try:
        await asyncio.shield(doing)
    except asyncio.CancelledError:
        while not doing.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([doing])
        raise
