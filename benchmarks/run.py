"""Measure everything and write benchmarks/RESULTS.md: python -m benchmarks.run [--quick] [--only NAME] [--data DIR].

With --compare COMMIT nothing is written: both trees are measured in turn, and a table is printed.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from textwrap import fill

from benchmarks import (
    compare,
    crowd,
    folding,
    goals,
    growth,
    hook,
    hook_events,
    idle,
    in_turn,
    latency,
    lists,
    one_more,
    opening,
    overview,
    reading,
    searching,
    startup,
    storm,
)
from benchmarks.bench import SIZES, Bench
from benchmarks.measure import Results

HERE = Path(__file__).parent
PAGE, PLOT = HERE / "RESULTS.md", HERE / "growth.svg"
KEPT = "results.json"
LIBRARIES = ("textual", "rich", "msgspec", "watchfiles", "pyte")
SUBJECTS: dict[str, Callable[[Bench], None]] = {
    "startup": startup.measure,
    "folding": folding.measure,
    "one-more": one_more.measure,
    "latency": latency.measure,
    "storm": storm.measure,
    "lists": lists.measure,
    "searching": searching.measure,
    "opening": opening.measure,
    "overview": overview.measure,
    "idle": idle.measure,
    "reading": reading.measure,
    "hook": hook.measure,
    "hook-events": hook_events.measure,
    "crowd": crowd.measure,
    "compare": compare.measure,
}

TEXT = """# Benchmark results

{facts}

Absolute figures depend on the machine; ratios are more comparable. A figure and its baseline are measured in the same
run, alternating round by round; each is the median of *n* measurements unless its name says otherwise. Mailboxes are
generated: 40 agents, roles, tags and threads, three reads a message, bodies of 120 words; files are in the page cache
and byte code is compiled.

Screens are read from a pseudo-terminal of 120 × 40 by an emulator; a time ends when the last byte of the update has
arrived. The emulator runs in the measuring process and doesn't see the next update before it has finished the last one:
under a burst of messages, times are longer by up to its work on one screen.

## Goals

{goals}
{notes}
## Growth

The same figures at each number of messages; growth of at most a quarter counts as flat.

{growth}
![growth](growth.svg)

## Compared with alternatives

The same messages, in the same run, in a terminal of the same size: as JSON lines for lnav and toolong, as a maildir
for notmuch and neomutt (`benchmarks/compare_setup.sh` installs them). Medians in milliseconds; a cell is empty if a
program has no such function, and says so if it was given up. neomutt opens its folder first without a header cache,
then with it; notmuch builds its index, then updates it. A search is timed from typing a word until the first hits are
visible: the first threads here, the first lines in lnav, the next line in toolong, all messages in neomutt (`~b`); for
notmuch it is the command that lists 50 threads.

{compared}
## Concurrent processes

Thirty processes send 100 messages each, as fast as possible, while ten read everything repeatedly and one archives
whatever it can. A send takes the lock, and waits for its holder.

{crowd}"""


def facts(results: Results) -> str:
    """Return when and for how long it ran, and the relevant facts of the machine; nothing that identifies it."""
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    system = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    minutes = f"in {sum(results.seconds.values()) / 60:.0f} minutes"
    return fill(f"Taken by `make bench` on {datetime.now(UTC).date()} {minutes}: {system}, {libraries}.", 118)


def measure(bench: Bench, names: list[str]) -> bool:
    """Run some benchmarks, reporting how long each takes; a failing one is noted, and the others go on."""
    is_whole = True
    for name in names:
        start = time.monotonic()
        try:
            SUBJECTS[name](bench)
        except Exception as error:
            is_whole = False
            traceback.print_exc()
            bench.results.notes.append(f"{name} failed: {str(error).splitlines()[0] if str(error) else repr(error)}")
        seconds = bench.results.seconds[name] = time.monotonic() - start
        print(f"{name}: {seconds:.0f} s", file=sys.stderr, flush=True)
    return is_whole


def page(bench: Bench) -> str:
    """Return the page."""
    results = bench.results
    return TEXT.format(
        facts=facts(results),
        goals=goals.report(results),
        notes="".join(f"- {note}\n" for note in results.notes),
        growth=growth.report(results),
        compared=compare.report(results),
        crowd=crowd.report(results),
    )


def main() -> int:
    """Measure, write the page and its chart, print the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run")
    parser.add_argument("--quick", action="store_true", help="1,000 messages and few rounds; writes no page")
    parser.add_argument("--only", choices=SUBJECTS, action="append", help="run only this benchmark")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="N", help="numbers of messages")
    parser.add_argument("--data", type=Path, metavar="DIR", help="keep the generated mailboxes here for the next time")
    parser.add_argument("--add", action="store_true", help="add to the results of an earlier run with the same --data")
    parser.add_argument("--rounds", type=int, metavar="N", help="at most this many rounds")
    parser.add_argument("--compare", metavar="COMMIT", help="measure this commit and the tree as it is in turn")
    args = parser.parse_args()
    if args.compare:
        return compared(args)
    with ExitStack() as stack:
        data = args.data or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        data.mkdir(parents=True, exist_ok=True)
        sizes = (1_000,) if args.quick else tuple(sorted(args.sizes))
        bench = Bench(data.resolve(), sizes, is_quick=args.quick, most=args.rounds)
        if args.add:
            bench.results.load(data / KEPT)
        is_whole = measure(bench, args.only or list(SUBJECTS))
        bench.results.save(data / KEPT)
    text = page(bench)
    if not args.quick and (args.add or not args.only):
        PAGE.write_text(text, encoding="utf-8")
        PLOT.write_text(growth.chart(bench.results), encoding="utf-8")
    print(text)
    return 0 if is_whole else 1


def compared(args: argparse.Namespace) -> int:
    """Measure another commit and this tree in turn, and print a table of both."""
    sizes = (in_turn.SIZE,) if args.quick or args.sizes is SIZES else args.sizes
    rounds = args.rounds or (in_turn.QUICK_ROUNDS if args.quick else in_turn.ROUNDS)
    words = ("--sizes", *map(str, sizes), "--rounds", str(rounds))
    subjects = args.only or (in_turn.QUICK if args.quick else in_turn.SUBJECTS)
    with ExitStack() as stack:
        data = args.data or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        data.mkdir(parents=True, exist_ok=True)
        print(in_turn.compare(args.compare, data.resolve(), subjects, words))
    return 0


if __name__ == "__main__":
    sys.exit(main())
