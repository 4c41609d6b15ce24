"""Writing to files that others append to: whole lines in one write, under a lock, or not at all."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mailstore.errors import MailboxBusy, StoreError

__all__ = ["append_lines", "locked", "replace_file"]

PATIENCE_SECONDS = 5.0
PAUSE_SECONDS = 0.005


@contextmanager
def locked(fd: int, path: Path, patience: float = PATIENCE_SECONDS) -> Iterator[None]:
    """Hold the exclusive lock of an open file; raises MailboxBusy when it can't be had in time."""
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise MailboxBusy(
                    f"{path} is locked by another program", "try again, or see who holds it with lsof"
                ) from None
            time.sleep(PAUSE_SECONDS)
    try:
        yield
    finally:
        fcntl.flock(fd, fcntl.LOCK_UN)


def append_lines(path: Path, lines: list[bytes], patience: float = PATIENCE_SECONDS) -> int:
    """Append whole lines in one write; return the offset at which the first begins.

    A torn line at the end of the file is closed first, in the same write. A write that falls short (a full
    disk) is taken back. Raises MailboxBusy, and StoreError for what the file system refuses.
    """
    data = b"".join(line + b"\n" for line in lines)
    try:
        fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise refusal(path, error) from error
    try:
        with locked(fd, path, patience):
            size = os.fstat(fd).st_size
            torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
            _write(fd, path, b"\n" + data if torn else data, size)
            return size + torn
    finally:
        os.close(fd)


def _write(fd: int, path: Path, data: bytes, size: int) -> None:
    try:
        written = os.write(fd, data)
    except OSError as error:
        raise refusal(path, error) from error
    if written == len(data):
        return
    if os.fstat(fd).st_size == size + written:
        os.ftruncate(fd, size)
    raise StoreError(f"{path} took only a part of the write", "is the disk full? nothing was kept of it")


def replace_file(path: Path, data: bytes) -> None:
    """Put other contents in a file's place, at once and for good; its mode stays. Raises StoreError."""
    try:
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
        fd, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise refusal(path, error) from error
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        Path(name).replace(path)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise refusal(path, error) from error


def refusal(path: Path, error: OSError) -> StoreError:
    """Put what the file system refused into words."""
    what = (error.strerror or str(error)).lower()
    if isinstance(error, FileNotFoundError):
        return StoreError(f"{path.parent} is not there", "was the mailbox moved?")
    if isinstance(error, PermissionError):
        return StoreError(f"{path} can't be written ({what})", "ask its owner, or look with --observe")
    return StoreError(f"{path} can't be written ({what})", "nothing was written")
