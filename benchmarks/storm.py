"""A storm: thousands of messages a second from another program, and a person who goes on pressing keys.

python -m benchmarks.storm FILE RATE SECONDS appends to a mailbox's file
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

from benchmarks.bench import MAILBOX, Bench
from benchmarks.console import open_console, press, wait_read
from benchmarks.generate import arrivals
from benchmarks.library import asked
from tests.terminal import Terminal

RATE = 5_000
BATCH_SECONDS = 0.01
WIDE = (200, 40)
"""Wide enough for a header with the number of messages, which a narrow one leaves out when all numbers are large."""
CATCH_UP = 120.0
"""Seconds after which a console that doesn't show what it should has lost the race."""


def write(file: Path, rate: int, seconds: float) -> float:
    """Append so many messages a second, some every few milliseconds; return how long all took."""
    number = round(rate * seconds)
    begin = time.time()
    lines = arrivals(number, seed=os.getpid(), start=begin, seconds=seconds)
    handle = os.open(file, os.O_WRONLY | os.O_APPEND)
    start = time.monotonic()
    written = 0
    while written < number:
        due = min(number, round(rate * (time.monotonic() - start + BATCH_SECONDS)))
        os.write(handle, b"".join(islice(lines, due - written)))
        written = due
        time.sleep(max(0.0, start + written / rate - time.monotonic()))
    return time.monotonic() - start


def is_searching(terminal: Terminal) -> bool:
    """Say whether the line is there that a search is typed into: new mail leaves its place alone."""
    return "search: words" in terminal.line(1)


def measure(bench: Bench) -> None:
    """Let a storm come over each mailbox: for a minute over the largest, shorter over the others."""
    for size in bench.sizes:
        seconds = 1.0 if bench.is_quick else 60.0 if size == bench.largest and bench.most is None else 10.0
        with bench.lent(size) as data, bench.home() as home, open_console(data, home, WIDE) as terminal:
            wait_read(terminal, size)
            argv = [sys.executable, "-m", "benchmarks.storm", str(data / MAILBOX), str(RATE), str(seconds)]
            with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as writer:
                taken: list[int] = []
                while writer.poll() is None:
                    taken.append(press(terminal, "escape" if len(taken) % 2 else "/", is_searching, CATCH_UP))
                    time.sleep(bench.pause())
                over = time.monotonic_ns()
                needed = json.loads(writer.communicate()[0])
            bench.results.times("key to frame in a storm, worst", size, taken, 100)
            bench.results.times("key to frame in a storm, p50", size, taken, 50)
            bench.results.add("messages a second in the storm", size, RATE * seconds / needed, "")
            total = size + round(RATE * seconds)
            late = wait_read(terminal, total, CATCH_UP) - over
            there = asked("load", data, home)[0]["messages"]
            bench.results.add("missing at the end of the storm", size, total - there, "messages")
            bench.results.add("all there after the storm's end", size, max(0.0, late / 1e6), "ms")


if __name__ == "__main__":
    print(json.dumps(write(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))))
