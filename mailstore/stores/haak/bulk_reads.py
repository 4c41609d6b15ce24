"""The lines of a file of reads, a block of the usual ones at a time; the others as the decoder reads them."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray

from mailstore.bulk.gathered import Reads
from mailstore.bulk.stamps import seconds_of
from mailstore.files.lines import Block, Line, LineFile
from mailstore.stores.haak.records import decode_receipt

__all__ = ["Unusual", "lines_in", "read_all", "read_lines", "usual_reads"]


class Unusual(Exception):
    """A block holds something that must be looked at line by line."""


class UsualRead(msgspec.Struct, gc=False):
    """The line that every program writes when it has read a message."""

    message_id: str
    reader_session_id: str
    timestamp: str


READS = msgspec.json.Decoder(UsualRead)


def lines_in(block: Block) -> Iterator[tuple[Line, int]]:
    """Yield a block's lines and their numbers."""
    at = block.offset
    for number, data in enumerate(block.data.split(b"\n")[:-1], block.number):
        yield Line(at, data), number
        at += len(data) + 1


def read_all(file: LineFile, into: Reads) -> None:
    """Gather the read records that came since the last look, in their order. Raises Replaced and OSError."""
    for block in file.read_whole():
        try:
            into.add(*usual_reads(block))
        except (Unusual, ValueError, RecursionError):
            read_lines(block, file.name, into)


def read_lines(block: Block, file: str, into: Reads) -> None:
    """Gather a block's read records line by line."""
    for line, number in lines_in(block):
        into.take(decode_receipt(file, line, number))


def usual_reads(block: Block) -> tuple[list[str], list[str], NDArray[np.float64]]:
    """Return the messages, readers and times of a block of usual lines; raises Unusual and ValueError for any other."""
    data = block.data
    found = READS.decode_lines(data)
    ids, readers = [one.message_id for one in found], [one.reader_session_id for one in found]
    times = seconds_of([one.timestamp for one in found])
    if times is None or len(found) != block.lines or not data.isascii() or b"\r\n" in data:
        raise Unusual
    if not all(ids) or not all(readers):
        raise Unusual
    return ids, readers, times
