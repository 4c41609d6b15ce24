"""What a console takes of a processor while nothing happens."""

from __future__ import annotations

import time
from contextlib import ExitStack

from benchmarks.bench import Bench
from benchmarks.console import open_console, wait_read
from benchmarks.processes import cpu, settle

__all__ = ["measure"]


def measure(bench: Bench) -> None:
    """Let a console of each size stand idle for half a minute, all at the same time."""
    seconds = 0.5 if bench.is_quick else 30.0
    with ExitStack() as stack:
        consoles = {}
        for size in bench.sizes:
            terminal = stack.enter_context(open_console(bench.mailbox(size), stack.enter_context(bench.home())))
            wait_read(terminal, size)
            settle(terminal.pid)
            consoles[size] = terminal.pid
        before = {size: cpu(pid) for size, pid in consoles.items()}
        start = time.monotonic_ns()
        time.sleep(seconds)
        passed = time.monotonic_ns() - start
        for size, pid in consoles.items():
            bench.results.add("idle console", size, 100 * (cpu(pid) - before[size]) / passed, "% of a core")
