"""A file to which lines are appended, read piece by piece and never beyond what is complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["Line", "LineFile", "Replaced"]

BLOCK = 1 << 16
BIG_BLOCK = 1 << 20


class Line(NamedTuple):
    """One line without its newline, and where it begins."""

    offset: int
    data: bytes


class Replaced(Exception):
    """The file is another one, or shorter than what was read of it."""


class LineFile:
    """Reads the lines of a file once each, in order, from where it stopped the last time.

    An unterminated line at the end is held back until its newline comes. The file may be missing, and
    may appear later. Lines are bounded by memory alone.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.offset = 0
        self.lines = 0
        self._held = b""
        self._held_at = 0
        self._inode: int | None = None

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def held(self) -> Line | None:
        """The unterminated end of what was read, if there is one."""
        return Line(self._held_at, self._held) if self._held else None

    def size(self) -> int:
        """Return the file's size in bytes, 0 when it is missing."""
        try:
            return self.path.stat().st_size
        except (FileNotFoundError, NotADirectoryError):
            return 0

    def read(self, until: int | None = None, block: int = BLOCK) -> Iterator[list[Line]]:
        """Yield the complete lines that came since the last call, in blocks; up to an offset if one is given.

        Raises Replaced when the file is no longer the one that was read, and OSError.
        """
        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            if self._inode is not None and self.offset:
                raise Replaced(f"{self.name} is gone") from None
            return
        try:
            facts = os.fstat(fd)
            if self._inode is not None and facts.st_ino != self._inode:
                raise Replaced(f"{self.name} was replaced")
            if facts.st_size < self.offset:
                raise Replaced(f"{self.name} was cut")
            self._inode = facts.st_ino
            while until is None or self.offset < until:
                size = block if until is None else min(block, until - self.offset)
                data = os.pread(fd, size, self.offset)
                if not data:
                    return
                lines = self._take(data)
                if lines:
                    yield lines
        finally:
            os.close(fd)

    def _take(self, data: bytes) -> list[Line]:
        start = self.offset
        self.offset += len(data)
        if b"\n" not in data:
            if not self._held:
                self._held_at = start
            self._held += data
            return []
        pieces = data.split(b"\n")
        first = self._held + pieces[0]
        at = self._held_at if self._held else start
        lines = [Line(at, first)]
        at = start + len(pieces[0]) + 1
        for piece in pieces[1:-1]:
            lines.append(Line(at, piece))
            at += len(piece) + 1
        self._held, self._held_at = pieces[-1], at
        self.lines += len(lines)
        return lines

    def tail_start(self, size: int) -> int:
        """Return where a line begins, about `size` bytes before the end: 0 for a short file."""
        total = self.size()
        if total <= size:
            return 0
        with self.path.open("rb") as file:
            at = total - size
            while at < total:
                file.seek(at)
                data = file.read(BLOCK)
                if not data:
                    break
                newline = data.find(b"\n")
                if newline >= 0:
                    return at + newline + 1
                at += len(data)
        return 0

    def skip_to(self, offset: int, lines: int = 0) -> None:
        """Go on reading at the beginning of a line; `lines` are those before it."""
        self.offset = offset
        self.lines = lines
        self._held = b""
        if self._inode is None:
            try:
                self._inode = self.path.stat().st_ino
            except (FileNotFoundError, NotADirectoryError):
                self._inode = None
