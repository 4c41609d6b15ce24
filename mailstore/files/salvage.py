"""JSON objects out of lines that are damaged: glued together, torn, or holding bytes that are no text."""

from __future__ import annotations

import re
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from mailstore.encoding import encodable_value
from mailstore.files.lines import Line

if TYPE_CHECKING:
    import json
    from collections.abc import Callable

__all__ = [
    "DEEPEST",
    "UNREADABLE",
    "Fault",
    "Piece",
    "check_depth",
    "each_object",
    "is_text",
    "lenient",
    "loads",
    "salvage",
]

BOM = b"\xef\xbb\xbf"
BEGINNING = re.compile(r'\{\s*"', re.ASCII)
INSIDE = re.compile(rb'\s*(?:,\s*"|[}\]])')
"""What follows an object that is a part of a bigger, torn one."""
WORK_BYTES = 1 << 24
"""How much is read in vain of one damaged line, all tries together: a hostile line must not cost the square."""
FIRST_LOOK = 512
DEEPEST = 200
STRUCTURE = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[{\]}]', re.DOTALL)
LONGEST_TOKEN = 16
"""Characters before the end of what was looked at, in which an error may come of the end alone."""
UNREADABLE = (ValueError, RecursionError, MemoryError)
"""What decoding raises for damage, for what is nested too deep, and for what is too large."""
REASON_LENGTH = 100

STRICT = msgspec.json.Decoder()


class TooDeep(ValueError):
    """Some JSON has more levels than a record needs, and than a stack may bear."""


class Piece(NamedTuple):
    """A JSON value that stands on a line: where it begins, its bytes, and what they say."""

    offset: int
    data: bytes
    value: Any


class Fault(NamedTuple):
    """What is wrong with a line, and where; `hides` says that a record may have been lost by it."""

    offset: int
    reason: str
    hides: bool = False


@cache
def lenient() -> json.JSONDecoder:
    """Return the decoder for what is damaged; most mailboxes never need it.

    A number that is none to JSON, or that Python can't hold, stays the text that it is.
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
    """What a place of a text gave: a value and where it stops, -1 for none; and how many characters that took."""

    value: Any
    stop: int
    work: int


def _value_at(text: str, at: int) -> _Try:
    """Decode the JSON value at a place of a text; reads little more of it than belongs to the value, or to damage."""
    size, work = FIRST_LOOK, 0
    while True:
        piece = text[at : at + size]
        work += len(piece)
        try:
            value, stop = lenient().raw_decode(piece)
            return _Try(value, at + stop, work)
        except UNREADABLE as error:
            is_cut = getattr(error, "pos", 0) > len(piece) - LONGEST_TOKEN or str(error).startswith("Unterminated")
            if at + size >= len(text) or not is_cut:
                return _Try(None, -1, work)
        size *= 4


def loads(data: bytes) -> Any:
    """Decode JSON; bytes that are no text become replacement characters.

    Raises ValueError, RecursionError, MemoryError: see UNREADABLE.
    """
    check_depth(data)
    try:
        return STRICT.decode(data)
    except ValueError:
        return encodable_value(lenient().decode(data.decode("utf-8", "replace")))


def check_depth(data: bytes) -> None:
    """Raise TooDeep for JSON of more levels than can be handled anywhere, however little of the stack is left."""
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
    """Part what stands on a line: each JSON value on its own, and what was wrong with the line.

    Parts records that were glued onto one line, and passes over a byte order mark, a carriage return, NULs and
    torn records. A blank line gives neither; one of which nothing can be read gives a fault that hides.
    """
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
        faults.append(Fault(found.offset, f"{len(pieces)} records stand on one line"))
    return pieces, [*faults, *_between(found, pieces), *(Fault(p.offset, _odd(p.data)) for p in pieces if _odd(p.data))]


def _trim(line: Line) -> tuple[Line, list[Fault]]:
    """Cut off what does not belong to a record at either end of a line."""
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
        faults.append(Fault(line.offset, f"holds a run of {nulls} NUL bytes", hides=not bare))
    return Line(offset + at, bare), faults


def each_object(text: str, start: int, take: Callable[[int, int, Any], bool]) -> None:
    """Call `take` with the beginning, the end and the value of each JSON object that is whole, from a place on.

    The text is bytes read as Latin-1, in which a byte is a character: what tells where an object ends is ASCII. Where
    `take` returns False, the objects inside this one are tried too. A damaged text costs a bounded amount of work.
    """
    end = work = 0
    for match in BEGINNING.finditer(text, start):
        at = match.start()
        if at < end:
            continue
        if work > WORK_BYTES:
            break
        value, stop, spent = _value_at(text, at)
        if stop < 0:
            work += spent
        elif take(at, stop, value):
            end = stop


def _pieces(line: Line) -> list[Piece]:
    """Find the complete JSON objects on a line, the leftmost first."""
    found: list[Piece] = []

    def take(at: int, stop: int, _: Any) -> bool:
        data = line.data[at:stop]
        try:
            value = loads(data)
        except UNREADABLE as error:
            return isinstance(error, TooDeep)
        if not INSIDE.match(line.data, stop):
            found.append(Piece(line.offset + at, data, value))
        return True

    each_object(line.data.decode("latin-1"), 0, take)
    return found


def _between(line: Line, pieces: list[Piece]) -> list[Fault]:
    """Tell of the bytes before, between and after the records of a line."""
    faults: list[Fault] = []
    at = line.offset
    for begin, end in [*((p.offset, p.offset + len(p.data)) for p in pieces), (line.offset + len(line.data),) * 2]:
        gap = line.data[at - line.offset : begin - line.offset]
        rest = gap.strip(b"\x00 \t\r")
        if rest not in (b"", b",", BOM):
            offset = at + gap.find(rest)
            faults.append(Fault(offset, f"{len(rest)} bytes of a torn record", hides=True))
        elif b"\x00" in gap:
            faults.append(Fault(at, f"holds a run of {gap.count(0)} NUL bytes"))
        at = end
    return faults


def _odd(data: bytes) -> str:
    """Say why a record can only be read leniently; empty when it need not be."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "is no valid UTF-8"
    try:
        STRICT.decode(data)
    except UNREADABLE:
        return "holds characters or numbers that JSON does not allow"
    return ""
