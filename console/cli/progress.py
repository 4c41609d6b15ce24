"""Progress of a long command, on standard error if it is a terminal."""

from __future__ import annotations

import sys

__all__ = ["ProgressLine", "is_terminal"]


def is_terminal(stream: object) -> bool:
    """Return whether a stream is a terminal."""
    return stream is not None and getattr(stream, "isatty", lambda: False)()


class ProgressLine:
    """Show progress in one line; silent unless standard error is a terminal."""

    def __init__(self, *, is_shown: bool = True) -> None:
        self._is_shown = is_shown and is_terminal(sys.stderr)
        self._last = ""

    def __call__(self, words: str, done: int, total: int) -> None:
        """Show `done` of `total`, overwriting the line until all is done."""
        line = f"{words} {100 * done // max(total, 1):>3} %"
        if self._is_shown and line != self._last:
            self._last = line
            end = "\n" if done >= total else ""
            print(f"\r\x1b[K{line}", end=end, file=sys.stderr, flush=True)
