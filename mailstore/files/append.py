"""Writing to files that others append to: whole lines in one write, under a lock, or not at all."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from contextlib import ExitStack, contextmanager, suppress

from mailstore.errors import MailboxBusy, StoreError, reason_of
from mailstore.files.owned import give, look_of, open_like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    File = Path | str

__all__ = ["append_all", "append_line", "append_lines", "locked", "refusal", "replace_file"]

PATIENCE_SECONDS = 5.0
PAUSE_SECONDS = 0.005
NO_LOCKS = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS})
"""What a file system says that knows no locks: one write of a whole line is then all there is."""


@contextmanager
def locked(
    path: File, flags: int = os.O_RDWR, patience: float = PATIENCE_SECONDS, like: os.stat_result | None = None
) -> Iterator[int]:
    """Open a file and hold its exclusive lock; give its descriptor.

    A file that is made has the owner and the mode of what it is `like`; one that is replaced while the lock is waited
    for is opened anew. Raises MailboxBusy when the lock can't be had within `patience` seconds, and StoreError for
    what the file system refuses.
    """
    deadline = time.monotonic() + patience
    while True:
        try:
            fd = open_like(path, flags, like)
        except OSError as error:
            raise refusal(path, error) from error
        try:
            _lock(fd, path, deadline)
            if _is_at(fd, path):
                yield fd
                return
        except OSError as error:
            raise refusal(path, error) from error
        finally:
            os.close(fd)


def append_line(path: File, line: bytes, like: os.stat_result | None = None) -> int:
    """Append one line, given without its newline; return the offset at which it begins. Raises as `append_all`."""
    return append_all([(path, [line])], like)[0]


def append_lines(path: File, lines: Sequence[bytes], like: os.stat_result | None = None) -> int:
    """Append several lines in one write; return the offset at which the first begins. Raises as `append_all`."""
    return append_all([(path, lines)], like)[0]


def append_all(parts: Sequence[tuple[File, Sequence[bytes]]], like: os.stat_result | None = None) -> list[int]:
    """Append whole lines to files, to all of them or to none; return the offset at which each first line begins.

    The files are made where they are missing, `like` another one, in a folder that is there. A torn line at the end of
    a file is closed first, in the same write. A write that falls short (a full disk) is taken back, and so is what was
    written to the files before it. Raises MailboxBusy, and StoreError for what the file system refuses.
    """
    starts: list[int] = []
    with ExitStack() as stack:
        files = [
            (stack.enter_context(locked(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, like=like)), path, lines)
            for path, lines in parts
        ]
        written: list[tuple[int, int, int]] = []
        for fd, path, lines in files:
            try:
                start, begin, end = _append(fd, path, b"".join(line + b"\n" for line in lines))
            except StoreError:
                for each in reversed(written):
                    _take_back(*each)
                raise
            starts.append(start)
            written.append((fd, begin, end))
    return starts


def replace_file(path: Path, data: bytes, like: os.stat_result | None = None) -> None:
    """Put other contents in a file's place, at once and for good; its mode and owner stay, or are `like` another's.

    What a sudden end leaves beside it is taken over by the next call. Raises MailboxBusy and StoreError.
    """
    path = path.resolve()
    new = path.with_name(f".{path.name}.new")
    like = look_of(path) or like
    with locked(new, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, like=like) as fd:
        try:
            if like is not None:
                give(fd, like)
            os.ftruncate(fd, 0)
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(fd, rest) :]
            os.fsync(fd)
            new.replace(path)
        except (OSError, StoreError) as error:
            with suppress(OSError):
                new.unlink()
            raise refusal(path, error) if isinstance(error, OSError) else error from error


def refusal(path: File, error: OSError) -> StoreError:
    """Put what the file system refused into words."""
    what = reason_of(error)
    if isinstance(error, FileNotFoundError):
        return StoreError(f"{os.path.dirname(path)} is not there", "was the mailbox moved?")  # noqa: PTH120
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return StoreError(f"{path} can't be written ({what})", "ask its owner, or look with --observe")
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StoreError(f"{path} can't be written ({what})", "make room on the disk; nothing was written")
    return StoreError(f"{path} can't be written ({what})", "nothing was written")


def _lock(fd: int, path: File, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise MailboxBusy(
                    f"{path} is locked by another program", "try again, or see who holds it with lsof"
                ) from None
            time.sleep(PAUSE_SECONDS)
        except OSError as error:
            if error.errno in NO_LOCKS:
                return
            raise


def _is_at(fd: int, path: File) -> bool:
    """Say whether an open file is still the one that stands at a path."""
    try:
        return os.path.samestat(os.fstat(fd), os.stat(path))  # noqa: PTH116 - a path may be text
    except FileNotFoundError:
        return False


def _append(fd: int, path: File, data: bytes) -> tuple[int, int, int]:
    """Write in one go; return where the lines begin, where the write began and where it ended."""
    try:
        size = os.fstat(fd).st_size
        close = b"\n" if size and os.pread(fd, 1, size - 1) != b"\n" else b""
        length = os.write(fd, close + data)
        # another program may have written since the size was asked for: the position is what tells
        end = os.lseek(fd, 0, os.SEEK_CUR)
    except OSError as error:
        raise refusal(path, error) from error
    begin = end - length
    if length < len(close + data):
        _take_back(fd, begin, end)
        raise StoreError(f"{path} took only a part of the write", "is the disk full? nothing was kept of it")
    return begin + len(close), begin, end


def _take_back(fd: int, begin: int, end: int) -> None:
    """Cut a write off again, unless somebody has appended to it."""
    if os.fstat(fd).st_size == end:
        os.ftruncate(fd, begin)
