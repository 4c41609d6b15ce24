"""Find lines in a file from its end, without reading what is before them. Imports next to nothing: hooks do it."""

from __future__ import annotations

import os

from mailstore.files.whole import LARGEST, NotAFile, open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK = 1 << 16


def lines_before_end(path: str, needle: bytes) -> Iterator[bytes]:
    """Yield the complete lines of a file that contain a text, the last one first; none if there is no file.

    Raises OSError.
    """
    for block in _blocks(path):
        end = len(block)
        while (at := block.rfind(needle, 0, end)) >= 0:
            end = block.rfind(b"\n", 0, at) + 1
            yield block[end : block.find(b"\n", at)]


def last_lines(path: str) -> list[bytes]:
    """Return the last complete lines of a file, as many as one block holds. Raises OSError."""
    return next(_blocks(path), b"").split(b"\n")[:-1]


def _blocks(path: str) -> Iterator[bytes]:
    """Yield a file in blocks of complete lines, the last one first."""
    try:
        fd = open_regular(path)
    except FileNotFoundError:
        return
    try:
        start = size = os.fstat(fd).st_size
        held: list[bytes] = []  # the end of a line that begins in an earlier block, in parts, the last one first
        is_end = True
        while start:
            length = min(BLOCK, start)
            start -= length
            data = os.pread(fd, length, start)
            if is_end:
                if size - start > LARGEST:
                    raise NotAFile("a line is longer than any record")
                data = data[: data.rfind(b"\n") + 1]
                is_end = not data
            first = data.find(b"\n") + 1 if start else 0
            if start and not first:
                held.append(data)
                if len(held) * BLOCK > LARGEST:
                    raise NotAFile("a line is longer than any record")
                continue
            if block := data[first:] + b"".join(reversed(held)):
                yield block
            held = [data[:first]]
    finally:
        os.close(fd)
