"""How soon a search shows its first hits, beside ripgrep over the same file; and with an index of words."""

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

COMMON, ABSENT = "a common word", "an absent word"
WORDS = {COMMON: "watermark", ABSENT: "zeppelin"}
"""The first stands in two of three messages, the second in none."""

FASTER = "ripgrep is not installed: searches have no baseline"


def ripgrep(word: str, data: Path) -> int:
    """Let ripgrep count the lines with a word; return the nanoseconds."""
    start = time.monotonic_ns()
    subprocess.run(["rg", "-c", f"(?-u){word}", data / MAILBOX], stdout=subprocess.DEVNULL, check=False)
    return time.monotonic_ns() - start


def typed(terminal: Terminal, word: str, timeout: float = PATIENCE) -> int:
    """Search in the console; return the nanoseconds from the typing of a word until it says what it found."""
    terminal.press("/")
    terminal.wait_for("search: words")
    told = re.compile(rf"\d threads?( so far)? for {word}")
    sighting = terminal.watch(lambda terminal: told.search(terminal.line(-1)) is not None)
    now = time.monotonic_ns()
    terminal.send(word)
    taken = sighting.wait(timeout) - now
    terminal.press("escape")
    terminal.wait_for("─ All mail ─", PATIENCE)
    return taken


def hits_taken(library: Library, name: str) -> int:
    """Let the library look for a word; return the nanoseconds. Raises AssertionError for other hits than there are."""
    taken, hits = library.search(WORDS[name])
    if (hits > 0) != (name == COMMON):
        raise AssertionError(f"{hits} hits for {name}")
    return taken


def measure(bench: Bench) -> None:
    """Search each mailbox in another program and in the console, and let ripgrep look through its file."""
    has_ripgrep = shutil.which("rg") is not None
    if not has_ripgrep:
        bench.results.notes.append(FASTER)
    for size in bench.sizes:
        data = bench.mailbox(size)
        taken: dict[str, list[int]] = {}
        with bench.home() as home, Library(data, home) as library:
            with open_console(data, home) as terminal:
                wait_read(terminal, size)
                for _ in range(bench.rounds(10)):
                    for name, word in WORDS.items():
                        if has_ripgrep:
                            taken.setdefault(f"ripgrep, {name}", []).append(ripgrep(word, data))
                        taken.setdefault(f"first 50 hits, {name}", []).append(hits_taken(library, name))
                        taken.setdefault(f"typed to hits on the screen, {name}", []).append(typed(terminal, word))
            indexed(bench, size, data, home, library, taken)
        for name, times in taken.items():
            bench.results.times(name, size, times)


def indexed(bench: Bench, size: int, data: Path, home: Path, library: Library, taken: dict[str, list[int]]) -> None:
    """Have the index made, and search the same for a word that is not there; nothing where a mailbox gets none."""
    made, length = library.keep_index()
    if not length:
        return
    bench.results.add("making an index of words", size, made / 1e9, "s")
    bench.results.add("size of the index of words", size, length, "bytes")
    settings = home / ".config" / "signalbox" / "config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text("[search]\nindex = true\n")
    with open_console(data, home) as terminal:
        wait_read(terminal, size)
        for _ in range(bench.rounds(10)):
            taken.setdefault(f"first 50 hits, {ABSENT}, with an index", []).append(hits_taken(library, ABSENT))
            on_screen = taken.setdefault(f"typed to hits on the screen, {ABSENT}, with an index", [])
            on_screen.append(typed(terminal, WORDS[ABSENT]))
