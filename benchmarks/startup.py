"""How long a start takes, from the process to what a person waits for on the screen.

python -m benchmarks.startup [--messages N ...] [--rounds N]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.appender import message
from benchmarks.generate import generate
from benchmarks.measure import Figures, table
from tests.terminal import SIGNALBOX, Terminal, environment

__all__ = ["measure", "report"]

EMPTY = (sys.executable, "-m", "benchmarks.empty")
NEWEST = "Newest of all"
COLD = 2


def start(argv: Sequence[str], sign: str, home: Path) -> int:
    """Start a program as a new user would, and return the nanoseconds until a text is visible."""
    with tempfile.TemporaryDirectory(dir=home) as fresh:
        env = environment(Path(fresh))
        with Terminal(argv, env=env) as terminal:
            return terminal.wait_for(sign, 120) - terminal.started_at


def measure(sizes: Sequence[int], rounds: int) -> dict[str, Figures]:
    """Start each program once a round, in turn, so that the machine's moods meet all of them."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        programs: dict[str, tuple[Sequence[str], str]] = {"empty Textual application": (EMPTY, "ready")}
        for size in sizes:
            data = home / str(size)
            generate(data, size)
            with (data / "agent-mailbox.jsonl").open("ab") as mailbox:
                mailbox.write(message(NEWEST))
            programs[f"console, {size:,} messages"] = ((*SIGNALBOX, "open", f"haak:{data}"), NEWEST)
        taken: dict[str, list[int]] = {name: [] for name in programs}
        for at in range(COLD + rounds):
            for name, (argv, sign) in programs.items():
                time = start(argv, sign, home)
                if at >= COLD:
                    taken[name].append(time)
    return {name: Figures.of_nanoseconds(times) for name, times in taken.items()}


def report(figures: dict[str, Figures]) -> str:
    """Return the results as a table."""
    base = next(iter(figures.values())).median
    rows = [
        (name, each.count, f"{each.median:.0f}", f"{each.percentile(95):.0f}", f"{each.median / base:.2f}")
        for name, each in figures.items()
    ]
    return table(("start", "n", "median ms", "p95 ms", "× empty"), rows)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.startup")
    parser.add_argument("--messages", type=int, nargs="+", default=[10_000], metavar="N")
    parser.add_argument("--rounds", type=int, default=10)
    args = parser.parse_args()
    print(report(measure(args.messages, args.rounds)))


if __name__ == "__main__":
    main()
