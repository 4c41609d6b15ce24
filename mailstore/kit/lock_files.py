"""Locks that another program's writers honour: a file or folder beside what is written, made by whoever writes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from mailstore.errors import MailboxBusy
from mailstore.files.whole import read_whole

LONGEST = 4096
"""Bytes: a lock names a process."""
Token = TypeVar("Token")


def taken(
    claim: Callable[[], Token],
    clear: Callable[[], bool],
    busy: MailboxBusy,
    *,
    seconds: float,
    pause: float,
    longest_pause: float = 0.0,
) -> Token:
    """Return what `claim` returns once that isn't false; it is asked again for so many seconds.

    `clear` removes an abandoned lock, and returns whether it is gone. Raises `busy`. Blocks.
    """
    deadline = time.monotonic() + seconds
    while not (token := claim()):
        if clear():
            continue
        if time.monotonic() > deadline:
            raise busy
        time.sleep(pause)
        pause = max(pause, min(pause * 2, longest_pause))
    return token


def read_lock(lock: Path) -> bytes | None:
    """Return what a lock file holds; None if it can't be read, as when it is gone."""
    try:
        return read_whole(lock, LONGEST)
    except OSError:
        return None


def release(lock: Path, token: bytes) -> None:
    """Remove a lock file, unless it is another writer's by now."""
    if read_lock(lock) == token:
        with suppress(OSError):
            lock.unlink()


def removed(remove: Callable[[], None]) -> bool:
    """Remove a lock; return whether that could be done."""
    try:
        remove()
    except OSError:
        return False
    return True


def is_running(pid: int) -> bool:
    """Say whether a process runs here, as far as the system tells."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
