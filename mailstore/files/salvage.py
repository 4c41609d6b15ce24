"""Recover JSON objects from damaged lines: concatenated, truncated, or with bytes that are not text."""

from __future__ import annotations

import re
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from mailstore.encoding import encodable_value
from mailstore.files.lines import TOO_LONG, Line, LongLine

if TYPE_CHECKING:
    import json
    from collections.abc import Callable

BOM = b"\xef\xbb\xbf"
BEGINNING = re.compile(r'\{\s*"', re.ASCII)
INSIDE = re.compile(rb'\s*(?:,\s*"|[}\]])')
"""What follows an object that is part of a larger, truncated one."""
WORK_FACTOR, WORK_BYTES = 16, 1 << 12
"""How often unsuccessful attempts may read a damaged text, and bytes beside: the time for all of a file is linear."""
FIRST_LOOK = 512
DEEPEST = 200
STRUCTURE = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[{\]}]', re.DOTALL)
LONGEST_TOKEN = 16
"""An error so many characters before the end of a piece may be caused by the cut."""
UNREADABLE = (ValueError, RecursionError, MemoryError)
"""What decoding raises for damage, for deep nesting, and for lack of memory."""
REASON_LENGTH = 100

STRICT = msgspec.json.Decoder()


class TooDeep(ValueError):
    """The JSON has more levels than a record needs and a stack can hold."""


class Piece(msgspec.Struct, frozen=True):
    """A JSON value on a line: its offset, its bytes, and the decoded value."""

    offset: int
    data: bytes
    value: Any


class Fault(msgspec.Struct, frozen=True):
    """What is wrong with a line, and where; `hides` if a record may be lost by it."""

    offset: int
    reason: str
    hides: bool = False


@cache
def lenient() -> json.JSONDecoder:
    """Return the decoder for damaged JSON; most mailboxes never need it.

    A number that is not valid JSON, or that Python can't hold, is returned as text.
    """
    from json import JSONDecoder

    return JSONDecoder(strict=False, parse_float=_float, parse_int=_int, parse_constant=str)


def _float(text: str) -> float | str:
    number = float(text)
    return number if isfinite(number) else text


