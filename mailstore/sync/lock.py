"""One sync for each agent: a lock in the agent's folder, which ends with its process."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mailstore.errors import MailboxBusy, StoreError
from mailstore.files.append import NO_LOCKS, refusal
from mailstore.sync.spool import FOLDER

__all__ = ["is_at_work", "sync_lock"]


@contextmanager
def sync_lock(home: Path) -> Iterator[None]:
    """Hold the lock of an agent. Raises MailboxBusy if another sync has it, and StoreError."""
    path = home / FOLDER / "lock"
    try:
        if home.is_symlink() or path.parent.is_symlink():
            raise StoreError(f"{home} is a symbolic link", "links are not followed: name the folder itself")
        path.parent.mkdir(mode=0o700, exist_ok=True)
        fd = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise refusal(path, error) from error
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pid = os.pread(fd, 20, 0).decode("ascii", "replace").strip()
            who = f"another sync (process {pid})" if pid.isdecimal() else "another sync"
            raise MailboxBusy(
                f"{who} carries the mail of {home.name} in {home.parent}", "stop it, or let it work"
            ) from None
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise refusal(path, error) from error
        try:
            os.ftruncate(fd, 0)
            os.pwrite(fd, f"{os.getpid()}\n".encode("ascii"), 0)
        except OSError:
            # a full disk: the lock holds without the number
            pass
        yield
    finally:
        os.close(fd)


def is_at_work(home: Path) -> bool:
    """Return whether a sync carries the mail of an agent now; changes nothing."""
    try:
        fd = os.open(home / FOLDER / "lock", os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False
