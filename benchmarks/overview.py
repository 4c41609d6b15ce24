"""How soon the overview shows its picture, and what computing it costs: at once, and for each of its steps."""

from __future__ import annotations

import time
from contextlib import ExitStack
from functools import partial

from benchmarks.bench import Bench
from benchmarks.console import open_resting, press
from mailstore.folding import fold_store
from mailstore.overview.bars import bars_of
from mailstore.overview.counting import traffic_steps
from mailstore.registry import open_store
from mailstore.state.mailbox import Mailbox
from mailstore.steps import BackgroundWork
from tests.terminal import Terminal

FRAME, PICTURE = "overview: key to frame", "overview: key to picture"
COMPUTED, STEP, ASIDE = "overview: computing {}", "overview: longest step on the loop", "overview: in a thread, all"
REST = 0.3


def opened(terminal: Terminal) -> tuple[int, int]:
    """Open the overview and close it; return the nanoseconds until it is seen, and until its numbers are."""
    seen = terminal.watch(lambda terminal: "Overview" in terminal.line(1))
    told = terminal.watch(lambda terminal: " sent · " in terminal.line(1))
    start = time.monotonic_ns()
    terminal.send("O")
    found = seen.wait(60) - start, told.wait(60) - start
    time.sleep(REST)
    press(terminal, "q", lambda terminal: "Overview" not in terminal.line(1))
    time.sleep(REST)
    return found


def computed(mailbox: Mailbox, span: str, now: float) -> tuple[int, int, int]:
    """Compute the picture; return the nanoseconds of processor time in all, of the longest step, and in a thread."""
    aside = longest = 0
    begun = start = time.thread_time_ns()
    for step in traffic_steps(mailbox, now, partial(bars_of, span, now)):
        longest = max(longest, time.thread_time_ns() - start)
        if isinstance(step, BackgroundWork):
            start = time.thread_time_ns()
            step.do()
            aside += time.thread_time_ns() - start
        start = time.thread_time_ns()
    return time.thread_time_ns() - begun, longest, aside


def measure(bench: Bench) -> None:
    """Open the overview in a console of each size, then compute it in a library."""
    taken: dict[tuple[str, int], list[int]] = {}
    with ExitStack() as stack:
        consoles = open_resting(bench, stack)
        for _ in range(bench.rounds(10)):
            for size, terminal in consoles.items():
                frame, picture = opened(terminal)
                taken.setdefault((FRAME, size), []).append(frame)
                taken.setdefault((PICTURE, size), []).append(picture)
    for size in bench.sizes:
        with open_store(f"haak:{bench.mailbox(size)}") as store:
            mailbox = fold_store(store, "user", time.time())
        now = mailbox.times()[-1]
        for _ in range(bench.rounds(5)):
            for span in ("1d", "all"):
                whole, longest, aside = computed(mailbox, span, now)
                taken.setdefault((COMPUTED.format(span), size), []).append(whole)
                taken.setdefault((STEP, size), []).append(longest)
            taken.setdefault((ASIDE, size), []).append(aside)
    for (name, size), times in taken.items():
        bench.results.times(name, size, times)
