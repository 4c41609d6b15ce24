"""Read the lines of files: of one that grows, in blocks and never past its last complete line, and of a gzip file."""

from __future__ import annotations

import errno
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import msgspec

from mailstore.errors import reason_of
from mailstore.files.whole import LARGEST, NotAFile, open_binary, open_regular

BLOCK = 1 << 16
"""Bytes per read while following: a larger buffer costs more than the new line."""
BIG_BLOCK = 1 << 20
"""Bytes per read while reading all of a file."""
PIECE = 1 << 20
STRETCH = 1 << 24
"""Bytes per checksum; several are computed at once."""
HANDS = 2
HEAD = 1 << 12
"""Bytes that are kept of a line that is too long."""
TOO_LONG = f"longer than {LARGEST >> 20} MiB"
WITNESS = 64
"""Bytes before the offset where reading stopped that must be unchanged when it resumes."""

Stamp = tuple[int, int, int, int]
Facts = tuple[int, int, int, int, int]


class Line(NamedTuple):
    """One line without its newline, and its byte offset."""

    offset: int
    data: bytes


class LongLine(Line):
    """The beginning of a line that is longer than any record, made invalid."""

    __slots__ = ()


class ChecksummedSpan(msgspec.Struct, frozen=True):
    """A stretch of a file's bytes: where it begins and ends, and a checksum of it."""

    start: int
    end: int
    checksum: int


