"""Files that an archival writes: complete, unchanged lines, synced at the end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from mailstore.errors import StoreError
from mailstore.files.append import locked
from mailstore.files.flushing import flush
from mailstore.files.lines import Cutter
from mailstore.files.whole import open_regular
from mailstore.haak.archive.sorting import lines_of

PIECE = 1 << 20


class ArchiveOutput:
    """A file that accepts lines; those whose hashes it `has` are skipped."""

    def __init__(self, fd: int, has: frozenset[int] = frozenset()) -> None:
        self._fd = fd
        self._has = has
        self._waiting: list[bytes] = []
        self._size = 0

    @classmethod
    @contextmanager
    def month(cls, path: Path, like: os.stat_result) -> Iterator[Self]:
        """Open or create the file of a month, and terminate its last line. Raises StoreError."""
        with locked(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, like=like) as fd:
            cutter = Cutter()
            output = cls(fd, frozenset(hash(line.data) for line in lines_of(fd, cutter)))
            if cutter.held is not None:
                output._waiting.append(b"\n")
            yield output

    @classmethod
    @contextmanager
    def fresh(cls, path: Path, like: os.stat_result) -> Iterator[Self]:
        """Create a file with another one's owner and mode. Raises StoreError, OSError."""
        fd = open_regular(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL)
        try:
            own = os.fstat(fd)
            try:
                if (own.st_uid, own.st_gid) != (like.st_uid, like.st_gid):
                    os.fchown(fd, like.st_uid, like.st_gid)
                os.fchmod(fd, like.st_mode & 0o7777)
            except PermissionError as error:
                raise StoreError(
                    "the mailbox file belongs to another user", "let its owner archive it", "E374"
                ) from error
            yield cls(fd)
        finally:
            os.close(fd)

    @classmethod
    @contextmanager
    def more(cls, path: Path) -> Iterator[Self]:
        """Open a file to append to it. Raises OSError."""
        fd = open_regular(path, os.O_RDWR | os.O_APPEND)
        try:
            yield cls(fd)
        finally:
            os.close(fd)

    def put(self, line: bytes) -> None:
        """Add a line, given without its newline."""
        if self._has and hash(line) in self._has:
            return
        self._waiting += (line, b"\n")
        self._size += len(line)
        if self._size > PIECE:
            self.flush()

    def flush(self) -> None:
        """Write the added lines."""
        data = memoryview(b"".join(self._waiting))
        self._waiting, self._size = [], 0
        while data:
            data = data[os.write(self._fd, data) :]

    def finish(self) -> None:
        """Write the added lines and sync the file."""
        self.flush()
        flush(self._fd)
