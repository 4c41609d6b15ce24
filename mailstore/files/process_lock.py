"""A lock that one process holds on a file as long as it runs; the file holds its number."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mailstore.errors import MailboxBusy
from mailstore.files.append import NO_LOCKS
from mailstore.files.whole import open_regular

LOOKS, PAUSE_SECONDS = 50, 0.01


@contextmanager
def process_lock(path: Path, busy: Callable[[str], MailboxBusy]) -> Iterator[None]:
    """Hold the lock of a file, which is created; a file system without locks is trusted.

    Raises what `busy` returns for the holder ("process 4711"), and OSError.
    """
    fd = open_regular(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW)
    try:
        try:
            _take(fd)
        except BlockingIOError:
            number = os.pread(fd, 20, 0).decode("ascii", "replace").strip()
            raise busy(f"process {number if number.isdecimal() else 'unknown'}") from None
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
        with suppress(OSError):  # a full disk: the lock holds without the number
            os.ftruncate(fd, 0)
            os.pwrite(fd, f"{os.getpid()}\n".encode("ascii"), 0)
        yield
    finally:
        os.close(fd)


def _take(fd: int) -> None:
    """Lock a file. Raises BlockingIOError if a process holds its lock; one that only looks has it for a moment."""
    for _ in range(LOOKS):
        with suppress(BlockingIOError):
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        fcntl.flock(fd, fcntl.LOCK_UN)
        time.sleep(PAUSE_SECONDS)
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_locked(path: Path) -> bool:
    """Return whether a process holds the lock of a file now; changes nothing."""
    try:
        fd = open_regular(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(fd)
    return False
