"""Measure everything and write benchmarks/RESULTS.md: python -m benchmarks.run [--quick]."""

from __future__ import annotations

import argparse
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from benchmarks import latency, scan, startup

RESULTS = Path(__file__).parent / "RESULTS.md"
LIBRARIES = ("textual", "rich", "msgspec", "watchfiles", "pyte")

PAGE = """# What it measures

Taken by `make bench` on {date}: {facts}. Figures from another machine differ; the ratios hold better.

## Start

From the start of the process to the newest message's subject in a cell of the screen, 120×40, read by a terminal
emulator; home folder fresh, byte code compiled, files in the page cache. Programs take turns, round by round.

{startup}
## Latency

A console on {latency_messages:,} messages. *Append*: from just before another process writes a line to the moment its
subject stands in a cell. *Key*: from the write of `j` or `k` to the moment another row is highlighted.

{latency}
## Reading it all

The whole mailbox through the store into the fold, with its reads, against `wc -l` on the same files; the median of
{scan_rounds} processes.

{scan}"""


def facts() -> str:
    """Return what of the machine matters, and nothing that would name it."""
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    system = f"{platform.system()} {platform.machine()}"
    return f"{os.cpu_count()} cores, {system}, Python {platform.python_version()}, {libraries}"


def main() -> None:
    """Measure, write the page, print it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run")
    parser.add_argument("--quick", action="store_true", help="small mailboxes and few rounds; writes no page")
    args = parser.parse_args()
    sizes, rounds, keys, scans = ([10_000, 100_000], 12, 200, [10_000, 100_000])
    if args.quick:
        sizes, rounds, keys, scans = ([1_000], 2, 10, [1_000])
    page = PAGE.format(
        date=datetime.now(UTC).date(),
        facts=facts(),
        startup=startup.report(startup.measure(sizes, rounds)),
        latency_messages=sizes[0],
        latency=latency.report(latency.measure(sizes[0], keys)),
        scan_rounds=3,
        scan=scan.report([scan.measure(messages, 3) for messages in scans]),
    )
    if not args.quick:
        RESULTS.write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
