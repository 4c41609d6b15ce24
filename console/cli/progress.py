"""Progress of a long command, on standard error if it is a terminal."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from threading import RLock


def is_terminal(stream: object) -> bool:
    """Return whether a stream is a terminal."""
    return stream is not None and getattr(stream, "isatty", lambda: False)()


def _in_one_row(line: str) -> str:
    """Cut a line that the terminal would wrap, and that could then not be overwritten."""
    try:
        width = os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):
        return line
    if 0 < width <= len(line):
        from console.render.short_text import shorten_middle

        return shorten_middle(line, width - 1)
    return line


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
            print(f"\r\x1b[K{_in_one_row(line)}", end=end, file=sys.stderr, flush=True)


class StatusLine:
    """The state of a command that runs on, in the last line of a terminal; silent anywhere else. Thread-safe."""

    def __init__(self, *, is_shown: bool = True) -> None:
        self._is_shown = is_shown and is_terminal(sys.stderr)
        self._has_line = False
        self._lock = RLock()

    def show(self, words: str) -> None:
        """Show the state as of now, overwriting the line."""
        if self._is_shown:
            from console.render.safe import visible_line

            line = f"{time.strftime('%H:%M:%S')}  {visible_line(words)}"
            with self._lock:
                self._has_line = True
                self._put(f"\r\x1b[K{_in_one_row(line)}")

    def above(self, tell: Callable[[str], None]) -> Callable[[str], None]:
        """Return a function that tells something in a line of its own."""

        def told(words: str) -> None:
            with self._lock:
                self.clear()
                tell(words)

        return told

    def clear(self) -> None:
        """Remove the line."""
        with self._lock:
            if self._has_line:
                self._has_line = False
                self._put("\r\x1b[K")

    def _put(self, words: str) -> None:
        with suppress(OSError):
            print(words, end="", file=sys.stderr, flush=True)