class LinePlace(msgspec.Struct, frozen=True):
    """How far a file was read and its state then: enough to resume, and to detect that it was replaced."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int
    offset: int
    lines: int
    witness: bytes
    summed: list[ChecksummedSpan]
    """Spans that together cover all bytes before the offset."""


class Replaced(Exception):
    """The file was replaced, or no longer holds what was read of it; the message says how."""


class Cutter:
    """Splits consecutive blocks of bytes into lines; an unterminated end is held until its newline comes.

    Of a line that is too long only the beginning is held.
    """

    def __init__(self, offset: int = 0) -> None:
        self.offset = offset
        """The offset after the last byte taken in."""
        self.lines = 0
        """The number of lines returned so far."""
        self.witness = b""
        """The last bytes taken in."""
        self.summed: list[ChecksummedSpan] = []
        """The checksums of the bytes before."""
        self.is_long = False
        """Whether the unterminated end is too long already."""
        self.skipped = 0
        """Bytes in holes that were not read."""
        self._held: list[bytes] = []
        self._held_at = offset

    @property
    def held(self) -> Line | None:
        """The unterminated end of the bytes taken in, if there is one."""
        return Line(self._held_at, b"".join(self._held)) if self._held else None

    @property
    def complete(self) -> int:
        """The offset after the last complete line."""
        return self._held_at

    def take(self, block: bytes) -> list[Line]:
        """Take in the next block; return the lines it completes."""
        at = self._held_at
        pieces = block.split(b"\n")
        self.offset += len(block)
        self.witness = (self.witness + block)[-WITNESS:] if len(block) < WITNESS else block[-WITNESS:]
        lines: list[Line] = []
        if self.is_long:
            if len(pieces) == 1:
                return []
            lines.append(LongLine(at, self._held[0]))
            at = self.offset - len(block) + len(pieces.pop(0)) + 1
            self._held, self.is_long = [], False
        elif len(pieces) > 1 and self._held:
            pieces[0] = b"".join((*self._held, pieces[0]))
            self._held = []
        rest = pieces.pop()
        for piece in pieces:
            lines.append(Line(at, piece))
            at += len(piece) + 1
        if rest:
            self._held.append(rest)
            if self.offset - at > LARGEST:
                self._held, self.is_long = [b"".join(self._held)[:HEAD] + b"\x00"], True
        self._held_at = at
        self.lines += len(lines)
        return lines

    def skip(self, fd: int, until: int | None) -> None:
        """Go on behind the hole in an open file in which a line stands that is too long."""
        end = next_data(fd, self.offset)
        end = end if until is None else min(end, until)
        if end > self.offset:
            self.skipped += end - self.offset
            self.offset = end
            self.witness = os.pread(fd, WITNESS, end - WITNESS)


class LineFile:
    """Reads each line of a file once, in order: `for lines in LineFile(path).read()`, and again for what came since.

    The file may be missing at first. A replaced, truncated or rewritten file is detected by its inode, its size and
    the last bytes that were read. One of several that `is_optional` counts as missing where it is no regular file.
    """

    def __init__(self, path: Path, *, is_optional: bool = False) -> None:
        self.path = path
        self.name = path.name
        self.cutter = Cutter()
        self.refused = ""
        """Why an optional file is not read."""
        self._is_optional = is_optional
        self._identity: tuple[int, int] | None = None
        self._is_begun = False
        self._stamp: Stamp | None = None
        self._facts: Facts | None = None

    def read(self, until: int | None = None, block: int = BLOCK) -> Iterator[list[Line]]:
        """Yield the complete lines that came since the last call, in blocks; up to an offset if one is given.

        Raises Replaced if the file is no longer the one that was read, and OSError.
        """
        with self.opened() as fd:
            if fd is not None:
                yield from self._lines(fd, until, block)

    def _lines(self, fd: int, until: int | None, block: int) -> Iterator[list[Line]]:
        cutter = self.cutter
        while until is None or cutter.offset < until:
            size = block if until is None else min(block, until - cutter.offset)
            data = os.pread(fd, size, cutter.offset)
            if not data:
                break
            if lines := cutter.take(data):
                yield lines
            if cutter.is_long:
                cutter.skip(fd, until)

    def took(self, fd: int, lines: int, summed: list[ChecksummedSpan]) -> Iterator[list[Line]]:
        """Resume after lines that were read elsewhere, given their number; yield the lines that follow."""
        cutter = self.cutter = Cutter(summed[-1].end if summed else 0)
        cutter.lines, cutter.summed = lines, summed
        cutter.witness = os.pread(fd, min(cutter.offset, WITNESS), max(0, cutter.offset - WITNESS))
        yield from self._lines(fd, None, BIG_BLOCK)

    def place(self) -> LinePlace | None:
        """Return how far the file was read, up to its last complete line; None if it is empty. Raises OSError."""
        cutter = self.cutter
        if self._facts is None or not self._is_begun:
            return None
        if cutter.skipped:
            raise OSError(errno.EFBIG, f"{self.name} has long holes")
        end = cutter.complete
        known = cutter.summed[-1].end if cutter.summed else 0
        summed = [*cutter.summed, *_summed(self.path, known, end)]
        witness = cutter.witness
        if end != cutter.offset:
            with open_binary(self.path) as file:
                file.seek(max(0, end - WITNESS))
                witness = file.read(min(end, WITNESS))
        return LinePlace(*self._facts, end, cutter.lines, witness, summed)

    def resume(self, place: LinePlace) -> bool:
        """Resume where an earlier reading stopped; say whether it is unchanged since. Raises Replaced and OSError."""
        self.cutter = Cutter(place.offset)
        self.cutter.lines, self.cutter.witness = place.lines, place.witness
        self.cutter.summed = place.summed
        self._identity, self._is_begun = (place.device, place.inode), True
        with self.opened():
            self._stamp = None
        self._stamp = None
        return _facts(self.path.stat()) == (place.device, place.inode, place.size, place.modified, place.changed)

    def holds_still(self, place: LinePlace) -> bool:
        """Say whether everything that was read then is unchanged; reads all of it. Raises OSError."""
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(HANDS) as pool:
            return all(pool.map(partial(_holds, self.path), place.summed))

    @contextmanager
    def opened(self) -> Iterator[int | None]:
        """Open the file if it may hold anything new, and check that what was read is unchanged.

        Raises Replaced and OSError.
        """
        fd = self._open()
        if fd is None:
            yield None
            return
        try:
            facts = os.fstat(fd)
            self._compare(fd, facts)
            yield fd
            self._stamp, self._facts = _stamp(facts), _facts(facts)
        finally:
            os.close(fd)

    def part(self, size: int) -> LineFile:
        """Start about `size` bytes before the end of the file; return a reader for everything before that.

        It starts at the beginning of a line. Of a short file it reads everything, and the other reader nothing. Call
        it before anything was read. Raises OSError.
        """
        before = LineFile(self.path, is_optional=self._is_optional)
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
            return open_regular(self.path)
        except (FileNotFoundError, NotADirectoryError):
            if self._is_begun:
                raise Replaced(f"{self.name} was deleted") from None
            return None
        except NotAFile as error:
            if self._is_begun:
                raise Replaced(f"{self.name} was replaced") from None
            if not self._is_optional:
                raise
            self.refused = reason_of(error)
            return None

    def _compare(self, fd: int, facts: os.stat_result) -> None:
        """Check that what was read is unchanged. Raises Replaced."""
        witness, offset = self.cutter.witness, self.cutter.offset
        identity = facts.st_dev, facts.st_ino
        if self._is_begun and identity != self._identity:
            raise Replaced(f"{self.name} was replaced")
        if facts.st_size < offset:
            raise Replaced(f"{self.name} was truncated")
        if witness and os.pread(fd, len(witness), offset - len(witness)) != witness:
            raise Replaced(f"{self.name} was rewritten")
        self._identity = identity
        self._is_begun = self._is_begun or facts.st_size > 0


def _facts(facts: os.stat_result) -> Facts:
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns


def _summed(path: Path, start: int, end: int) -> Iterator[ChecksummedSpan]:
    """Yield checksums of a file's bytes between two offsets. Raises OSError."""
    while start < end:
        stop = min(end, start + STRETCH)
        yield ChecksummedSpan(start, stop, _checksum(path, start, stop))
        start = stop


