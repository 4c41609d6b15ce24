"""Compares with alternatives on the same messages: lnav, toolong, notmuch and neomutt.

`benchmarks/compare_setup.sh` installs them; what is not there is left out.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from benchmarks import mailers
from benchmarks.appender import Appender
from benchmarks.bench import MAILBOX, Bench
from benchmarks.beside import (
    APPEND,
    LIMIT,
    LNAV,
    NEOMUTT,
    NOTMUCH,
    OURS,
    PROGRAMS,
    READ,
    READ_AGAIN,
    ROWS,
    ROWS_AGAIN,
    SEARCH,
    SEARCH_ABSENT,
    TOOLONG,
    WHATS,
    Beside,
)
from benchmarks.console import first_row, newest_subject, open_console, quit_console, wait_read
from benchmarks.latency import appended
from benchmarks.measure import BESIDE, Results, Value, short, table
from benchmarks.processes import settle
from benchmarks.searching import ABSENT, COMMON, WORDS, typed
from tests.terminal import SIGNALBOX, Terminal, environment

WIDE = (240, 40)
"""A JSON line shows its subject within this many columns."""

LNAV_FOUND = re.compile(r"^L +\d+: ", re.MULTILINE)
MAIL_AT_MOST = 100_000


def installed(bench: Bench) -> dict[str, str]:
    """Return the installed programs, and note the missing ones."""
    toolong = Path(sys.prefix) / "toolong" / "bin" / "tl"
    found = {name: shutil.which(name) for name in (LNAV, NOTMUCH, NEOMUTT)}
    found[TOOLONG] = str(toolong) if toolong.exists() else None
    for name in sorted(name for name, path in found.items() if not path):
        bench.results.notes.append(f"{name} is not installed, and left out of the comparison")
    return {name: path for name, path in found.items() if path}


def measure(bench: Bench) -> None:
    """Measure the installed programs; mail programs only up to the size for which a maildir can be written."""
    programs = installed(bench)
    for size in bench.sizes[-3:]:
        bench.tell(f"{size:,} messages")
        beside = Beside(bench, size)
        ours(beside)
        with bench.lent(size) as data:
            for _ in range(bench.rounds(3)):
                viewers(beside, data, programs)
        if size <= MAIL_AT_MOST:
            with bench.home() as home:
                mailers.measure(beside, home, programs)
        else:
            why = "to write and index so many files takes half an hour"
            bench.results.notes.append(f"notmuch and neomutt are not compared at {size:,} messages: {why}")


def ours(beside: Beside) -> None:
    """Measure the time until our console has read everything, cold and warm."""
    data = beside.bench.mailbox(beside.size)
    sign = newest_subject(data)
    with beside.bench.home() as home:
        with open_console(data, home) as terminal:
            beside.take(OURS, READ, lambda: wait_read(terminal, beside.size, LIMIT) - terminal.started_at)
            settle(terminal.pid)
            quit_console(terminal)
        with open_console(data, home) as again:
            beside.take(OURS, ROWS_AGAIN, lambda: again.wait_for(sign, LIMIT) - again.started_at)
            beside.take(OURS, READ_AGAIN, lambda: wait_read(again, beside.size, LIMIT) - again.started_at)


def viewers(beside: Beside, data: Path, programs: Mapping[str, str]) -> None:
    """Open each line viewer on the file in turn."""
    file, sign = data / MAILBOX, newest_subject(data)
    argvs: dict[str, tuple[str, ...]] = {OURS: (*SIGNALBOX, "open", f"haak:{data}")}
    argvs |= {name: (programs[name], str(file)) for name in (LNAV, TOOLONG) if name in programs}
    whole = file.stat().st_size
    for name, argv in argvs.items():
        with beside.bench.home() as home, Terminal(argv, env=environment(home), size=WIDE) as terminal:
            view(beside, name, terminal, file, sign)
        os.truncate(file, whole)


def view(beside: Beside, name: str, terminal: Terminal, file: Path, sign: str) -> None:
    """Wait for a viewer's rows, append while it is open, and search."""
    if not beside.take(name, ROWS, lambda: terminal.wait_for(sign, LIMIT) - terminal.started_at):
        return
    if name == OURS:
        wait_read(terminal, beside.size, LIMIT)
    time.sleep(1)
    with Appender(file) as appender:
        for at in range(1 + beside.bench.rounds(6)):
            if name == OURS:
                terminal.press("g")
                if at:
                    terminal.wait_for(lambda terminal: first_row(terminal).startswith("Arrival"))
            time.sleep(0.1 + beside.bench.pause())
            if not beside.take(name, APPEND, partial(appended, terminal, appender, f"Arrival {at:04d}", LIMIT)):
                return
    beside.take(name, SEARCH, lambda: found(name, terminal))
    if name == OURS:
        beside.take(name, SEARCH_ABSENT, lambda: typed(terminal, WORDS[ABSENT], LIMIT))


def found(name: str, terminal: Terminal) -> int:
    """Type a search word; return the nanoseconds until the first hit is visible."""
    word = WORDS[COMMON]
    if name == OURS:
        return typed(terminal, word, LIMIT)
    terminal.press("/" if name == LNAV else "ctrl+f")
    terminal.wait_for("Search for" if name == LNAV else "▊  Find")
    sighting = terminal.watch(
        "👉" if name == TOOLONG else lambda terminal: bool(LNAV_FOUND.search(terminal.screen_text()))
    )
    now = time.monotonic_ns()
    terminal.send(word)
    if name == TOOLONG:
        terminal.press("down")
    return sighting.wait(LIMIT) - now


def report(results: Results) -> str:
    """Return a table of each program's times at each size: milliseconds, or the limit it exceeded."""
    sizes = sorted(results.values.get(f"{BESIDE}{OURS}: {READ}", {}))
    rows = []
    for size in sizes:
        for what in WHATS:
            values = [results.values.get(f"{BESIDE}{name}: {what}", {}).get(size) for name in PROGRAMS]
            if any(values):
                rows.append((f"{what}, {size:,}", *(_cell(value) for value in values)))
    return table(("what, at how many messages", *PROGRAMS), rows)


def _cell(value: Value | None) -> str:
    if value is None:
        return ""
    return short(value.value) if value.count else f"> {value}"
