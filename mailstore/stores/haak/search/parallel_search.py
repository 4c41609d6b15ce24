"""Looking through the parts of a big file at once, each by a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from mailstore.errors import StoreError
from mailstore.stores.haak.search import line_filter

__all__ = ["PART_BYTES", "TAIL_BYTES", "Part", "borders", "started"]

TAIL_BYTES = 1 << 22
"""How much of a file's end is looked through without other processes."""
PART_BYTES = 1 << 26
"""How much another process is at least given to do."""
PROCESSES = 4
HEAD = 16


class Part:
    """A part of a file, looked through by another process, which is ended with it."""

    def __init__(self, path: Path, begin: int, end: int, free_of: int, sought: Sequence[line_filter.Sought]) -> None:
        self.met = 0
        self._process = started(line_filter.__file__, (str(path), begin, end, free_of, [*sought]), subprocess.PIPE)

    def __enter__(self) -> Part:
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.kill()
        self._process.__exit__(None, None, None)

    def found(self) -> Iterator[list[line_filter.Found]]:
        """Yield the lines that it keeps, and an empty list whenever it has gone on for a while."""
        stream = self._process.stdout
        while stream is not None and len(head := stream.read(HEAD)) == HEAD:
            offset, length = int.from_bytes(head[:8], "little"), int.from_bytes(head[8:], "little", signed=True)
            if length <= line_filter.END:
                self.met = line_filter.END - length
                return
            yield [] if length == line_filter.BEAT else [(offset, stream.read(length))]
        raise StoreError("the mailbox can't be searched", "it was changed meanwhile: search again")


def started(program: str, asked: object, out: int) -> subprocess.Popen[bytes]:
    """Start a program that imports the standard library alone: that takes a few milliseconds."""
    nothing = subprocess.DEVNULL
    command = [sys.executable, "-I", "-S", program, repr(asked)]
    return subprocess.Popen(command, stdin=nothing, stdout=out, stderr=nothing)


def borders(fd: int, begin: int, end: int, known: int) -> list[int]:
    """Return where the parts of a file begin that are looked through by themselves, the last first.

    The end begins where what is known of the file ends, if that is near it: then nothing need be learnt anew.
    """
    before = (known if end - known < 2 * TAIL_BYTES else end - TAIL_BYTES) - begin
    if before < PART_BYTES or not sys.executable:
        return [begin]
    number = min(os.cpu_count() or 1, PROCESSES, before // PART_BYTES)
    found = [_line_start(fd, begin + before * at // number) for at in range(number, 0, -1)]
    return [*dict.fromkeys(found), begin]


def _line_start(fd: int, at: int) -> int:
    """Return where the line begins that an offset is in."""
    size = line_filter.BLOCK
    while at > 0:
        first = max(0, at - size)
        found = os.pread(fd, at - first, first).rfind(b"\n")
        if found >= 0 or not first:
            return first + found + 1
        size *= 2
    return 0
