"""Find the lines of a file that may contain a word, from its end; as a program, in a part of a large file.

The program runs without site packages, so this module imports the standard library only.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    SearchTerm = tuple[bytes, tuple[bytes, ...], bool]
    """The fields of a `SearchPattern`, as plain values."""
    Found = tuple[int, bytes]
    """The offset of a line, and the line."""

BLOCK = 1 << 16
LONGEST = 1 << 26
"""Bytes; a longer line is no record."""
JUMP = 1 << 28
BEAT_BYTES = 1 << 24
BEAT, END = -1, -2
"""Instead of a line's length: a heartbeat, and the end (minus the flags of what was met)."""
ESCAPES, UNUSUAL = 1, 2
"""Flags for what a file may be known not to contain: escaped letters, and lines with a derived id or text."""

ESCAPE = re.compile(
    rb"\\u(?:00(?:0[89acd]|20|2[de]|3[0-9]|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9a]|df)"
    rb"|01(?:30|49|7f|f0)|1e9[6-9ae]|212a|fb0[0-6])"
)
"""An escaped character of a pattern, or one that casefold turns into such; and escaped control characters, which are
reformatted in a body that is an object."""
CONTROL = re.compile(rb"\\u000[89acd]")
ANY_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)")
KEY_ENDS = re.compile(rb'[a-z0-9_]*"\s*:')
UNSEARCHED = re.compile(rb'"(?:timestamp|ts|time|date|thread|in_reply_to|reply_to)"\s*:\s*\Z')
NULL = re.compile(rb'[^\\]"\s*:\s*\Z')
LOOK_BACK = 40
ID_FIRST = re.compile(rb'\{"id": ?"[^"]')
ID = re.compile(rb'"id"\s*:\s*"[^"]')
NO_TEXT = re.compile(rb':(?!\s*(?:"|null\b|\[\s*(?:"(?:[^"\\]|\\.)*"\s*,?\s*)*\]))')
TEXTS = re.compile(rb'"(?:content|body|text|message|sender|from|from_agent|recipient|to)"\s*\Z')


def _opened(path: str) -> int:
    """Open a file that the caller found to be a regular one; nothing is waited for if it no longer is."""
    return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)


