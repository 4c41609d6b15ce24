"""Measure everything and write benchmarks/RESULTS.md: python -m benchmarks.run [--quick]."""

from __future__ import annotations

import argparse
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from benchmarks import crowd, hook, latency, scan, startup

RESULTS = Path(__file__).parent / "RESULTS.md"
LIBRARIES = ("textual", "rich", "msgspec", "watchfiles", "pyte")

PAGE = """# What it measures

Taken by `make bench` on {date}: {facts}. Figures from another machine differ; the ratios hold better.

## Start

From the start of the process to the newest message's subject in a cell of the screen, 120×40, read by a terminal
emulator; home folder fresh, byte code compiled, files in the page cache. Programs take turns, round by round.

{startup}
Goal: {start_goal}.

## Latency

A console on {latency_messages:,} messages. *Append*: from just before another process writes a line to the moment its
subject stands in a cell. *Key*: from the write of `j` or `k` to the moment another row is highlighted.

{latency}
Goals: {latency_goals}.

## A hook

`signalbox check` as a whole process on 1,000 messages, beside an empty Python; the one agent has 88 to read.
{other_hook}

{hook}
Goal: at most 3 × an empty Python ({hook_goal}).

## A crowd

Thirty processes that send 100 messages each, as fast as it goes, while ten read everything again and again and one
archives whatever may leave. A send takes the lock, and waits for whoever has it.

{crowd}
## Reading it all

The whole mailbox through the store into the fold, with its reads, against `wc -l` on the same files; the median of
{scan_rounds} processes.

{scan}"""


def facts() -> str:
    """Return what of the machine matters, and nothing that would name it."""
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    system = f"{platform.system()} {platform.machine()}"
    return f"{os.cpu_count()} cores, {system}, Python {platform.python_version()}, {libraries}"


def goal(what: str, taken: float, limit: float) -> str:
    """Say whether a goal was met; both in milliseconds."""
    return f"{what}, at most {limit:g} ms ({'met' if taken <= limit else 'missed'}: {taken:.0f} ms)"


def main() -> None:
    """Measure, write the page, print it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run")
    parser.add_argument("--quick", action="store_true", help="small mailboxes and few rounds; writes no page")
    parser.add_argument("--agentazall", metavar="PROGRAM", help="agentazall's command, to measure it beside the hook")
    args = parser.parse_args()
    sizes, rounds, keys, scans = ([10_000, 100_000], 12, 200, [1_000, 10_000, 100_000])
    if args.quick:
        sizes, rounds, keys, scans = ([1_000], 2, 10, [1_000])
    starts, latencies = startup.measure(sizes, rounds), latency.measure(sizes[0], keys)
    hooks = hook.measure(1000, keys // 5, args.agentazall)
    worst = max(each.median for name, each in hooks.items() if name.startswith("check")) / hooks[hook.EMPTY].median
    crowds = crowd.measure(*((4, 5, 1) if args.quick else (30, 100, 10)))
    first = list(starts.values())[1]
    append, key = (each.percentile(95) for each in latencies.values())
    page = PAGE.format(
        date=datetime.now(UTC).date(),
        facts=facts(),
        startup=startup.report(starts),
        start_goal=goal(f"{sizes[0]:,} messages, median", first.median, 500),
        latency_messages=sizes[0],
        latency=latency.report(latencies),
        latency_goals=f"{goal('append, p95', append, 100)}; {goal('key, p95', key, 30)}",
        crowd=crowd.report(*crowds),
        hook=hook.report(hooks),
        hook_goal=f"{'met' if worst <= 3 else 'missed'}: {worst:.2f} ×",
        other_hook="agentazall lists as many messages of its own kind." if args.agentazall else "",
        scan_rounds=3,
        scan=scan.report([scan.measure(messages, 3) for messages in scans]),
    )
    if not args.quick:
        RESULTS.write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
