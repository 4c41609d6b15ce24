"""How a process runs the console: what is set before Textual is imported, and the end that a signal brings."""

from __future__ import annotations

import os
import signal
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

    from console.app import SignalboxApp

__all__ = ["SignalHandler", "prepare"]

SWITCH_SECONDS = 0.0005
"""How long the screen waits for a thread that reads mail meanwhile, each time that it does."""
ESCAPE_MILLISECONDS = "10"
"""How long what begins like Escape may take to become another key, as in tmux; the variable is that of ncurses."""
FRAMES = "200"
"""A second at most: Textual draws what changed with the next frame, and half of one is what a key waits for."""
HELD_FOR = 3.0
"""Seconds that the application has to end by itself; a closing terminal asks twice."""


def prepare() -> None:
    """Set how soon keys and frames come; what the person has set in the environment stays."""
    os.environ.setdefault("TEXTUAL_FPS", FRAMES)
    os.environ.setdefault("ESCDELAY", ESCAPE_MILLISECONDS)
    sys.setswitchinterval(SWITCH_SECONDS)


class SignalHandler:
    """Turns SIGTERM and SIGHUP into an orderly end: of the application if one runs, else of the process."""

    def __init__(self) -> None:
        self._app: SignalboxApp | None = None
        self._asked: float | None = None

    def __enter__(self) -> SignalHandler:
        self._before = {sign: signal.signal(sign, self._end) for sign in (signal.SIGTERM, signal.SIGHUP)}
        return self

    def __exit__(self, *exc: object) -> None:
        for sign, handler in self._before.items():
            signal.signal(sign, handler)

    def run(self, app: SignalboxApp) -> int:
        """Run the application; return its status, 128 and a signal's number where that has ended it."""
        self._app = app
        try:
            app.run()
        finally:
            self._app = None
        return app.return_code or 0

    def _end(self, number: int, _frame: FrameType | None) -> None:
        import asyncio

        status = 128 + number
        if self._asked is not None and time.monotonic() - self._asked < HELD_FOR:
            return
        if self._app is None or self._asked is not None:
            raise SystemExit(status)
        self._asked = time.monotonic()
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise SystemExit(status) from None
        loop.call_soon_threadsafe(partial(self._app.exit, return_code=status))