def _holds(path: Path, summed: ChecksummedSpan) -> bool:
    return _checksum(path, summed.start, summed.end) == summed.checksum


def _checksum(path: Path, start: int, end: int) -> int:
    """Return a checksum of a file's bytes between two offsets, read in pieces that fit a cache. Raises OSError."""
    checksum, buffer = 0, memoryview(bytearray(min(PIECE, end - start)))
    fd = open_regular(path)
    try:
        while start < end and (size := os.preadv(fd, [buffer[: end - start]], start)):
            checksum = crc32(buffer[:size], checksum)
            start += size
    finally:
        os.close(fd)
    return checksum


def has_long_hole(fd: int) -> bool:
    """Say whether an open file has a hole that is longer than any record."""
    facts = os.fstat(fd)
    end = 0
    while facts.st_size - facts.st_blocks * 512 > LARGEST and end < facts.st_size:
        begin = _sought(fd, end, "SEEK_HOLE", facts.st_size)
        end = next_data(fd, begin)
        if end - begin > LARGEST:
            return True
    return False


def next_data(fd: int, at: int) -> int:
    """Return the offset behind the hole at an offset; the offset itself where there is no hole."""
    size = os.fstat(fd).st_size
    return _sought(fd, at, "SEEK_DATA", size) if at < size else at


def _sought(fd: int, at: int, how: str, size: int) -> int:
    """Return what a file system tells of holes."""
    try:
        return os.lseek(fd, at, getattr(os, how))
    except (AttributeError, OSError) as error:  # none behind it; or a system that doesn't know them
        return size if isinstance(error, OSError) and error.errno == errno.ENXIO else at if how == "SEEK_DATA" else size


def _stamp(facts: os.stat_result) -> Stamp:
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns


def _line_start(fd: int, at: int) -> int:
    """Return the offset of the first line that begins after an offset; 0 if there is none."""
    while data := os.pread(fd, BLOCK, at):
        newline = data.find(b"\n")
        if newline >= 0:
            return at + newline + 1
        at += len(data)
    return 0


class Broken(Exception):
    """A file can't be decompressed to its end; the message says why."""


class PackedPlace(msgspec.Struct, frozen=True):
    """How far a gzip file was read, and its state then."""

    stamp: tuple[int, int, int, int]
    offset: int
    lines: int
    witness: bytes


class PackedFile:
    """Reads each line of a gzip file once; offsets count decompressed bytes.

    Members that are appended are read later. Once a file can be decompressed to its end, a last line without a newline
    counts as complete.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cutter = Cutter()
        self._stamp: tuple[int, int, int, int] | None = None

    def place(self) -> PackedPlace | None:
        """Return how far the file was read; None if it was not."""
        cutter = self.cutter
        return None if self._stamp is None else PackedPlace(self._stamp, cutter.offset, cutter.lines, cutter.witness)

    def resume(self, place: PackedPlace) -> None:
        """Resume where an earlier reading stopped; the next `read` finds what changed since."""
        self._stamp = place.stamp
        self.cutter = Cutter(place.offset)
        self.cutter.lines, self.cutter.witness = place.lines, place.witness

    def read(self) -> Iterator[list[Line]]:
        """Yield the lines that came since the last call, in blocks.

        Raises Replaced if the file was replaced, Broken if it can't be decompressed, and OSError.
        """
        import gzip

        facts = self.path.stat()
        stamp = (facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns)
        if stamp == self._stamp:
            return
        if self._stamp is not None and (stamp[:2] != self._stamp[:2] or stamp[2] < self._stamp[2]):
            raise Replaced(f"{self.path.name} was replaced")
        self._stamp = stamp
        cutter = self.cutter
        try:
            with open_binary(self.path) as packed, gzip.open(packed) as unpacked:
                unpacked.seek(cutter.offset - len(cutter.witness))
                if unpacked.read(len(cutter.witness)) != cutter.witness:
                    raise Replaced(f"{self.path.name} was rewritten")
                while data := unpacked.read1(BIG_BLOCK):
                    if lines := cutter.take(data):
                        yield lines
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise Broken(f"can be decompressed only to byte {cutter.offset:,}: {error}") from error
        if cutter.held:
            yield cutter.take(b"\n")


def read_packed(path: Path, offset: int, length: int) -> bytes:
    """Return part of a gzip file's decompressed bytes. Raises Broken and OSError."""
    import gzip

    try:
        with open_binary(path) as packed, gzip.open(packed) as unpacked:
            unpacked.seek(offset)
            return unpacked.read(length)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise Broken(f"can't be decompressed: {error}") from error