def _int(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text


class _Try(NamedTuple):
    """A decoded value, the index where it ends (-1 if there is none), and the number of characters read."""

    value: Any
    stop: int
    work: int


def _value_at(text: str, at: int) -> _Try:
    """Decode the JSON value at an index of a text, reading little more than the value or the damage."""
    size, work = FIRST_LOOK, 0
    while True:
        piece = text[at : at + size]
        work += len(piece)
        try:
            value, stop = lenient().raw_decode(piece)
            return _Try(value, at + stop, work)
        except UNREADABLE as error:
            reached = getattr(error, "pos", 0)
            is_text = str(error).startswith("Unterminated")
            if at + size >= len(text) or not (is_text or reached > len(piece) - LONGEST_TOKEN):
                return _Try(None, -1, work if is_text or not reached else work - len(piece) + reached)
        size *= 4


def loads(data: bytes) -> Any:
    """Decode JSON, with replacement characters for bytes that are not UTF-8. Raises UNREADABLE.

    Lenient: control characters and numbers that JSON does not allow are accepted.
    """
    check_depth(data)
    try:
        return STRICT.decode(data)
    except ValueError:
        return encodable_value(lenient().decode(data.decode("utf-8", "replace")))


def check_depth(data: bytes) -> None:
    """Raise TooDeep for JSON that is nested too deeply to be handled with little stack left."""
    if data.count(b"[") + data.count(b"{") <= DEEPEST:
        return
    level = 0
    for token in STRUCTURE.finditer(data):
        mark = token[0][:1]
        level += 1 if mark in b"[{" else -1 if mark in b"]}" else 0
        if level > DEEPEST:
            raise TooDeep(f"nested deeper than {DEEPEST} levels")


def is_text(data: bytes) -> bool:
    """Say whether bytes are UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def salvage(line: Line) -> tuple[list[Piece], list[Fault]]:
    """Return the JSON values on a line, and what is wrong with the line.

    Separates concatenated records, and skips a byte order mark, a carriage return, NULs and truncated records. A blank
    line yields neither; a line of which nothing can be read yields a fault that hides a record.
    """
    if isinstance(line, LongLine):
        return [], [Fault(line.offset, TOO_LONG, hides=True)]
    found, faults = _trim(line)
    if not found.data:
        return [], faults
    try:
        check_depth(found.data)
        return [Piece(found.offset, found.data, STRICT.decode(found.data))], faults
    except UNREADABLE as error:
        reason = str(error)[:REASON_LENGTH]
    try:
        value = loads(found.data)
        if isinstance(value, dict):
            return [Piece(found.offset, found.data, value)], [*faults, Fault(found.offset, _odd(found.data))]
    except UNREADABLE:
        pass
    pieces = _pieces(found)
    if not pieces:
        return [], [*faults, Fault(found.offset, f"invalid JSON: {reason}", hides=True)]
    if len(pieces) > 1:
        faults.append(Fault(found.offset, f"{len(pieces)} records on one line"))
    return pieces, [*faults, *_between(found, pieces), *(Fault(p.offset, _odd(p.data)) for p in pieces if _odd(p.data))]


def _trim(line: Line) -> tuple[Line, list[Fault]]:
    """Remove what does not belong to a record from both ends of a line."""
    offset, data = line
    faults: list[Fault] = []
    if data.startswith(BOM):
        faults.append(Fault(offset, "begins with a byte order mark"))
        offset, data = offset + len(BOM), data[len(BOM) :]
    bare = data.strip(b"\x00 \t\r")
    if bare and data.endswith(b"\r"):
        faults.append(Fault(line.offset, "ends in a carriage return"))
    at = data.find(bare) if bare else len(data)
    if nulls := data[:at].count(b"\x00") + data[at + len(bare) :].count(b"\x00"):
        faults.append(Fault(line.offset, f"{nulls} NUL bytes in a row", hides=not bare))
    return Line(offset + at, bare), faults


def each_object(text: str, start: int, take: Callable[[int, int, Any], bool]) -> None:
    """Call `take` with the start, end and value of each complete JSON object from an index on.

    The text is bytes decoded as Latin-1, so indexes are offsets: only ASCII decides where an object ends. If `take`
    returns False, the objects inside this one are tried too. The work for a damaged text is bounded.
    """
    end = work = 0
    most = WORK_FACTOR * (len(text) - start) + WORK_BYTES
    for match in BEGINNING.finditer(text, start):
        at = match.start()
        if at < end:
            continue
        if work > most:
            break
        value, stop, spent = _value_at(text, at)
        if stop >= 0 and take(at, stop, value):
            end = stop
        else:
            work += spent


def _pieces(line: Line) -> list[Piece]:
    """Return the complete JSON objects on a line."""
    pieces: list[Piece] = []

    def take(at: int, stop: int, _: Any) -> bool:
        data = line.data[at:stop]
        try:
            value = loads(data)
        except UNREADABLE as error:
            return isinstance(error, TooDeep)
        if not INSIDE.match(line.data, stop):
            pieces.append(Piece(line.offset + at, data, value))
        return True

    each_object(line.data.decode("latin-1"), 0, take)
    return pieces


def _between(line: Line, pieces: list[Piece]) -> list[Fault]:
    """Return the faults in the bytes before, between and after the records of a line."""
    faults: list[Fault] = []
    at = line.offset
    for begin, end in [*((p.offset, p.offset + len(p.data)) for p in pieces), (line.offset + len(line.data),) * 2]:
        gap = line.data[at - line.offset : begin - line.offset]
        rest = gap.strip(b"\x00 \t\r")
        if rest not in (b"", b",", BOM):
            offset = at + gap.find(rest)
            faults.append(Fault(offset, f"{len(rest)} bytes of an incomplete record", hides=True))
        elif b"\x00" in gap:
            faults.append(Fault(at, f"{gap.count(0)} NUL bytes in a row"))
        at = end
    return faults


def _odd(data: bytes) -> str:
    """Say why a record can only be decoded leniently; empty if it is valid."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "is not valid UTF-8"
    try:
        STRICT.decode(data)
    except UNREADABLE:
        return "contains characters or numbers that JSON does not allow"
    return ""
