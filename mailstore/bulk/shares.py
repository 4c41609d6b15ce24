"""A share of a file's lines, read block by block."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from mailstore.files.lines import BLOCK, ChecksummedSpan
from mailstore.files.whole import LARGEST

SIZE = 1 << 18
"""The size of a block in bytes; what is made of it should fit the processor's cache."""
FEW = 64
"""A block of no more lines than this is not halved any more."""
NEWLINE = 10


class LineTooLong(Exception):
    """A line is longer than any record: the file must be read line by line."""


class LineBlock(NamedTuple):
    """Whole lines: their offset in the file, their bytes, and the position in these at which each line ends."""

    offset: int
    data: memoryview
    ends: NDArray[np.int64]

    def halves(self) -> list[LineBlock]:
        """Return the two halves of the block; none if it is short."""
        if len(self.ends) <= FEW:
            return []
        middle = len(self.ends) // 2
        at = int(self.ends[middle - 1]) + 1
        return [
            LineBlock(self.offset, self.data[:at], self.ends[:middle]),
            LineBlock(self.offset + at, self.data[at:], self.ends[middle:] - at),
        ]


class FileShare:
    """The lines of an open file that begin between two offsets."""

    def __init__(self, fd: int, start: int, end: int) -> None:
        self._fd = fd
        self._until = end
        self._begin = self._end = start if start == 0 else _line_start(fd, start, end)
        self._checksum = 0

    def summed(self) -> ChecksummedSpan:
        """Return the checksum of what was read."""
        return ChecksummedSpan(self._begin, self._end, self._checksum)

    def blocks(self) -> Iterator[LineBlock]:
        """Yield the lines; the bytes of a block are valid until the next one. Raises LineTooLong, OSError."""
        size = min(SIZE, max(1, self._until - self._begin) + BLOCK)
        buffer, is_newline = bytearray(size), np.empty(size, bool)
        while self._end < self._until and (read := os.preadv(self._fd, [buffer], self._end)):
            before_last = self._until - self._end - 1
            whole = buffer.find(b"\n", before_last, read) + 1 if before_last < read else 0
            whole = whole or buffer.rfind(b"\n", 0, read) + 1
            if whole:
                np.equal(np.frombuffer(buffer, np.uint8, whole), NEWLINE, out=is_newline[:whole])
                data = memoryview(buffer)[:whole]
                self._checksum = crc32(data, self._checksum)
                yield LineBlock(self._end, data, np.flatnonzero(is_newline[:whole]))
                self._end += whole
            elif read < size:
                break
            elif size > LARGEST:
                raise LineTooLong
            else:
                size = min(2 * size, LARGEST + 1)
                buffer, is_newline = bytearray(size), np.empty(size, bool)


def _line_start(fd: int, start: int, end: int) -> int:
    """Return the offset of the first line that begins between two offsets; the second offset if none does."""
    at = start - 1
    while at < end and (data := os.pread(fd, BLOCK, at)):
        if (newline := data.find(b"\n")) >= 0:
            return min(end, at + newline + 1)
        at += len(data)
    return end
