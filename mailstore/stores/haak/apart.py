"""The file of reads, decoded by another process while this one decodes the messages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from mailstore.bulk.gathered import Reads
from mailstore.bulk.keys import keys_of
from mailstore.files.lines import Block, LineFile, LinePlace
from mailstore.stores.haak.bulk_reads import Unusual, read_all, read_lines, usual_reads

__all__ = ["MANY", "Apart", "is_there"]

MANY = 1 << 24
"""Bytes from which on another process is worth its start."""


class Span(msgspec.Struct, frozen=True):
    """A block of lines, and how many records were made of it; -1 for one that must be read line by line."""

    offset: int
    number: int
    length: int
    lines: int
    records: int


class Told(msgspec.Struct, frozen=True):
    """What comes before the numbers."""

    place: LinePlace | None
    names: list[str]
    spans: list[Span]


class Numbers(NamedTuple):
    """The records of all usual blocks."""

    keys: NDArray[np.uint64]
    readers: NDArray[np.uint32]
    times: NDArray[np.float64]


class Apart:
    """Another process at work on a file of reads."""

    def __init__(self, file: LineFile) -> None:
        self._file = file
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(file.path)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
        )

    def into(self, reads: Reads, ids: list[str]) -> bool:
        """Take over what it has found, of messages with these ids; False where it must be read here. Raises OSError."""
        data, _ = self._process.communicate()
        own = keys_of(ids)
        order = np.argsort(own, kind="stable")
        known = own[order]
        if self._process.returncode or not len(ids) or (known[1:] == known[:-1]).any():
            return False
        size = int.from_bytes(data[:8], "little")
        told = msgspec.msgpack.decode(memoryview(data)[8 : 8 + size], type=Told)
        number = sum(max(0, span.records) for span in told.spans)
        at = 8 + size
        keys = np.frombuffer(data, np.uint64, number, at)
        readers = np.frombuffer(data, np.uint32, number, at + 8 * number)
        times = np.frombuffer(data, np.float64, number, at + 12 * number)
        places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        rows = np.where(known[places] == keys, order[places], -1).astype(np.int32)
        if told.place is not None:
            self._file.resume(told.place)
        first = 0
        with self._file.path.open("rb") as file:
            for span in told.spans:
                end = first + max(0, span.records)
                if span.records < 0 or (rows[first:end] < 0).any():
                    file.seek(span.offset)
                    block = Block(span.offset, span.number, file.read(span.length), span.lines)
                    read_lines(block, self._file.name, reads)
                else:
                    reads.add_rows(rows[first:end], readers[first:end], told.names, times[first:end])
                first = end
        read_all(self._file, reads)
        return True


def is_there(path: Path, size: int) -> bool:
    """Say whether a file of at least a size is there."""
    try:
        return path.stat().st_size >= size
    except OSError:
        return False


def main() -> None:
    """Decode the file of a path, and write what was found."""
    file = LineFile(Path(sys.argv[1]))
    spans: list[Span] = []
    parts: list[Numbers] = []
    names: dict[str, int] = {}
    for block in file.read_whole():
        try:
            ids, readers, times = usual_reads(block)
        except (Unusual, ValueError, RecursionError):
            spans.append(Span(block.offset, block.number, len(block.data), block.lines, -1))
            continue
        for name in dict.fromkeys(readers):
            names.setdefault(name, len(names))
        numbers = np.fromiter(map(names.__getitem__, readers), np.uint32, len(readers))
        parts.append(Numbers(keys_of(ids), numbers, times))
        spans.append(Span(block.offset, block.number, len(block.data), block.lines, len(ids)))
    told = msgspec.msgpack.encode(Told(file.place(), list(names), spans))
    out = sys.stdout.buffer
    out.write(len(told).to_bytes(8, "little") + told)
    for column in zip(*parts, strict=True):
        out.write(np.concatenate(column).tobytes())


if __name__ == "__main__":
    main()
