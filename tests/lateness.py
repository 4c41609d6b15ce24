"""Let threads answer late, as a busy machine or a slow disk does now and then, but in every run.

`SIGNALBOX_TESTS_LATE=60 make test`, or `python -m tests.repeats --late 60`: what a console gives to a thread begins and
ends up to so many milliseconds late. What doesn't wait for it is seen, which a load rarely brings about. A module by
itself, because consoles in a terminal ask for it as well as the tests do, before they import the program.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
LATE = "SIGNALBOX_TESTS_LATE"


def be_late() -> None:
    """Take effect in this process, if the variable asks for it."""
    most = float(os.environ.get(LATE) or 0) / 1000
    if not most:
        return
    chance = random.Random()  # its own: what tests draw stays what the seed of their run makes it
    to_thread = asyncio.to_thread

    async def to_late_thread(work: Callable[P, T], /, *args: P.args, **more: P.kwargs) -> T:
        begins, ends = chance.uniform(0, most), chance.uniform(0, most)

        def late() -> T:
            time.sleep(begins)
            try:
                return work(*args, **more)
            finally:
                time.sleep(ends)

        return await to_thread(late)

    asyncio.to_thread = to_late_thread
