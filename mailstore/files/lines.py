"""A file to which lines are appended, read piece by piece and never beyond what is complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["BIG_BLOCK", "BLOCK", "Cutter", "Line", "LineFile", "Replaced"]

BLOCK = 1 << 16
"""Bytes read at a time while following: a bigger buffer costs more than the line that came."""
BIG_BLOCK = 1 << 20
"""Bytes read at a time while reading all of a file."""
WITNESS = 64
"""Bytes before the place where reading stopped that must be the same when it goes on."""

Stamp = tuple[int, int, int, int]


class Line(NamedTuple):
    """One line without its newline, and the byte at which it begins."""

    offset: int
    data: bytes


class Replaced(Exception):
    """The file is another one, or no longer holds what was read of it; the text says how."""


class Cutter:
    """Cuts consecutive blocks of bytes into lines; an unterminated end is held until its newline comes.

    Lines are bounded by memory alone.
    """

    def __init__(self, offset: int = 0) -> None:
        self.offset = offset
        """The byte after the last one that was taken in."""
        self.lines = 0
        """How many lines were cut off, and thus stand before what is held."""
        self.witness = b""
        """The last bytes that were taken in."""
        self._held: list[bytes] = []
        self._held_at = offset

    @property
    def held(self) -> Line | None:
        """The unterminated end of what was taken in, if there is one."""
        return Line(self._held_at, b"".join(self._held)) if self._held else None

    def take(self, block: bytes) -> list[Line]:
        """Take the next block in; return the lines that it completes."""
        at = self._held_at
        pieces = block.split(b"\n")
        self.offset += len(block)
        self.witness = (self.witness + block)[-WITNESS:] if len(block) < WITNESS else block[-WITNESS:]
        if len(pieces) > 1 and self._held:
            pieces[0] = b"".join((*self._held, pieces[0]))
            self._held = []
        rest = pieces.pop()
        lines: list[Line] = []
        for piece in pieces:
            lines.append(Line(at, piece))
            at += len(piece) + 1
        if rest:
            self._held.append(rest)
        self._held_at = at
        self.lines += len(lines)
        return lines


class LineFile:
    """Reads the lines of a file once each, in order, from where it stopped the last time.

    The file may be missing, and may appear later. What was replaced, cut or rewritten is noticed by its
    inode, its size and the last bytes that were read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name
        self.cutter = Cutter()
        self._identity: tuple[int, int] | None = None
        self._is_begun = False
        self._stamp: Stamp | None = None

    def read(self, until: int | None = None, block: int = BLOCK) -> Iterator[list[Line]]:
        """Yield the complete lines that came since the last call, in blocks; up to an offset if one is given.

        Raises Replaced when the file is no longer the one that was read, and OSError.
        """
        fd = self._open()
        if fd is None:
            return
        cutter = self.cutter
        try:
            facts = os.fstat(fd)
            self._compare(fd, facts)
            while until is None or cutter.offset < until:
                size = block if until is None else min(block, until - cutter.offset)
                data = os.pread(fd, size, cutter.offset)
                if not data:
                    break
                if lines := cutter.take(data):
                    yield lines
            self._stamp = _stamp(facts)
        finally:
            os.close(fd)

    def part(self, size: int) -> LineFile:
        """Go on about `size` bytes before the end of the file; return a reader for what stands before.

        The place is the beginning of a line, and all of a short file is left to this reader: then the
        other has nothing to read. Call it before anything was read. Raises OSError.
        """
        before = LineFile(self.path)
        fd = self._open()
        if fd is not None:
            try:
                facts = os.fstat(fd)
                self._identity = before._identity = facts.st_dev, facts.st_ino
                self._is_begun = before._is_begun = facts.st_size > 0
                self.cutter = Cutter(_line_start(fd, facts.st_size - size) if facts.st_size > size else 0)
            finally:
                os.close(fd)
        return before

    def _open(self) -> int | None:
        """Open the file if it may hold anything new."""
        try:
            if self._stamp is not None and _stamp(self.path.stat()) == self._stamp:
                return None
            return os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            if self._is_begun:
                raise Replaced(f"{self.name} is gone") from None
            return None

    def _compare(self, fd: int, facts: os.stat_result) -> None:
        """Make sure that what was read still stands where it was."""
        witness, offset = self.cutter.witness, self.cutter.offset
        identity = facts.st_dev, facts.st_ino
        if self._is_begun and identity != self._identity:
            raise Replaced(f"{self.name} was replaced")
        if facts.st_size < offset:
            raise Replaced(f"{self.name} was cut")
        if witness and os.pread(fd, len(witness), offset - len(witness)) != witness:
            raise Replaced(f"{self.name} was rewritten")
        self._identity = identity
        self._is_begun = self._is_begun or facts.st_size > 0


def _stamp(facts: os.stat_result) -> Stamp:
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns


def _line_start(fd: int, at: int) -> int:
    """Return where the first line begins that begins after an offset; 0 when none does."""
    while data := os.pread(fd, BLOCK, at):
        newline = data.find(b"\n")
        if newline >= 0:
            return at + newline + 1
        at += len(data)
    return 0
