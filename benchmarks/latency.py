"""How soon the screen shows an appended message and the effect of a key, under light load."""

from __future__ import annotations

import time

from benchmarks.appender import Appender
from benchmarks.bench import MAILBOX, Bench
from benchmarks.console import conversation, first_row, open_console, press, wait_read
from tests.terminal import Terminal

ARRIVAL = "one message appended, file to screen"
KEY = "key to frame"
TYPED = "a character typed into a message, key to frame"


def appended(terminal: Terminal, appender: Appender, subject: str, timeout: float = 20.0) -> int:
    """Have another program append a message; return the nanoseconds until its subject is visible."""
    sighting = terminal.watch(subject)
    return -appender.append(subject) + sighting.wait(timeout)


def measure(bench: Bench) -> None:
    """Measure one console per size: first appended messages, then keys in the list, then those of a message."""
    for size in bench.sizes:
        rounds = bench.rounds(400 if size == bench.largest else 100)
        with (
            bench.lent(size) as data,
            bench.home() as home,
            Appender(data / MAILBOX) as appender,
            open_console(data, home) as terminal,
        ):
            wait_read(terminal, size)
            appended(terminal, appender, "Arrival first")
            arrivals, keys, typed = [], [], []
            for at in range(rounds):
                terminal.press("g")
                terminal.wait_for(lambda terminal: first_row(terminal).startswith("Arrival"))
                time.sleep(bench.pause())
                arrivals.append(appended(terminal, appender, f"Arrival {at:04d}"))
            terminal.press("g")
            time.sleep(0.5)
            for at in range(rounds):
                keys.append(press(terminal, "j" if at % 20 < 10 else "k"))
                time.sleep(bench.pause())
            terminal.press("r")
            terminal.wait_for("ctrl+s: send")
            for at in range(rounds):
                typed.append(press(terminal, "etaoinshrd"[at % 10], conversation))
                time.sleep(bench.pause())
        for name, times in ((ARRIVAL, arrivals), (KEY, keys), (TYPED, typed)):
            for percent in (50, 99):
                bench.results.times(f"{name}, p{percent}", size, times, percent)
