"""One transcript, read once and in bounded memory as it grows: only lines that may prove something are decoded."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

import msgspec

from mailstore.files.lines import next_data
from mailstore.files.salvage import loads
from mailstore.files.whole import open_regular
from mailstore.records.message import Problem

BLOCK = 4 << 20
LONGEST = 64 << 20
"""Bytes; a longer line is not read, and reported."""
WITNESS = 64
HEAD = 1 << 16
FROM_END = 1 << 20
MOST_FROM_END = 64 << 20
"""Bytes from the end of a transcript that are read at most."""
UNREADABLE = (msgspec.DecodeError, RecursionError, ValueError)


class Reached(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far a transcript was read; `witness` are the bytes before that place, as Latin-1.

    `changed` is the file's modification time then, in nanoseconds.
    """

    file: str
    inode: int = 0
    offset: int = 0
    lines: int = 0
    witness: str = ""
    changed: int = 0


F = TypeVar("F")
T = TypeVar("T")


class Transcript(Generic[F]):
    """Yields the facts in the lines that were appended since the last time; a replaced file is read from its start."""

    marks: ClassVar[tuple[bytes, ...]]
    """Bytes of which every line with a fact has one: other lines are not decoded."""

    def __init__(self, path: Path, file: str, reached: Reached | None = None) -> None:
        self.path = path
        self.file = file
        """The transcript's name as it is shown."""
        self.reached = reached or Reached(file)
        self.problems: list[Problem] = []

    @abstractmethod
    def facts_in(self, line: bytes, offset: int) -> Iterable[F]:
        """Return what a line proves that has one of the marks. Raises ValueError for what is not such a line."""

    def marks_now(self) -> tuple[bytes, ...]:
        """Return the marks, which may depend on what was found before."""
        return self.marks

    def begin(self) -> None:
        """Forget what was found: the file was replaced."""
        self.problems = []

    def facts_at_end(self, fd: int, offset: int) -> list[F]:
        """Return what is known once the file was read up to an offset at which it was not before."""
        return []

    def read(self) -> list[F]:
        """Return the facts in the complete lines that were not read yet. Raises OSError and NotAFile."""
        fd = open_regular(self.path, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            stats = os.fstat(fd)
            had = self.reached
            if had.offset and not self._continues(fd, stats):
                had = Reached(self.file)
                self.begin()
            result: list[F] = []
            for start, end, block in _blocks(fd, had.offset):
                if not block:
                    self._report(start, had.lines, f"the line is longer than {LONGEST >> 20} MiB")
                for at, data in marked_lines(block, self.marks_now):
                    result += self._facts(data, start, at, block, had.lines)
                lines = had.lines + (block.count(b"\n") or 1)
                witness = os.pread(fd, WITNESS, max(0, end - WITNESS))[-(end - max(0, end - WITNESS)) :]
                had = Reached(self.file, stats.st_ino, end, lines, witness.decode("latin-1"))
            if had != self.reached:
                result += self.facts_at_end(fd, had.offset)
            self.reached = msgspec.structs.replace(had, changed=stats.st_mtime_ns)
            return result
        finally:
            os.close(fd)

    def _continues(self, fd: int, stats: os.stat_result) -> bool:
        had, witness = self.reached, self.reached.witness.encode("latin-1")
        return (
            had.inode == stats.st_ino
            and stats.st_size >= had.offset
            and os.pread(fd, len(witness), had.offset - len(witness)) == witness
        )

    def _facts(self, line: bytes, start: int, at: int, block: bytes, before: int) -> Iterable[F]:
        """Return what a line in a block proves; `before` is how many lines precede the block."""
        try:
            return self.facts_in(line, start + at)
        except ValueError as error:
            self._report(start + at, before + block.count(b"\n", 0, at), f"the line is {error}")
            return ()

    def _report(self, offset: int, before: int, reason: str) -> None:
        self.problems.append(Problem(self.file, before + 1, offset, reason))


def _blocks(fd: int, offset: int) -> Iterator[tuple[int, int, bytes]]:
    """Yield a file from an offset in blocks of whole lines with where they begin and end.

    The block of a line that is too long is empty.
    """
    pieces: list[bytes] = []
    size = skipped = 0
    while piece := os.pread(fd, BLOCK, offset + skipped + size):
        if skipped and (end := piece.find(b"\n") + 1):
            stop = offset + skipped + end
            yield offset, stop, b""
            offset, skipped = stop, 0
        elif skipped:
            skipped = next_data(fd, offset + skipped + len(piece)) - offset
        elif cut := piece.rfind(b"\n") + 1:
            block = b"".join((*pieces, piece[:cut]))
            yield offset, offset + len(block), block
            offset += len(block)
            pieces, size = [], 0
        else:
            pieces.append(piece)
            size += len(piece)
            if size > LONGEST:
                skipped, size, pieces = size, 0, []


def marked_lines(block: bytes, marks: Callable[[], Iterable[bytes]]) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a block that contain one of the marks, with their offsets; they are asked for each time."""
    places: dict[bytes, int] = {}
    at = 0
    while True:
        nearest = len(block)
        for mark in marks():
            if places.get(mark, -1) < at:
                place = block.find(mark, at)
                places[mark] = place if place >= 0 else len(block)
            nearest = min(nearest, places[mark])
        if nearest == len(block):
            return
        start, end = block.rfind(b"\n", 0, nearest) + 1, block.find(b"\n", nearest)
        yield start, block[start:end]
        at = end + 1


def lines_from_end(fd: int, size: int) -> Iterator[bytes | None]:
    """Yield the lines of a file of so many bytes, the last first; None where too much was read."""
    pieces, end = [b""], size  # of the line that begins further up, the last one first
    while end > 0:
        start = max(0, end - FROM_END)
        if size - start > MOST_FROM_END:
            yield None
            return
        first, *lines = os.pread(fd, end - start, start).split(b"\n")
        if lines:
            yield b"".join((lines.pop(), *reversed(pieces)))
            yield from reversed(lines)
            pieces = []
        pieces.append(first)
        end = start
    yield b"".join(reversed(pieces))


def line_of(decoder: msgspec.json.Decoder[T], data: bytes) -> T:
    """Return a line, with replacements for bytes and halves of characters that are not text. Raises ValueError.

    Programs cut texts wherever they are long enough, also within a character.
    """
    try:
        return decoder.decode(data)
    except UNREADABLE:
        try:
            return decoder.decode(msgspec.json.encode(loads(data)))
        except (*UNREADABLE, MemoryError) as error:
            raise ValueError("invalid JSON") from error
