"""One transcript, read once and in bounded memory as it grows: only lines that may hold a message are decoded."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from mailstore.files.lines import next_data
from mailstore.files.whole import open_regular
from mailstore.kinds.claude_teams.facts import MARKS, Fact, TranscriptOrigin, fact_in, is_answer
from mailstore.records.message import Problem

BLOCK = 4 << 20
LONGEST = 64 << 20
"""Bytes; a longer line is not read, and reported."""
WITNESS = 64
HEAD = 1 << 16
ANSWER = b'"type":"assistant"'


class _Link(msgspec.Struct):
    uuid: str = ""
    timestamp: str = ""
    parent: str | None = msgspec.field(default=None, name="parentUuid")


LINK = msgspec.json.Decoder(_Link)


class Reached(msgspec.Struct, frozen=True):
    """How far a transcript was read; `witness` are the bytes before that place, as Latin-1."""

    file: str
    inode: int = 0
    offset: int = 0
    lines: int = 0
    witness: str = ""


class Transcript:
    """Yields the facts in the lines that were appended since the last time; a replaced file is read from its start."""

    def __init__(self, path: Path, origin: TranscriptOrigin, reached: Reached | None = None) -> None:
        self.path = path
        self.origin = origin
        self.reached = reached or Reached(origin.file)
        self.problems: list[Problem] = []
        self._unanswered: list[Fact] = []

    def wait_for_answers(self, facts: Sequence[Fact]) -> None:
        """Take in what was given to the model and not answered when the file was read last."""
        self._unanswered += facts

    def read(self) -> list[Fact]:
        """Return the facts in the complete lines that were not read yet. Raises OSError and NotAFile."""
        fd = open_regular(self.path, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            facts = os.fstat(fd)
            had = self.reached
            if had.offset and not self._continues(fd, facts):
                had = Reached(self.origin.file)
                self.problems, self._unanswered = [], []
            found: list[Fact] = []
            for start, end, block in _blocks(fd, had.offset):
                if not block:
                    self._report(start, had.lines, f"the line is longer than {LONGEST >> 20} MiB")
                for at, data in marked_lines(block, self._marks):
                    found += self._facts(data, start, at, block, had.lines)
                lines = had.lines + (block.count(b"\n") or 1)
                witness = os.pread(fd, WITNESS, max(0, end - WITNESS))[-(end - max(0, end - WITNESS)) :]
                had = Reached(self.origin.file, facts.st_ino, end, lines, witness.decode("latin-1"))
            if had != self.reached and not self.origin.owner and self.origin.agent:
                found += link_in(fd, had.offset, self.origin)
            self.reached = had
            return found
        finally:
            os.close(fd)

    def _marks(self) -> tuple[bytes, ...]:
        return (*MARKS, ANSWER) if self._unanswered else MARKS

    def _continues(self, fd: int, facts: os.stat_result) -> bool:
        had, witness = self.reached, self.reached.witness.encode("latin-1")
        return (
            had.inode == facts.st_ino
            and facts.st_size >= had.offset
            and os.pread(fd, len(witness), had.offset - len(witness)) == witness
        )

    def _facts(self, line: bytes, start: int, at: int, block: bytes, before: int) -> Iterator[Fact]:
        """Yield what a line in a block proves, and what it answers; `before` is how many lines precede the block."""
        if self._unanswered and ANSWER in line and (time := is_answer(line)):
            for fact in self._unanswered:
                yield msgspec.structs.replace(fact, answered=time)
            self._unanswered = []
        if not any(mark in line for mark in MARKS):
            return
        try:
            found = fact_in(line, start + at, self.origin)
        except ValueError as error:
            self._report(start + at, before + block.count(b"\n", 0, at), f"the line is {error}")
            return
        self._unanswered += (fact for fact in found if fact.kind in ("turn", "entry"))
        yield from found

    def _report(self, offset: int, before: int, reason: str) -> None:
        self.problems.append(Problem(self.origin.file, before + 1, offset, reason))


def link_in(fd: int, end: int, origin: TranscriptOrigin) -> list[Fact]:
    """Return which transcript a nameless one continues: releases that write no names begin a new one for each turn."""
    first = os.pread(fd, HEAD, 0).partition(b"\n")[0]
    last = os.pread(fd, HEAD, max(0, end - HEAD))[: min(HEAD, end)].rstrip(b"\n").rpartition(b"\n")[2]
    try:
        before, after = LINK.decode(first), LINK.decode(last)
    except (msgspec.DecodeError, RecursionError):
        return []
    if not after.uuid:
        return []
    owner = f"#{origin.agent}"
    where = (origin.file, 0, len(first), origin.session, owner, after.timestamp)
    return [Fact("link", after.uuid, *where, text=before.parent or "")]


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
