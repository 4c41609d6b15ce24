"""What processes take, as the system counts it: processor time and memory, children included; Linux only."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")
QUIET = 0.08
"""The share of a core below which a process rests: a clock that ticks takes less."""

LOOK_SECONDS, LOOKS = 0.1, 4


def family(pid: int) -> Iterator[int]:
    """Yield a process and all that came from it and live."""
    yield pid
    for task in (PROC / str(pid) / "task").glob("*/children"):
        for child in task.read_text().split():
            yield from family(int(child))


def resident(pid: int) -> int:
    """Return how many bytes of a process and its children are in memory."""
    pages = sum(int((PROC / str(one) / "statm").read_text().split()[1]) for one in family(pid))
    return pages * resource.getpagesize()


def cpu(pid: int) -> int:
    """Return the nanoseconds that a process's and its children's living threads have run."""
    threads = (file for one in family(pid) for file in (PROC / str(one) / "task").glob("*/schedstat"))
    return sum(int(file.read_text().split()[0]) for file in threads)


def settle(pid: int, timeout: float = 60.0) -> None:
    """Wait until a process has nothing more to do, or a minute has passed."""
    end, quiet, before = time.monotonic() + timeout, 0, cpu(pid)
    while quiet < LOOKS and time.monotonic() < end:
        time.sleep(LOOK_SECONDS)
        now = cpu(pid)
        quiet = quiet + 1 if 0 <= now - before < QUIET * LOOK_SECONDS * 1e9 else 0
        before = now
