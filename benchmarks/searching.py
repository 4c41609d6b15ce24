"""How soon a search shows its first hits, beside ripgrep over the same file."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from pathlib import Path

from benchmarks.bench import MAILBOX, Bench
from benchmarks.console import PATIENCE, open_console, wait_read
from benchmarks.library import Library
from tests.terminal import Terminal

__all__ = ["measure"]

WORDS = {"a common word": "watermark", "an absent word": "zeppelin"}
"""The first stands in two of three messages, the second in none."""

FASTER = "ripgrep is not installed: searches have no baseline"


def ripgrep(word: str, data: Path) -> int:
    """Let ripgrep count the lines with a word; return the nanoseconds."""
    start = time.monotonic_ns()
    subprocess.run(["rg", "-c", f"(?-u){word}", data / MAILBOX], stdout=subprocess.DEVNULL, check=False)
    return time.monotonic_ns() - start


def typed(terminal: Terminal, word: str) -> int:
    """Search in the console; return the nanoseconds from the typing of a word until it says what it found."""
    terminal.press("/")
    terminal.wait_for("search: words")
    told = re.compile(rf"\d threads?( so far)? for {word}")
    sighting = terminal.watch(lambda terminal: told.search(terminal.line(-1)) is not None)
    now = time.monotonic_ns()
    terminal.send(word)
    taken = sighting.wait(PATIENCE) - now
    terminal.press("escape")
    terminal.wait_for("─ All mail ─", PATIENCE)
    return taken


def measure(bench: Bench) -> None:
    """Search each mailbox in another program and in the console, and let ripgrep look through its file."""
    has_ripgrep = shutil.which("rg") is not None
    if not has_ripgrep:
        bench.results.notes.append(FASTER)
    for size in bench.sizes:
        data = bench.mailbox(size)
        taken: dict[str, list[int]] = {}
        with bench.home() as home, Library(data, home) as library, open_console(data, home) as terminal:
            wait_read(terminal, size)
            for _ in range(bench.rounds(10, size)):
                for name, word in WORDS.items():
                    if has_ripgrep:
                        taken.setdefault(f"ripgrep, {name}", []).append(ripgrep(word, data))
                    time_taken, hits = library.search(word)
                    if (hits > 0) != (name == "a common word"):
                        raise AssertionError(f"{hits} hits for {word}")
                    taken.setdefault(f"first 50 hits, {name}", []).append(time_taken)
                    taken.setdefault(f"typed to hits on the screen, {name}", []).append(typed(terminal, word))
        for name, times in taken.items():
            bench.results.times(name, size, times)
