"""Start the process that counts a mailbox. Imports next to nothing."""

from __future__ import annotations

import os

from mailstore.files.detached import start_detached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def start_counting(place: str, given: str) -> Callable[[], bool]:
    """Start a process that counts a mailbox, keeps its numbers in a file, and outlives this one.

    Return a function that says whether it has ended.

    The mailbox's name goes through the environment: in the arguments everyone on the machine could read a password.
    """
    program = f"{os.path.dirname(os.path.abspath(__file__))}/counting.py"  # noqa: PTH100, PTH120 - pathlib costs too much
    pid = start_detached(["-P", program, place], {**os.environ, "SIGNALBOX_STORE": given} if given else os.environ)

    def has_ended() -> bool:
        return os.waitpid(pid, os.WNOHANG)[0] != 0

    return has_ended
