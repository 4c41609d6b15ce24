"""What an agent's program waits for: its unread mail as JSON, beside a program that decodes the file with `json`."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.bench import MAILBOX, Bench
from tests.terminal import SIGNALBOX, environment

COLD, AGAIN = "read --unread --json, cold", "read --unread --json, again"
DECODE = "import json, sys\nfor line in open(sys.argv[1], 'rb'): json.loads(line)"


def run(argv: Sequence[object], home: Path) -> int:
    """Run a program to its end; return the nanoseconds."""
    start = time.monotonic_ns()
    subprocess.run(list(map(str, argv)), env=environment(home), stdout=subprocess.DEVNULL, check=True)
    return time.monotonic_ns() - start


def reader(data: Path) -> str:
    """Return an agent that lives."""
    agents = map(json.loads, (data / "agent-roster.jsonl").read_bytes().splitlines())
    return next(str(agent["session_id"]) for agent in agents if agent["status"] == "living")


def measure(bench: Bench) -> None:
    """Run all in turn, each time without a cache, except for the second reading."""
    for size in bench.sizes:
        data = bench.mailbox(size)
        read = (*SIGNALBOX, "read", "--as", reader(data), "--unread", "--json", "--store", f"haak:{data}")
        decode = (sys.executable, "-c", DECODE, data / MAILBOX)
        taken: dict[str, list[int]] = {COLD: [], AGAIN: [], "decoding the file with json": []}
        for _ in range(bench.rounds(10, size)):
            with bench.home() as home:
                for times, argv in zip(taken.values(), (read, read, decode), strict=True):
                    times.append(run(argv, home))
        for name, times in taken.items():
            bench.results.times(name, size, times)
