"""What one process finds in its share of a file, in a form that another can take over."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from mailstore.bulk.shares import Block, Share
from mailstore.columns.interned import Interned
from mailstore.columns.messages import Head
from mailstore.files.lines import Summed

__all__ = ["BlockDecoder", "Found", "MailColumns", "Part", "ReadColumns", "Unusual", "found_in"]

Numbers = NDArray[np.uint32]
Integers = NDArray[np.int64]
Keys = NDArray[np.uint64]
Bytes = NDArray[np.uint8]


class MailColumns(NamedTuple):
    """Messages; numbers stand for names and heads, keys for ids, sizes are of what stands in one piece."""

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
    """Records of reading: keys of messages, numbers of readers, and where in its part each line ends."""

    keys: Keys
    readers: Numbers
    times: NDArray[np.float64]
    ends: Numbers


TYPES = {
    MailColumns: ["B", "I", "Q", "I", "Q", "I", "I", "d", "q", "I", "B", "I"],
    ReadColumns: ["Q", "I", "d", "I"],
}


class Unusual(Exception):
    """A block holds something that must be looked at line by line."""


class Part(msgspec.Struct):
    """Some lines as columns; one without columns must be read line by line."""

    offset: int
    size: int
    lines: int
    names: list[str] = []
    heads: list[Head] = []
    columns: list[memoryview] = []

    def mail(self) -> MailColumns:
        """Return the columns of messages."""
        return MailColumns(*map(np.frombuffer, self.columns, TYPES[MailColumns]))

    def reads(self) -> ReadColumns:
        """Return the columns of records of reading."""
        return ReadColumns(*map(np.frombuffer, self.columns, TYPES[ReadColumns]))


class Found(msgspec.Struct):
    """All that a share holds."""

    summed: Summed
    parts: list[Part]


class BlockDecoder(Protocol):
    """Makes columns of blocks of usual lines."""

    names: Interned[str]
    heads: Interned[Head]

    def columns(self, block: Block) -> MailColumns | ReadColumns:
        """Return a block's records; raises Unusual, ValueError and RecursionError for any that is not usual."""
        ...


def found_in(share: Share, begin: Callable[[], BlockDecoder]) -> Found:
    """Return what a share holds, parted where lines are not usual. Raises OSError."""
    parts: list[Part] = []
    run = _Run(begin())

    def take(block: Block) -> None:
        nonlocal run
        try:
            run.take(block)
        except (Unusual, ValueError, RecursionError):
            halves = block.halves()
            for half in halves:
                take(half)
            if not halves:
                parts.extend((*run.part(), Part(block.offset, len(block.data), len(block.ends))))
                run = _Run(begin())

    for block in share.blocks():
        take(block)
    return Found(share.summed(), [*parts, *run.part()])


class _Run:
    """Blocks of usual lines, one after another."""

    def __init__(self, decoder: BlockDecoder) -> None:
        self._decoder = decoder
        self._offset = self._size = self._lines = 0
        self._columns: list[MailColumns | ReadColumns] = []

    def take(self, block: Block) -> None:
        columns = self._decoder.columns(block)
        if isinstance(columns, ReadColumns):
            columns = columns._replace(ends=columns.ends + np.uint32(self._size))
        self._offset = self._offset if self._columns else block.offset
        self._columns.append(columns)
        self._size += len(block.data)
        self._lines += len(block.ends)

    def part(self) -> list[Part]:
        if not self._columns:
            return []
        columns = [np.concatenate(each).data for each in zip(*self._columns, strict=True)]
        decoder = self._decoder
        return [Part(self._offset, self._size, self._lines, decoder.names.values, decoder.heads.values, columns)]
