"""Processor time of a console while nothing happens."""

from __future__ import annotations

import time
from contextlib import ExitStack

from benchmarks.bench import Bench
from benchmarks.console import open_resting
from benchmarks.processes import cpu


def measure(bench: Bench) -> None:
    """Leave a console of each size idle for half a minute, all at the same time."""
    seconds = 0.5 if bench.is_quick else 30.0
    with ExitStack() as stack:
        pids = {size: terminal.pid for size, terminal in open_resting(bench, stack).items()}
        before = {size: cpu(pid) for size, pid in pids.items()}
        start = time.monotonic_ns()
        time.sleep(seconds)
        passed = time.monotonic_ns() - start
        for size, pid in pids.items():
            bench.results.add("idle console", size, 100 * (cpu(pid) - before[size]) / passed, "% of a core")
