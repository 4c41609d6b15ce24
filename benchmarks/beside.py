"""Times of the programs we compare with: their names, their tasks, and the time limit."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

from benchmarks.bench import Bench
from benchmarks.measure import BESIDE
from benchmarks.searching import ABSENT, COMMON, WORDS

PROGRAMS = OURS, LNAV, TOOLONG, NOTMUCH, NEOMUTT = "Signalbox", "lnav", "toolong", "notmuch", "neomutt"
ROWS, ROWS_AGAIN = "newest rows on the screen", "newest rows, opened again"
READ, READ_AGAIN = "everything read or indexed", "everything, opened again"
APPEND, NEWEST = "append to screen", "the newest threads"
SEARCHES = {f"search, {name}": word for name, word in WORDS.items()}
SEARCH, SEARCH_ABSENT = f"search, {COMMON}", f"search, {ABSENT}"
WHATS = (ROWS, ROWS_AGAIN, READ, READ_AGAIN, APPEND, NEWEST, *SEARCHES)
LIMIT = 60.0
"""Seconds after which a program's task is given up and not repeated."""


class Beside:
    """Each program's times for each task on mailboxes of one size."""

    def __init__(self, bench: Bench, size: int) -> None:
        self.bench = bench
        self.size = size
        self._taken: dict[str, list[int]] = {}

    def take(self, program: str, what: str, measure: Callable[[], int], limit: float = LIMIT) -> bool:
        """Record a time in nanoseconds; return whether this one and all before were within the limit."""
        name, results = f"{BESIDE}{program}: {what}", self.bench.results
        if self.size in results.values.get(name, {}) and name not in self._taken:
            return False
        start = time.monotonic()
        try:
            self._taken.setdefault(name, []).append(measure())
        except (AssertionError, subprocess.TimeoutExpired):
            if time.monotonic() - start < limit:
                raise
            del self._taken[name]
            results.add(name, self.size, limit, "s", 0)
            return False
        results.times(name, self.size, self._taken[name])
        return True
