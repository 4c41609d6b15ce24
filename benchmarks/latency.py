"""How soon the screen follows: another program's message, and a key.

python -m benchmarks.latency [--messages N] [--rounds N]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from benchmarks.appender import Appender
from benchmarks.generate import generate
from benchmarks.measure import Figures, table
from tests.terminal import SIGNALBOX, Terminal, environment

__all__ = ["measure", "report"]

LIST_COLUMN = 30
"""A column of the list of threads, in which the row under the cursor has another background."""

PAUSE_SECONDS = (0.05, 0.15)
"""Between two measurements: drawn at random, so that no rhythm of the program's is met always or never."""


def cursor(terminal: Terminal) -> list[str]:
    """Return the backgrounds down the list: they change when the cursor moves."""
    return [terminal.cell(LIST_COLUMN, y).bg for y in range(terminal.size[1])]


def appended(terminal: Terminal, appender: Appender, number: int) -> int:
    """Let another program append a message; return the nanoseconds until its subject is visible."""
    subject = f"Arrival {number:04d}"
    sighting = terminal.watch(subject)
    return -appender.append(subject) + sighting.wait()


def pressed(terminal: Terminal, key: str) -> int:
    """Press a key that moves the cursor; return the nanoseconds until it has moved on the screen."""
    before = cursor(terminal)
    sighting = terminal.watch(lambda terminal: cursor(terminal) != before)
    now = time.monotonic_ns()
    terminal.press(key)
    return sighting.wait() - now


def measure(messages: int, rounds: int) -> dict[str, Figures]:
    """Measure both on one console, one kind after the other."""
    rng = Random(1)

    def repeat(once: Callable[[int], int]) -> Figures:
        times = []
        for at in range(rounds):
            time.sleep(rng.uniform(*PAUSE_SECONDS))
            times.append(once(at))
        return Figures.of_nanoseconds(times)

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        data = home / "data"
        generate(data, messages)
        argv = (*SIGNALBOX, "open", f"haak:{data}")
        with (
            Appender(data / "agent-mailbox.jsonl") as appender,
            Terminal(argv, env=environment(home)) as terminal,
        ):
            terminal.wait_for(f"{messages:,} messages", 120)
            appended(terminal, appender, 9_999)

            def arrival(at: int) -> int:
                terminal.press("g")
                time.sleep(PAUSE_SECONDS[0])
                return appended(terminal, appender, at)

            arrivals = repeat(arrival)
            keys = repeat(lambda at: pressed(terminal, "j" if at % 20 < 10 else "k"))
    return {"another program's append → visible": arrivals, "key → the cursor has moved": keys}


def report(figures: dict[str, Figures]) -> str:
    """Return the results as a table."""
    rows = [
        (name, each.count, *(f"{each.percentile(percent):.1f}" for percent in (50, 95, 99)))
        for name, each in figures.items()
    ]
    return table(("from → to", "n", "p50 ms", "p95 ms", "p99 ms"), rows)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.latency")
    parser.add_argument("--messages", type=int, default=10_000, metavar="N")
    parser.add_argument("--rounds", type=int, default=200)
    args = parser.parse_args()
    print(report(measure(args.messages, args.rounds)))


if __name__ == "__main__":
    main()
