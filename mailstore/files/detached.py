"""Start a process that outlives this one and has neither its input nor its output. Imports next to nothing."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def start_detached(words: list[str], env: Mapping[str, str]) -> int:
    """Run this Python with some words; return the id of the process. Raises OSError."""
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    actions = [(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)]
    argv = [sys.executable, *words]
    try:
        try:
            return os.posix_spawn(sys.executable, argv, env, file_actions=actions, setsid=True)
        except NotImplementedError:  # an early macOS: it stays in this process's session
            return os.posix_spawn(sys.executable, argv, env, file_actions=actions)
    finally:
        os.close(null)
