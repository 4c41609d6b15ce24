"""Scan the parts of a large file in parallel processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from mailstore.errors import StoreError
from mailstore.haak_records import line_filter

PIECE = 1 << 24

TAIL_BYTES = 1 << 22
"""How much of a file's end is scanned in this process."""
PART_BYTES = 1 << 24
"""Minimum number of bytes per process."""
PROCESSES = 4
HEAD = 16


class SearchProcess:
    """A part of a file, scanned by another process, which is killed on exit."""

    def __init__(
        self, path: Path, begin: int, end: int, free_of: int, sought: Sequence[line_filter.SearchTerm]
    ) -> None:
        self.met = 0
        self._process = started(line_filter.__file__, (str(path), begin, end, free_of, [*sought]), subprocess.PIPE)

    def __enter__(self) -> SearchProcess:
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.kill()
        self._process.__exit__(None, None, None)

    def found(self) -> Iterator[list[line_filter.Found]]:
        """Yield the matching lines, and an empty list now and then."""
        stream = self._process.stdout
        while stream is not None and len(head := stream.read(HEAD)) == HEAD:
            offset, length = int.from_bytes(head[:8], "little"), int.from_bytes(head[8:], "little", signed=True)
            if length <= line_filter.END:
                self.met = line_filter.END - length
                return
            yield [] if length == line_filter.BEAT else [(offset, stream.read(length))]
        raise StoreError("the mailbox can't be searched", "it was changed meanwhile; search again")


def started(program: str, asked: object, out: int) -> subprocess.Popen[bytes]:
    """Start a program that only imports the standard library, which takes a few milliseconds."""
    nothing = subprocess.DEVNULL
    command = [sys.executable, "-I", "-S", program, repr(asked)]
    return subprocess.Popen(command, stdin=nothing, stdout=out, stderr=nothing)


def borders(fd: int, begin: int, end: int, known: int) -> list[int]:
    """Return the offsets of the parts of a file that are scanned separately, last first.

    The last part begins where the known part of the file ends, if that is near: then nothing has to be learnt again.
    """
    before = (known if end - known < 2 * TAIL_BYTES else end - TAIL_BYTES) - begin
    if before < PART_BYTES or not sys.executable:
        return [begin]
    number = min(os.cpu_count() or 1, PROCESSES, before // PART_BYTES)
    starts = [_line_start(fd, begin + before * at // number) for at in range(number, 0, -1)]
    return [*dict.fromkeys(starts), begin]


def _line_start(fd: int, at: int) -> int:
    """Return the start of the line that contains an offset."""
    size = line_filter.BLOCK
    while at > 0:
        first = max(0, at - size)
        newline = os.pread(fd, at - first, first).rfind(b"\n")
        if newline >= 0 or not first:
            return first + newline + 1
        at, size = first, min(2 * size, PIECE)
    return 0
