"""Start the process that counts a mailbox. Imports next to nothing."""

from __future__ import annotations

import os
import sys

__all__ = ["start_counting"]


def start_counting(place: str, given: str) -> None:
    """Start a process that counts a mailbox, keeps its numbers in a file, and outlives this one.

    The mailbox's name goes through the environment: in the arguments everyone on the machine could read a password.
    """
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    try:
        os.posix_spawn(
            sys.executable,
            [sys.executable, "-P", f"{os.path.dirname(os.path.abspath(__file__))}/counting.py", place],  # noqa: PTH100, PTH120 - pathlib costs too much
            {**os.environ, "SIGNALBOX_STORE": given} if given else os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)],
            setsid=True,
        )
    finally:
        os.close(null)
