"""How long a start takes, from the process to the newest mail on the screen, beside an empty Textual application."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from benchmarks.bench import Bench
from benchmarks.console import newest_subject
from tests.terminal import SIGNALBOX, Terminal, environment

EMPTY = "empty Textual application"
FIRST = "first screen"
COLD = 2


def start(bench: Bench, argv: Sequence[str], sign: str) -> int:
    """Start a program as a new user would, and return the nanoseconds until a text is visible."""
    with bench.home() as home, Terminal(argv, env=environment(home)) as terminal:
        return terminal.wait_for(sign, 120) - terminal.started_at


def measure(bench: Bench) -> None:
    """Start each program once a round, in turn, so that the machine's moods meet all of them."""
    programs: dict[int, tuple[Sequence[str], str]] = {0: ((sys.executable, "-m", "benchmarks.empty"), "ready")}
    for size in bench.sizes:
        data = bench.mailbox(size)
        programs[size] = ((*SIGNALBOX, "open", f"haak:{data}"), newest_subject(data))
    taken: dict[int, list[int]] = {size: [] for size in programs}
    cold = 0 if bench.is_quick else COLD
    for at in range(cold + bench.rounds(20)):
        for size, (argv, sign) in programs.items():
            time = start(bench, argv, sign)
            if at >= cold:
                taken[size].append(time)
    for size, times in taken.items():
        bench.results.times(FIRST if size else EMPTY, size, times)
