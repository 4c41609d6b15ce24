"""The console under measurement: what its screen shows where, and when a key has taken effect."""

from __future__ import annotations

import json
import os
import re
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from benchmarks.bench import MAILBOX, Bench
from benchmarks.processes import settle
from tests.terminal import SIGNALBOX, Terminal, environment

PATIENCE = 600.0
BACKGROUND = 30
"""A column of the list of threads, in which the row under the cursor has another background."""

SUBJECT = slice(28, 58)
LIST = 3
"""Which part of a line between borders belongs to the list: the sidebar has a border of its own, and its width."""
CONVERSATION = slice(66, 119)
TAIL = 1 << 16


def newest_subject(data: Path) -> str:
    """Return the part of the newest message's subject that every row shows."""
    with (data / MAILBOX).open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL))
        return str(json.loads(file.read().splitlines()[-1])["subject"])[:20]


def open_console(data: Path, home: Path, size: tuple[int, int] = (120, 40)) -> Terminal:
    """Start the console on a mailbox, with its settings, state and cache in `home`."""
    return Terminal((*SIGNALBOX, "open", f"haak:{data}"), env=environment(home), size=size)


def open_resting(bench: Bench, stack: ExitStack) -> dict[int, Terminal]:
    """Open a console for each size, by size; all have read everything and are idle."""
    consoles = {}
    for size in bench.sizes:
        terminal = stack.enter_context(open_console(bench.mailbox(size), stack.enter_context(bench.home())))
        wait_read(terminal, size)
        settle(terminal.pid)
        consoles[size] = terminal
    return consoles


def wait_read(terminal: Terminal, messages: int, timeout: float = PATIENCE) -> int:
    """Wait until the header shows this many messages and nothing is loading; return when."""
    told = re.compile(rf"● live +{messages:,} message")
    return terminal.wait_for(lambda terminal: told.search(terminal.line(0)) is not None, timeout)


def quit_console(terminal: Terminal) -> None:
    """Quit."""
    terminal.press("q")
    terminal.wait_exit(60)


def first_row(terminal: Terminal) -> str:
    """Return the subject in the first visible row of the list of threads."""
    return terminal.line(2).split("│")[LIST].lstrip("▌ ")[:30]


def under_cursor(terminal: Terminal) -> str:
    """Return the subject of the thread under the cursor; empty if no visible row has it."""
    rows = range(2, terminal.size[1] - 2)
    backgrounds = [terminal.cell(BACKGROUND, y).bg for y in rows]
    usual = Counter(backgrounds).most_common(1)[0][0]
    y = next((y for y, background in zip(rows, backgrounds, strict=True) if background != usual), None)
    return "" if y is None else terminal.line(y)[SUBJECT]


def conversation(terminal: Terminal) -> list[str]:
    """Return what the conversation shows, its title too."""
    return [line[CONVERSATION] for line in terminal.lines[1:-1]]


def press(
    terminal: Terminal, key: str, look: Callable[[Terminal], object] = under_cursor, timeout: float = 30.0
) -> int:
    """Press a key; return the nanoseconds until the observed value changes."""
    before = look(terminal)
    sighting = terminal.watch(lambda terminal: look(terminal) != before)
    now = time.monotonic_ns()
    terminal.press(key)
    return sighting.wait(timeout) - now
