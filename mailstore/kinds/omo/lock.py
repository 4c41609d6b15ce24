"""The lock beside an inbox, as the program takes it (docs/formats/omo.md#writing)."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mailstore.errors import MailboxBusy
from mailstore.files.append import refusal
from mailstore.files.pending import Pending
from mailstore.files.whole import open_regular

STALE_SECONDS = 300.0
PATIENCE_SECONDS = 15.0
PAUSE_SECONDS = 0.05
LONGEST = 4096


@contextmanager
def locked_member(inbox: Path) -> Iterator[None]:
    """Hold an inbox's lock; one whose holder has ended, and that is old, is removed. Raises MailboxBusy, StoreError."""
    lock = inbox.with_name(f"{inbox.name}.lock")
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (token := _claimed(lock, inbox.name)):
        if _is_stale(_read(lock)):
            with suppress(OSError):
                lock.unlink()
            continue
        if time.monotonic() > deadline:
            raise MailboxBusy(f"{inbox} is locked by another program", f"try again; the lock is {lock.name} beside it")
        time.sleep(PAUSE_SECONDS)
    try:
        yield
    finally:
        if _read(lock) == token:
            with suppress(OSError):
                lock.unlink()


def _claimed(lock: Path, member: str) -> bytes:
    """Create the lock file; return its contents, or nothing if another process holds it."""
    if os.path.lexists(lock):
        return b""
    # dated back, so that the next writer removes it at once if this process is killed; it honours that of a living one
    taken = time.time_ns() // 1_000_000 - int((STALE_SECONDS + 1) * 1000)
    token = f"team-mailbox:{member}\n{os.getpid()}\n{max(taken, 1)}\n".encode()
    try:
        # whole from the start: the program never removes an empty one
        with Pending(lock, token, mode=0o644) as file:
            return token if file.appear() else b""
    except OSError as error:
        raise refusal(lock, error) from error


def _read(lock: Path) -> bytes:
    try:
        fd = open_regular(lock, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return b""
    try:
        return os.read(fd, LONGEST)
    except OSError:
        return b""
    finally:
        os.close(fd)


def _is_stale(data: bytes) -> bool:
    """Return whether a lock's holder has ended, and took it long ago; the program waits for any other."""
    lines = [line for line in data.decode("utf-8", "replace").splitlines() if line]
    if len(lines) != 3 or not (lines[1].isascii() and lines[1].isdecimal() and lines[2].isascii()):
        return False
    if not lines[2].isdecimal() or len(lines[1]) > 9 or len(lines[2]) > 18 or not int(lines[1]):
        return False
    try:
        os.kill(int(lines[1]), 0)
    except ProcessLookupError:
        return time.time() - int(lines[2]) / 1000 > STALE_SECONDS
    except OSError:
        return False
    return False
