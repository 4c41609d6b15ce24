"""Start the process that counts a mailbox. Imports next to nothing."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["start_counting"]


def start_counting(place: str, given: str) -> Callable[[], bool]:
    """Start a process that counts a mailbox, keeps its numbers in a file, and outlives this one.

    Return a function that says whether it has ended.

    The mailbox's name goes through the environment: in the arguments everyone on the machine could read a password.
    """
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    try:
        pid = os.posix_spawn(
            sys.executable,
            [sys.executable, "-P", f"{os.path.dirname(os.path.abspath(__file__))}/counting.py", place],  # noqa: PTH100, PTH120 - pathlib costs too much
            {**os.environ, "SIGNALBOX_STORE": given} if given else os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)],
            setsid=True,
        )
    finally:
        os.close(null)

    def has_ended() -> bool:
        return os.waitpid(pid, os.WNOHANG)[0] != 0

    return has_ended
