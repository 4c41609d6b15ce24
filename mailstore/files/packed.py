"""The lines of a gzip file."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from mailstore.files.lines import BIG_BLOCK, Cutter, Line, Replaced
from mailstore.files.whole import open_binary


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
