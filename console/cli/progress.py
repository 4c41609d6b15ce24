"""How far a long command is, on a terminal's standard error."""

from __future__ import annotations

import sys

__all__ = ["Progress", "is_terminal"]


def is_terminal(stream: object) -> bool:
    """Say whether somebody sits at a stream."""
    return stream is not None and getattr(stream, "isatty", lambda: False)()


class Progress:
    """Tells what is done, and how much of it; says nothing where nobody would see it."""

    def __init__(self, *, is_shown: bool = True) -> None:
        self._is_shown = is_shown and is_terminal(sys.stderr)
        self._last = ""

    def __call__(self, words: str, done: int, total: int) -> None:
        """Tell that `done` of `total` is done; the line is written over until all is."""
        line = f"{words} {100 * done // max(total, 1):>3} %"
        if self._is_shown and line != self._last:
            self._last = line
            end = "\n" if done >= total else ""
            print(f"\r\x1b[K{line}", end=end, file=sys.stderr, flush=True)
