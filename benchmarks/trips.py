"""Count the files and functions of ours that run when something happens: python -m benchmarks.trips [MESSAGES].

A profiler in all threads of a real console notes which functions are called from one signal to the next. What also runs
while nothing happens is left out, and so are the bodies of modules and classes. A table is printed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from benchmarks.appender import Appender
from benchmarks.bench import MAILBOX
from benchmarks.console import wait_read
from benchmarks.generate import generate
from benchmarks.processes import settle
from tests.terminal import Terminal, environment

ROOT = Path(__file__).parents[1]
OURS = tuple(f"{ROOT}/{package}/" for package in ("console", "mailstore"))
IDLE_SECONDS = 5.0
TRACED = "from benchmarks.trips import run_traced; run_traced()"

Functions = frozenset[tuple[str, str]]
"""File and name within it of each function that was called."""


def run_traced() -> None:
    """Run the console under the profiler; `argv` holds the file for the result and the console's arguments."""
    place, *words = sys.argv[1:]
    called: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            called.add(frame.f_code)

    def restart(*_: object) -> None:
        called.clear()

    def save(*_: object) -> None:
        ours = [code for code in tuple(called) if code.co_filename.startswith(OURS) and code.co_name[0] != "<"]
        unfinished = Path(f"{place}.unfinished")
        unfinished.write_text(json.dumps([[code.co_filename, code.co_qualname] for code in ours]))
        unfinished.rename(place)

    signal.signal(signal.SIGUSR1, restart)
    signal.signal(signal.SIGUSR2, save)
    threading.setprofile(note)
    sys.setprofile(note)
    from console.cli import command

    sys.argv = ["signalbox", *words]
    command()


class Traced:
    """A console that is traced, in a terminal."""

    def __init__(self, data: Path, home: Path) -> None:
        self._result = home / "called.json"
        argv = (sys.executable, "-c", TRACED, str(self._result), "open", f"haak:{data}")
        self.terminal = Terminal(argv, env=environment(home))

    def called(self, happen: Callable[[], object]) -> Functions:
        """Return what is called from the beginning of `happen` until the console is idle again."""
        settle(self.terminal.pid)
        os.kill(self.terminal.pid, signal.SIGUSR1)
        happen()
        settle(self.terminal.pid)
        os.kill(self.terminal.pid, signal.SIGUSR2)
        end = time.monotonic() + 10.0
        while not self._result.exists():
            if time.monotonic() > end:
                raise TimeoutError("the console did not write what was called")
            time.sleep(0.01)
        functions = json.loads(self._result.read_bytes())
        self._result.unlink()
        return frozenset((file, name) for file, name in functions)


def trips(data: Path, home: Path, messages: int) -> dict[str, Functions]:
    """Return what runs for an appended line, for keys on a thread and for a message that is sent."""
    console = Traced(data, home)
    terminal = console.terminal
    with terminal, Appender(data / MAILBOX) as appender:
        wait_read(terminal, messages)
        idle = console.called(lambda: time.sleep(IDLE_SECONDS))

        def append(subject: str) -> None:
            appender.append(subject)
            terminal.wait_for(subject)

        def send() -> None:
            terminal.press("ctrl+s")
            terminal.wait_gone("ctrl+s: send")
            terminal.wait_for("Written in a trip")

        append("Arrival before")  # what is imported or cached the first time doesn't count
        terminal.press("g", "enter")
        terminal.wait_for("reply")
        terminal.press("2")
        found = {"a line is appended by another program": console.called(lambda: append("Arrival traced"))}
        terminal.press("g")
        found["a key moves to the next thread, which is shown beside the list"] = console.called(
            lambda: terminal.press("j")
        )
        found["Enter on a thread"] = console.called(lambda: terminal.press("enter"))
        for key in ("escape", "g", "j", "j", "j"):  # to a thread of agents that the roster has: nothing is asked again
            terminal.press(key)
            settle(terminal.pid)
        terminal.press("r")
        terminal.wait_for("ctrl+s: send")
        terminal.send("Written in a trip")
        terminal.wait_for("Written in a trip")
        found["ctrl+s: a message on disk and back on the screen"] = console.called(send)
        terminal.press("ctrl+q")
    return {name: called - idle for name, called in found.items()}


def main() -> None:
    """Trace, and print a table."""
    messages = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    with tempfile.TemporaryDirectory() as folder:
        data, home = Path(folder) / "data", Path(folder) / "home"
        home.mkdir()
        generate(data, messages)
        print("| what happens | files | functions |\n|---|---:|---:|")
        for name, called in trips(data, home, messages).items():
            print(f"| {name} | {len({file for file, _ in called})} | {len(called):,} |")


if __name__ == "__main__":
    main()
