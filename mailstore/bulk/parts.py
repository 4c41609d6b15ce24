"""The columns that one process makes of its share of a file, in a form that another process can load."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from mailstore.bulk.shares import FileShare, LineBlock
from mailstore.columns.messages import MessageHead
from mailstore.columns.strings import InternTable
from mailstore.files.lines import ChecksummedSpan

Numbers = NDArray[np.uint32]
Integers = NDArray[np.int64]
Keys = NDArray[np.uint64]
Bytes = NDArray[np.uint8]


class MailColumns(NamedTuple):
    """Messages; names and heads are numbers, ids are keys, and texts are joined with the size of each."""

    ids: Bytes
    id_sizes: Numbers
    keys: Keys
    hashes: Numbers
    parents: Keys
    senders: Numbers
    heads: Numbers
    times: NDArray[np.float64]
    offsets: Integers
    lengths: Numbers
    subjects: Bytes
    subject_sizes: Numbers


class ReadColumns(NamedTuple):
    """Read records: keys of messages, numbers of readers, and the offset in its part at which each line ends."""

    keys: Keys
    readers: Numbers
    times: NDArray[np.float64]
    ends: Numbers


TYPES = {
    MailColumns: ["B", "I", "Q", "I", "Q", "I", "I", "d", "q", "I", "B", "I"],
    ReadColumns: ["Q", "I", "d", "I"],
}


class UnusualBlock(Exception):
    """A block holds something that must be decoded line by line."""


class ColumnPart(msgspec.Struct):
    """Some lines as columns; a part without columns must be decoded line by line."""

    offset: int
    size: int
    lines: int
    names: list[str] = []
    heads: list[MessageHead] = []
    columns: list[memoryview] = []

    def mail(self) -> MailColumns:
        """Return the columns of messages."""
        return MailColumns(*map(np.frombuffer, self.columns, TYPES[MailColumns]))

    def reads(self) -> ReadColumns:
        """Return the columns of read records."""
        return ReadColumns(*map(np.frombuffer, self.columns, TYPES[ReadColumns]))


class ShareColumns(msgspec.Struct):
    """Everything that a share holds."""

    summed: ChecksummedSpan
    parts: list[ColumnPart]


class BlockDecoder(Protocol):
    """Makes columns of blocks of ordinary lines."""

    names: InternTable[str]
    heads: InternTable[MessageHead]

    def columns(self, block: LineBlock) -> MailColumns | ReadColumns:
        """Return a block's records; raises UnusualBlock, ValueError and RecursionError for any that is not ordinary."""
        ...


def found_in(share: FileShare, begin: Callable[[], BlockDecoder]) -> ShareColumns:
    """Return what a share holds, with lines that are not ordinary in parts of their own. Raises OSError."""
    parts: list[ColumnPart] = []
    run = _Run(begin())

    def take(block: LineBlock) -> None:
        nonlocal run
        try:
            run.take(block)
        except (UnusualBlock, ValueError, RecursionError):
            halves = block.halves()
            for half in halves:
                take(half)
            if not halves:
                parts.extend((*run.part(), ColumnPart(block.offset, len(block.data), len(block.ends))))
                run = _Run(begin())

    for block in share.blocks():
        take(block)
    return ShareColumns(share.summed(), [*parts, *run.part()])


class _Run:
    """Consecutive blocks of ordinary lines."""

    def __init__(self, decoder: BlockDecoder) -> None:
        self._decoder = decoder
        self._offset = self._size = self._lines = 0
        self._columns: list[MailColumns | ReadColumns] = []

    def take(self, block: LineBlock) -> None:
        columns = self._decoder.columns(block)
        if isinstance(columns, ReadColumns):
            columns = columns._replace(ends=columns.ends + np.uint32(self._size))
        self._offset = self._offset if self._columns else block.offset
        self._columns.append(columns)
        self._size += len(block.data)
        self._lines += len(block.ends)

    def part(self) -> list[ColumnPart]:
        if not self._columns:
            return []
        columns = [np.concatenate(each).data for each in zip(*self._columns, strict=True)]
        decoder = self._decoder
        return [ColumnPart(self._offset, self._size, self._lines, decoder.names.values, decoder.heads.values, columns)]
