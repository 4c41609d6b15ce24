"""What moving in a list of all threads costs: opening it, jumping to its end, going to the next unread."""

from __future__ import annotations

import time
from contextlib import ExitStack

from benchmarks.bench import Bench
from benchmarks.console import conversation, first_row, open_resting, press
from tests.terminal import Terminal

MOUNT, END, NEXT = "list: mount", "list: jump to its end", "list: next unread"
EMPTY = "─ Archive ─"
"""The title of the view after all mail, which is empty."""

REST = 0.2
"""Seconds to wait for the effect of a key."""


def keys(terminal: Terminal, names: str) -> None:
    """Press keys one after the other, each after the one before has taken effect."""
    for key in names:
        terminal.press(key)
        time.sleep(REST)


def choose(terminal: Terminal, name: str) -> None:
    """Go to a view through the sidebar."""
    keys(terminal, "1g")
    keys(terminal, "j" * next(at for at, line in enumerate(terminal.lines[2:]) if line.startswith(f"│{name}")))


def mount(terminal: Terminal, top: str) -> int:
    """Go from an empty view to all mail; return the nanoseconds until its first row is visible."""
    keys(terminal, "1j")
    terminal.wait_for(lambda terminal: terminal.find(EMPTY) is not None and not first_row(terminal))
    return press(terminal, "k", lambda terminal: first_row(terminal) == top)


def measure(bench: Bench) -> None:
    """Measure in a console of each size, in turn."""
    taken: dict[tuple[str, int], list[int]] = {}
    with ExitStack() as stack:
        consoles = open_resting(bench, stack)
        for terminal in consoles.values():
            choose(terminal, "All mail")
        tops = {size: first_row(terminal) for size, terminal in consoles.items()}
        for _ in range(bench.rounds(15)):
            for size, terminal in consoles.items():
                taken.setdefault((MOUNT, size), []).append(mount(terminal, tops[size]))
                time.sleep(REST)
                keys(terminal, "2g")
                taken.setdefault((END, size), []).append(press(terminal, "G"))
                time.sleep(REST)
                taken.setdefault((NEXT, size), []).append(press(terminal, "n", conversation))
                time.sleep(REST)
    for (name, size), times in taken.items():
        bench.results.times(name, size, times)
