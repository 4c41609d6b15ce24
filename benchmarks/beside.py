"""What programs beside ours took for what: their names, what is asked of them, and how long one is waited for."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

from benchmarks.bench import Bench
from benchmarks.measure import BESIDE
from benchmarks.searching import ABSENT, COMMON, WORDS

__all__ = [
    "APPEND",
    "LIMIT",
    "LNAV",
    "NEOMUTT",
    "NEWEST",
    "NOTMUCH",
    "OURS",
    "PROGRAMS",
    "READ",
    "READ_AGAIN",
    "ROWS",
    "ROWS_AGAIN",
    "SEARCH",
    "SEARCHES",
    "SEARCH_ABSENT",
    "TOOLONG",
    "WHATS",
    "Beside",
]

PROGRAMS = OURS, LNAV, TOOLONG, NOTMUCH, NEOMUTT = "Signalbox", "lnav", "toolong", "notmuch", "neomutt"
ROWS, ROWS_AGAIN = "newest rows on the screen", "newest rows, opened again"
READ, READ_AGAIN = "everything read or indexed", "everything, opened again"
APPEND, NEWEST = "append to screen", "the newest threads"
SEARCHES = {f"search, {name}": word for name, word in WORDS.items()}
SEARCH, SEARCH_ABSENT = f"search, {COMMON}", f"search, {ABSENT}"
WHATS = (ROWS, ROWS_AGAIN, READ, READ_AGAIN, APPEND, NEWEST, *SEARCHES)
LIMIT = 60.0
"""Seconds after which a program is given up, and not asked the same again."""


class Beside:
    """What each program took for what on mailboxes of one size."""

    def __init__(self, bench: Bench, size: int) -> None:
        self.bench = bench
        self.size = size
        self._taken: dict[str, list[int]] = {}

    def take(self, program: str, what: str, measure: Callable[[], int], limit: float = LIMIT) -> bool:
        """Take a time, in nanoseconds; say whether it was done within the limit, this time and before."""
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
