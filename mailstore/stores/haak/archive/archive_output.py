"""Files that an archival writes: whole lines as they stood, brought to the disk in the end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from mailstore.errors import StoreError
from mailstore.files.append import locked
from mailstore.files.lines import Cutter
from mailstore.stores.haak.archive.sorting import lines_of

__all__ = ["Outlet"]

PIECE = 1 << 20


class Outlet:
    """A file that takes lines; those that it `has` already are passed over."""

    def __init__(self, fd: int, has: frozenset[int] = frozenset()) -> None:
        self._fd = fd
        self._has = has
        self._waiting: list[bytes] = []
        self._size = 0

    @classmethod
    @contextmanager
    def month(cls, path: Path, like: os.stat_result) -> Iterator[Self]:
        """Open the file of a month, or make one like another file; its last line is ended. Raises StoreError."""
        with locked(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, like=like) as fd:
            cutter = Cutter()
            outlet = cls(fd, frozenset(hash(line.data) for line in lines_of(fd, cutter)))
            if cutter.held is not None:
                outlet._waiting.append(b"\n")
            yield outlet

    @classmethod
    @contextmanager
    def fresh(cls, path: Path, like: os.stat_result) -> Iterator[Self]:
        """Make a file that those who write to another one can write to as well. Raises StoreError, OSError."""
        fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            own = os.fstat(fd)
            try:
                if (own.st_uid, own.st_gid) != (like.st_uid, like.st_gid):
                    os.fchown(fd, like.st_uid, like.st_gid)
                os.fchmod(fd, like.st_mode & 0o7777)
            except PermissionError as error:
                raise StoreError("the mailbox file belongs to somebody else", "let its owner archive it") from error
            yield cls(fd)
        finally:
            os.close(fd)

    @classmethod
    @contextmanager
    def more(cls, path: Path) -> Iterator[Self]:
        """Open a file to go on with it. Raises OSError."""
        fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
        try:
            yield cls(fd)
        finally:
            os.close(fd)

    def put(self, line: bytes) -> None:
        """Take a line, given without its newline."""
        if self._has and hash(line) in self._has:
            return
        self._waiting += (line, b"\n")
        self._size += len(line)
        if self._size > PIECE:
            self.flush()

    def flush(self) -> None:
        """Write what was taken."""
        data = memoryview(b"".join(self._waiting))
        self._waiting, self._size = [], 0
        while data:
            data = data[os.write(self._fd, data) :]

    def finish(self) -> None:
        """Write what was taken, and bring it to the disk."""
        self.flush()
        os.fsync(self._fd)
