"""The time limit of a hook: when it is over the process ends, and what it would have said comes with the next event.

Ending anywhere is safe, as it is to be killed: files are replaced or appended to at once.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from types import FrameType
else:
    try:
        import _signal as signal  # that of the standard library without its names, which take long to make
    except ImportError:
        import signal

LIMIT_SECONDS = 2.0

_status = 0
"""With what the process ends."""


def start(status: int = 0) -> None:
    """Start the clock, which ends the process with a status; does nothing where there can be none."""
    global _status
    _status = status
    try:
        signal.signal(signal.SIGALRM, _end)
        signal.setitimer(signal.ITIMER_REAL, LIMIT_SECONDS)
    except (AttributeError, ValueError):
        return


def stop() -> None:
    """Stop the clock."""
    try:
        signal.setitimer(signal.ITIMER_REAL, 0)
    except AttributeError:
        return


def _end(_number: int, _frame: FrameType | None) -> None:
    os._exit(_status)
