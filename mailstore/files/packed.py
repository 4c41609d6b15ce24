"""The lines of a gzip file."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from mailstore.files.lines import BIG_BLOCK, Cutter, Line, Replaced

__all__ = ["Broken", "PackedFile", "PackedPlace", "read_packed"]


class Broken(Exception):
    """A file can be unpacked only so far, or not at all; the text says why."""


class PackedPlace(msgspec.Struct, frozen=True):
    """How far a packed file was read, and what it was then."""

    stamp: tuple[int, int, int, int]
    offset: int
    lines: int
    witness: bytes


class PackedFile:
    """Reads the lines of a gzip file once each; offsets count the unpacked bytes.

    A file that grows by another member is read on; an end without a newline ends the last line, once
    the file can be unpacked to its end.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cutter = Cutter()
        self._stamp: tuple[int, int, int, int] | None = None

    def place(self) -> PackedPlace | None:
        """Return how far the file was read, None where it was not."""
        cutter = self.cutter
        return None if self._stamp is None else PackedPlace(self._stamp, cutter.offset, cutter.lines, cutter.witness)

    def resume(self, place: PackedPlace) -> None:
        """Go on where an earlier reading stopped; what has changed since is found by the next look."""
        self._stamp = place.stamp
        self.cutter = Cutter(place.offset)
        self.cutter.lines, self.cutter.witness = place.lines, place.witness

    def read(self) -> Iterator[list[Line]]:
        """Yield the lines that came since the last call, in blocks.

        Raises Replaced when the file is another one, Broken when it can't be unpacked, and OSError.
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
            with gzip.open(self.path) as unpacked:
                unpacked.seek(cutter.offset - len(cutter.witness))
                if unpacked.read(len(cutter.witness)) != cutter.witness:
                    raise Replaced(f"{self.path.name} was rewritten")
                while data := unpacked.read1(BIG_BLOCK):
                    if lines := cutter.take(data):
                        yield lines
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise Broken(f"unpacks only to byte {cutter.offset:,}: {error}") from error
        if cutter.held:
            yield cutter.take(b"\n")


def read_packed(path: Path, offset: int, length: int) -> bytes:
    """Return some of a gzip file's unpacked bytes. Raises Broken and OSError."""
    import gzip

    try:
        with gzip.open(path) as unpacked:
            unpacked.seek(offset)
            return unpacked.read(length)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise Broken(f"can't be unpacked: {error}") from error
