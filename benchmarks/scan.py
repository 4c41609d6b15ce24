"""How fast a whole mailbox is read and folded, beside counting its lines; and how much memory it takes.

python -m benchmarks.scan [--messages N] [--rounds N]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.generate import generate
from benchmarks.measure import table
from mailstore import Mailbox, open_store

__all__ = ["Scan", "measure", "report"]

TELLING = 10_000
"""Fewer messages say nothing about the memory that each takes."""

STATM = Path("/proc/self/statm")


@dataclass(frozen=True, slots=True)
class Scan:
    """What reading one mailbox took: seconds (medians), and bytes."""

    messages: int
    records: int
    size: int
    count_lines: float
    scan: float
    fold: float
    memory: int
    """Resident bytes at the end, less those before the mailbox was opened; 0 where the system doesn't tell."""


def resident() -> int:
    """Return how many bytes of this process are in memory now."""
    return int(STATM.read_text().split()[1]) * resource.getpagesize() if STATM.exists() else 0


def once(data: Path) -> dict[str, float]:
    """Read and fold a mailbox in this process."""
    before = resident()
    mailbox = Mailbox()
    events = folded = 0.0
    with open_store(f"haak:{data}") as store:
        batches = store.scan()
        while True:
            start = time.perf_counter()
            batch = next(batches, None)
            read = time.perf_counter()
            events += read - start
            if batch is None:
                break
            mailbox.fold(batch, time.time())
            folded += time.perf_counter() - read
    return {"scan": events, "fold": folded, "messages": len(mailbox), "memory": resident() - before}


def lines(files: list[Path]) -> tuple[float, int]:
    """Let `wc -l` count: return its seconds and its count."""
    start = time.perf_counter()
    done = subprocess.run(["wc", "-l", *files], capture_output=True, text=True, check=True)
    return time.perf_counter() - start, int(done.stdout.split()[-2])


def measure(messages: int, rounds: int) -> Scan:
    """Read one mailbox a number of times, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        generate(data, messages)
        files = sorted(data.glob("*.jsonl"))
        counted = [lines(files) for _ in range(rounds + 1)][1:]
        argv = [sys.executable, "-m", "benchmarks.scan", "--once", str(data)]
        runs = [
            json.loads(subprocess.run(argv, capture_output=True, text=True, check=True).stdout) for _ in range(rounds)
        ]
        size = sum(file.stat().st_size for file in files)
    if {run["messages"] for run in runs} != {messages}:
        raise SystemExit("not all messages were read: the figures mean nothing")
    return Scan(
        messages,
        counted[0][1],
        size,
        median(seconds for seconds, _ in counted),
        median(run["scan"] for run in runs),
        median(run["fold"] for run in runs),
        int(median(run["memory"] for run in runs)),
    )


def report(scans: list[Scan]) -> str:
    """Return the results as a table."""
    rows = [
        (
            f"{scan.messages:,}",
            f"{scan.records:,}",
            f"{scan.size / 1e6:,.0f}",
            f"{scan.count_lines:.3f}",
            f"{scan.scan:.2f}",
            f"{scan.fold:.2f}",
            f"{(scan.scan + scan.fold) / scan.count_lines:.0f}",
            f"{scan.messages / (scan.scan + scan.fold):,.0f}",
            f"{scan.memory / scan.messages:,.0f}" if scan.memory and scan.messages >= TELLING else "",
        )
        for scan in scans
    ]
    heads = ("messages", "lines", "MB", "`wc -l` s", "read s", "fold s", "× `wc -l`", "messages/s", "bytes/message")
    return table(heads, rows)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scan")
    parser.add_argument("--messages", type=int, nargs="+", default=[100_000], metavar="N")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--once", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.once:
        print(json.dumps(once(args.once)))
    else:
        print(report([measure(messages, args.rounds) for messages in args.messages]))


if __name__ == "__main__":
    main()
