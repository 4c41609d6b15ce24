"""Process-wide settings of the console, its orderly end on a signal, and the signals that are another program's."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from types import FrameType

    Handler = Callable[[int, FrameType | None], object] | signal.Handlers

SWITCH_SECONDS = 0.0005
"""How long the event loop waits for a thread that holds the interpreter."""
ESCAPE_MILLISECONDS = "10"
"""How long an escape sequence may take to complete, as in tmux; ncurses reads the same variable."""
FRAMES = "200"
"""Frames per second at most: a key waits for half a frame on average until its effect is drawn."""
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
TYPED = (signal.SIGINT, signal.SIGQUIT)
"""What `ctrl+c` and `ctrl+\\` send to every program of a terminal, unless one has it to itself."""
GRACE_SECONDS = 3.0
"""Time for the application to end by itself; a closing terminal sends its signal twice."""


class RunningApp(Protocol):
    """What the signal handler needs of the application."""

    @property
    def return_code(self) -> int | None:
        """The exit status; None while the application runs."""

    def run(self) -> Any:
        """Run until the application ends."""

    def end(self, return_code: int) -> None:
        """Save what is open, and end the application with an exit status."""


def prepare() -> None:
    """Set the latency of keys, frames and threads; variables set in the environment are kept. Call before Textual."""
    os.environ.setdefault("TEXTUAL_FPS", FRAMES)
    os.environ.setdefault("ESCDELAY", ESCAPE_MILLISECONDS)
    sys.setswitchinterval(SWITCH_SECONDS)


@contextmanager
def _handling(handlers: Mapping[signal.Signals, Handler]) -> Iterator[None]:
    before = {sign: signal.signal(sign, handler) for sign, handler in handlers.items()}
    try:
        yield
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)


def typed_signals_ignored() -> AbstractContextManager[None]:
    """Ignore `TYPED` within a context, while another program has the terminal: that one still gets them."""
    return _handling(dict.fromkeys(TYPED, lambda *_: None))  # SIG_IGN would be inherited


def stop_until_continued() -> bool:
    """Stop what runs in the terminal's foreground, as `ctrl+z` does; return False where no shell could continue it."""
    is_continued = False

    def note(*_: object) -> None:
        nonlocal is_continued
        is_continued = True

    with _handling({signal.SIGCONT: note, signal.SIGTSTP: signal.SIG_DFL}):
        os.kill(0, signal.SIGTSTP)  # which the system ignores then
    return is_continued


class SignalHandler:
    """Turn `ENDING` into an orderly end of the running application, or else of the process."""

    def __init__(self) -> None:
        self._app: RunningApp | None = None
        self._asked: float | None = None

    def __enter__(self) -> SignalHandler:
        self._handling = _handling(dict.fromkeys(ENDING, self._end))
        self._handling.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._handling.__exit__(None, None, None)

    def run(self, app: RunningApp) -> int:
        """Run the application; return its exit status: 128 plus the signal's number if a signal ended it."""
        self._app = app
        try:
            app.run()
        finally:
            self._app = None
        return app.return_code or 0

    def _end(self, number: int, _frame: FrameType | None) -> None:
        import asyncio

        status = 128 + number
        if self._asked is not None and time.monotonic() - self._asked < GRACE_SECONDS:
            return
        if self._app is None or self._asked is not None:
            raise SystemExit(status)
        self._asked = time.monotonic()
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise SystemExit(status) from None
        loop.call_soon_threadsafe(self._app.end, status)