def blocks(fd: int, begin: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Yield complete lines in blocks with their offsets, last first; both offsets are starts of lines.

    A line that is longer than any record is left out.
    """
    size, is_long = BLOCK, False
    while end > begin:
        at = max(begin, end - size)
        data = os.pread(fd, end - at, at)
        if len(data) < end - at:
            raise OSError("the file was truncated")
        if is_long:
            # its beginning is sought
            end = at + data.rfind(b"\n") + 1
            is_long = end == at and at > begin
            if is_long and end - begin > JUMP and _is_hole(fd, end - JUMP, end):
                end -= JUMP
            continue
        first = data.find(b"\n") + 1 if at > begin else 0
        if at > begin and first in (0, len(data)):
            size *= 2
            if size > LONGEST:
                end, size, is_long = at, BLOCK, True
            continue
        yield at + first, data[first:] if first else data
        end, size = at + first, BLOCK


def _is_hole(fd: int, begin: int, end: int) -> bool:
    try:
        return os.lseek(fd, begin, os.SEEK_DATA) >= end
    except (AttributeError, OSError):  # the system knows no holes
        return False


def packed_blocks(path: str) -> Iterator[tuple[int, bytes]]:
    """Yield the complete lines of a gzip file in blocks with their offsets, in order, as far as it unpacks."""
    import gzip
    import zlib

    at, rest = 0, b""
    fd = _opened(path)
    with os.fdopen(fd, "rb") as packed, gzip.open(packed) as unpacked, suppress(gzip.BadGzipFile, EOFError, zlib.error):
        while data := rest + unpacked.read1(BLOCK):
            cut = data.rfind(b"\n") + 1
            if not cut and (len(data) == len(rest) or len(data) > LONGEST):
                break
            yield at, data[:cut]
            at, rest = at + cut, data[cut:]
    yield at, rest


class LineFilter:
    """Select the lines that may contain one of some patterns."""

    def __init__(self, sought: list[SearchTerm], free_of: int = 0) -> None:
        self._needles = [pattern for pattern, _, _ in sought]
        self._specials = {special for _, specials, _ in sought for special in specials}
        is_made = any(is_made for _, _, is_made in sought)
        self.looks_for = (ESCAPES | (UNUSUAL if is_made else 0)) & ~free_of
        self.met = 0

    def keep(self, at: int, data: bytes) -> list[Found]:
        """Return the matching lines of a block with their offsets, last first."""
        low = data.lower()
        kept = set(self._plainly(low))
        kept.update(start for start in self._odd(low) if start not in kept and self._holds(_line(data, start)))
        if self.looks_for & UNUSUAL and (unusual := set(_unusual(low))):
            self.met |= UNUSUAL
            kept |= unusual
        return [(at + start, _line(data, start)) for start in sorted(kept, reverse=True)]

    def _plainly(self, low: bytes) -> Iterator[int]:
        """Yield the starts of lines that contain a pattern in a searched value."""
        for pattern in self._needles:
            hit = low.find(pattern)
            while hit >= 0:
                start = low.rfind(b"\n", 0, hit) + 1
                end = low.find(b"\n", hit)
                end = end if end >= 0 else len(low)
                while 0 <= hit < end and _is_beside(low, start, hit, pattern):
                    hit = low.find(pattern, hit + 1, end)
                if hit >= 0 or low.find(b"{", low.find(b"{", start, end) + 1, end) >= 0:
                    yield start
                hit = low.find(pattern, end)

    def _odd(self, low: bytes) -> Iterator[int]:
        """Yield the starts of lines that must be decoded to tell."""
        if self.looks_for & ESCAPES:
            for match in ESCAPE.finditer(low):
                self.met |= ESCAPES
                yield low.rfind(b"\n", 0, match.start()) + 1
        if self._specials and not low.isascii():
            for special in self._specials:
                hit = low.find(special)
                while hit >= 0:
                    yield low.rfind(b"\n", 0, hit) + 1
                    hit = low.find(special, hit + 1)

    def _holds(self, line: bytes) -> bool:
        if CONTROL.search(line.lower()):
            return True
        text = ANY_ESCAPE.sub(_unescaped, line.decode("utf-8", "replace")).casefold()
        return any(pattern.decode() in text for pattern in self._needles)


def _unescaped(match: re.Match[str]) -> str:
    code = match.group(1)
    return chr(int(code, 16)) if code else match.group()[1]


def _line(data: bytes, start: int) -> bytes:
    end = data.find(b"\n", start)
    return data[start:end] if end >= 0 else data[start:]


def _is_beside(low: bytes, start: int, hit: int, pattern: bytes) -> bool:
    """Return whether a hit is in a field's name or in a value that isn't searched."""
    if KEY_ENDS.match(low, hit + len(pattern)):
        return True
    quote = low.rfind(b'"', start, hit)
    if UNSEARCHED.search(low[max(start, quote - LOOK_BACK) : max(start, quote)]):
        return True
    into = b"null".find(pattern)
    at = hit - into
    return into >= 0 and low[at : at + 4] == b"null" and NULL.search(low[max(start, at - LOOK_BACK) : at]) is not None


def _unusual(low: bytes) -> Iterator[int]:
    """Yield the starts of lines with a derived id or reformatted text."""
    start = 0
    for line in low.split(b"\n"):
        if line and not ID_FIRST.match(line) and not ID.search(line):
            yield start
        start += len(line) + 1
    for match in NO_TEXT.finditer(low):
        colon = match.start()
        if TEXTS.search(low[max(0, colon - LOOK_BACK) : colon]):
            yield low.rfind(b"\n", 0, colon) + 1


def record(offset: int, length: int) -> bytes:
    """Return the header of a line in the program's output: its offset and length, 8 bytes each."""
    return offset.to_bytes(8, "little") + length.to_bytes(8, "little", signed=True)


def main(path: str, begin: int, end: int, free_of: int, sought: list[SearchTerm]) -> None:
    """Write the matching lines between two offsets of a file to standard output; all of a packed file."""
    out = sys.stdout.buffer
    lines_filter = LineFilter(sought, free_of)
    beaten = 0
    fd = _opened(path)
    for at, data in packed_blocks(path) if path.endswith(".gz") else blocks(fd, begin, end):
        for offset, line in lines_filter.keep(at, data):
            out.write(record(offset, len(line)) + line)
        beaten += len(data)
        if beaten > BEAT_BYTES:
            beaten = 0
            out.write(record(0, BEAT))
        out.flush()
    out.write(record(0, END - lines_filter.met))
    out.flush()


if __name__ == "__main__":
    import ast

    main(*ast.literal_eval(sys.argv[1]))
