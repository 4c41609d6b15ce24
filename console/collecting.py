"""Looks for garbage when nobody waits: left to itself, the collector does it in the middle of a frame."""

from __future__ import annotations

import gc

__all__ = ["Collecting"]

QUIET_TICKS = 5
"""After how many seconds without a key all that there is may be looked through, which takes longer than a frame."""
WHOLE_TICKS, MOST_TICKS = 60, 1800
"""How many seconds at least pass between two such looks, and after how many there is one whatever happens."""


class Collecting:
    """Collects for a program that turned the collector off when it began; for another one it does nothing."""

    def __init__(self) -> None:
        self._since_key = self._since_whole = 0

    def key(self) -> None:
        """Note that somebody types."""
        self._since_key = 0

    def tick(self) -> None:
        """Let a second pass."""
        if gc.isenabled():
            return
        self._since_key += 1
        self._since_whole += 1
        is_quiet = self._since_key > QUIET_TICKS and self._since_whole > WHOLE_TICKS
        if is_quiet or self._since_whole > MOST_TICKS:
            self._since_whole = 0
            gc.collect()
        else:
            gc.collect(0)

    def keep(self) -> None:
        """Never look at what there is by now: it lives as long as the program."""
        if not gc.isenabled():
            gc.freeze()
