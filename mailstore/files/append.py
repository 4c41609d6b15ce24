"""Write to files that other programs append to: whole lines in one write, under a lock, or nothing."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from contextlib import contextmanager, suppress

from mailstore.errors import MailboxBusy, StoreError, reason_of
from mailstore.files.flushing import flush
from mailstore.files.owned import give, look_of, open_like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    File = Path | str

PATIENCE_SECONDS = 5.0
PAUSE_SECONDS = 0.005
NO_LOCKS = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EBADF})
"""The errors of file systems without locks (EBADF: NFS has none for folders): a line is still one write."""


@contextmanager
def locked(
    path: File, flags: int = os.O_RDWR, patience: float | None = None, like: os.stat_result | None = None
) -> Iterator[int]:
    """Open a file (or a folder) and hold its exclusive lock; use it in a `with` statement.

    A new file gets the owner and mode of `like`; a file that is replaced while the lock is awaited is opened again.
    Raises MailboxBusy if the lock can't be had within `patience` (else `PATIENCE_SECONDS`), and StoreError for what the
    file system refuses.
    """
    deadline = time.monotonic() + (PATIENCE_SECONDS if patience is None else patience)
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
    """Append one line, given without its newline; return its offset. Raises what `append_all` raises."""
    return append_all([(path, [line])], like)[0]


def append_lines(path: File, lines: Sequence[bytes], like: os.stat_result | None = None) -> int:
    """Append several lines in one write; return the offset of the first. Raises what `append_all` raises."""
    return append_all([(path, lines)], like)[0]


def append_all(parts: Sequence[tuple[File, Sequence[bytes]]], like: os.stat_result | None = None) -> list[int]:
    """Append lines to several files, to all of them or to none; return the offset of each file's first line.

    Missing files are created with the owner and mode of `like`; their folder must exist. An unterminated line at the
    end of a file is ended first, in the same write. A partial write (the disk is full) is undone, and so are the writes
    to the files before it. Raises MailboxBusy, and StoreError for what the file system refuses.
    """
    with appending([path for path, _ in parts], like) as append:
        return append([lines for _, lines in parts])


@contextmanager
def appending(
    paths: Sequence[File], like: os.stat_result | None = None
) -> Iterator[Callable[[Sequence[Sequence[bytes]]], list[int]]]:
    """Hold the locks of several files and provide a function that appends lines to each, as `append_all` does.

    What is read from the files meanwhile can't have changed when it is called, unless a program ignores the locks.
    Raises what `append_all` raises.
    """
    with _all_locked(paths, like) as files:

        def append(parts: Sequence[Sequence[bytes]]) -> list[int]:
            starts: list[int] = []
            written: list[tuple[int, int, int]] = []
            for (fd, path), lines in zip(files, parts, strict=True):
                try:
                    start, begin, end = _append(fd, path, b"".join(line + b"\n" for line in lines))
                except StoreError:
                    for each in reversed(written):
                        _take_back(*each)
                    raise
                starts.append(start)
                written.append((fd, begin, end))
            return starts

        yield append


@contextmanager
def _all_locked(paths: Sequence[File], like: os.stat_result | None) -> Iterator[list[tuple[int, File]]]:
    """Open and lock several files; provide their descriptors. An ExitStack imports `inspect` from Python 3.15 on."""
    if not paths:
        yield []
        return
    with locked(paths[0], os.O_RDWR | os.O_APPEND | os.O_CREAT, like=like) as fd, _all_locked(paths[1:], like) as rest:
        yield [(fd, paths[0]), *rest]


def replace_file(path: Path, data: bytes, like: os.stat_result | None = None) -> None:
    """Replace a file's contents atomically and durably; it keeps its mode and owner, a new one gets those of `like`.

    A temporary file that a crash leaves is reused by the next call. Raises MailboxBusy and StoreError.
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
            flush(fd)
            new.replace(path)
        except (OSError, StoreError) as error:
            with suppress(OSError):
                new.unlink()
            raise refusal(path, error) if isinstance(error, OSError) else error from error


def refusal(path: File, error: OSError) -> StoreError:
    """Return the error for what the file system refuses to write."""
    what = reason_of(error)
    if isinstance(error, FileNotFoundError):
        folder = os.path.dirname(path) or "the current folder"  # noqa: PTH120
        return StoreError(f"{folder} does not exist", "check whether the mailbox was moved", "E271")
    if error.errno == errno.EROFS:
        return StoreError(f"{path} can't be written ({what})", "let the sandbox write there, or ask its owner", "E385")
    if error.errno in (errno.EACCES, errno.EPERM):
        return StoreError(
            f"{path} can't be written ({what})", "ask its owner, or open it read-only with --observe", "E385"
        )
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StoreError(f"{path} can't be written ({what})", "free some disk space; nothing was written", "E385")
    return StoreError(f"{path} can't be written ({what})", "check the disk and the path; nothing was written", "E385")


def _lock(fd: int, path: File, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise MailboxBusy(
                    f"{path} is locked by another program", "try again, or see who holds it with lsof", "E387"
                ) from None
            time.sleep(PAUSE_SECONDS)
        except OSError as error:
            if error.errno in NO_LOCKS:
                return
            raise


def _is_at(fd: int, path: File) -> bool:
    """Say whether an open file is still the one at a path."""
    try:
        return os.path.samestat(os.fstat(fd), os.stat(path))  # noqa: PTH116 - a path may be text
    except FileNotFoundError:
        return False


def _append(fd: int, path: File, data: bytes) -> tuple[int, int, int]:
    """Write at once; return the offsets of the lines, of the beginning of the write and of its end."""
    try:
        size = os.fstat(fd).st_size
        close = b"\n" if size and os.pread(fd, 1, size - 1) != b"\n" else b""
        length = os.write(fd, close + data)
        # another program may have written since the size was read: the position is exact
        end = os.lseek(fd, 0, os.SEEK_CUR)
    except OSError as error:
        raise refusal(path, error) from error
    begin = end - length
    if length < len(close + data):
        _take_back(fd, begin, end)
        raise StoreError(f"{path} could not be written completely", "free some disk space; nothing was written", "E386")
    return begin + len(close), begin, end


def _take_back(fd: int, begin: int, end: int) -> None:
    """Remove a write from the end of a file, unless another program appended after it."""
    if os.fstat(fd).st_size == end:
        os.ftruncate(fd, begin)
