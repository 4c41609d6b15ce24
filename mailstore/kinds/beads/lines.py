"""A file with a JSON object in each line: a database's export, or the archive of Gas Town."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import nlargest
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from mailstore.errors import ContentGone, reason_of
from mailstore.files.folder import Stamp, stamp_of
from mailstore.files.lines import Cutter, Line
from mailstore.files.salvage import UNREADABLE, Piece, loads, salvage
from mailstore.files.whole import NotAFile, open_regular, read_whole
from mailstore.records.message import Location, Message, Problem

BEGINNING = re.compile(rb'^\{"id":"([^"\\]+)"', re.MULTILINE)
CREATED = re.compile(rb'"created_at":"(\d{4}-[0-9T:.+Z-]+)"')
LARGE = 1 << 20
"""Bytes; a smaller file is read at once."""
LARGEST = 256 << 20
"""Bytes; Gas Town deletes closed issues long before."""


class FoundLine(NamedTuple):
    """A JSON object with its id, and its location: the name of its file, and which of the lines with its id it is.

    `number` is that of its line, from 1, and `offset` where it begins in the file.
    """

    name: str
    value: dict[str, Any]
    location: Location
    number: int
    offset: int


class BeadsLines:
    """The objects in a file that its owner rewrites, or appends to."""

    def __init__(self, path: Path, names: Callable[[Mapping[str, Any]], str]) -> None:
        self.path = path
        self._names = names
        self._places: dict[str, list[tuple[int, int]]] = {}
        """The offset and the length of each line with an id."""

    @property
    def name(self) -> str:
        return self.path.name

    def stamp(self) -> Stamp | None:
        """Return the file's stamp; None if there is none. Raises OSError."""
        try:
            return stamp_of(self.path.stat())
        except (FileNotFoundError, NotADirectoryError):
            return None

    def read(self, problems: list[Problem]) -> Iterator[FoundLine]:
        """Yield the objects of all complete lines; what is wrong with others is added to `problems`. Raises OSError."""
        places: dict[str, list[tuple[int, int]]] = {}
        for number, piece in self._pieces(problems):
            value = piece.value
            if not isinstance(value, dict):
                problems.append(Problem(self.name, number, piece.offset, "not a JSON object"))
                continue
            name = self._names(value) or f"line:{hashlib.sha1(piece.data, usedforsecurity=False).hexdigest()}"
            before = places.setdefault(name, [])
            yield FoundLine(name, value, Location(self.name, len(before), 0), number, piece.offset)
            before.append((piece.offset, len(piece.data)))
        self._places = places

    def _pieces(self, problems: list[Problem]) -> Iterator[tuple[int, Piece]]:
        try:
            data = read_whole(self.path, LARGEST)
        except NotAFile as error:
            problems.append(Problem(self.name, 1, 0, str(error)))
            return
        except FileNotFoundError:
            return
        for number, line in enumerate(_lines(data), 1):
            pieces, faults = salvage(line)
            problems += [Problem(self.name, number, fault.offset, fault.reason, fault.hides) for fault in faults]
            yield from ((number, piece) for piece in pieces)

    def newest(self, limit: int, wanted: bytes, always: Sequence[bytes]) -> Iterator[FoundLine]:
        """Yield the newest lines of a large file with a text, and all lines with one of some others.

        Only those are decoded. Lines that can't be told from others without decoding all are left out.
        """
        try:
            data = read_whole(self.path, LARGEST)
        except (OSError, NotAFile):
            return
        if len(data) < LARGE:
            return
        ids = Counter(BEGINNING.findall(data))
        chosen: list[bytes] = []
        dated: list[tuple[bytes, bytes]] = []
        for line in data.split(b"\n")[:-1]:
            if any(each in line for each in always):
                chosen.append(line)
            elif wanted in line and (match := CREATED.search(line)) is not None:
                dated.append((match[1], line))
        chosen += (line for _, line in nlargest(limit, dated))
        for line in chosen:
            value = value_of(line)
            name = self._names(value)
            if ids[name.encode()] == 1:
                yield FoundLine(name, value, Location(self.name, 0, 0), 0, 0)

    def record(self, message: Message) -> bytes:
        """Return the bytes of a message's line. Raises ContentGone."""
        which = message.location.offset if message.location else 0
        for is_again in (False, True):
            if is_again:
                # the file was written anew since it was read
                try:
                    all(self.read([]))
                except OSError as error:
                    raise ContentGone(f"{self.name} can't be read", reason_of(error), "E444") from error
            places = self._places.get(message.id, ())
            if which < len(places) and self._is(data := self._at(*places[which]), message.id):
                return data
        raise ContentGone(f"{self.name} no longer has message {message.id}", "check whether it was deleted", "E477")

    def _is(self, data: bytes, name: str) -> bool:
        if name.startswith("line:"):
            return name == f"line:{hashlib.sha1(data, usedforsecurity=False).hexdigest()}"
        return self._names(value_of(data)) == name

    def _at(self, offset: int, length: int) -> bytes:
        """Return the bytes at a place in the file. Raises ContentGone."""
        try:
            fd = open_regular(self.path, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                return os.pread(fd, length, offset)
            finally:
                os.close(fd)
        except OSError as error:
            raise ContentGone(f"{self.name} can't be read", reason_of(error), "E444") from error


def name_of(value: Mapping[str, Any]) -> str:
    """Return the id in a record; empty if it has none."""
    name = value.get("id")
    return name if isinstance(name, str) else ""


def value_of(data: bytes) -> dict[str, Any]:
    """Return the object in some bytes; an empty one if there is none."""
    try:
        value = loads(data)
    except UNREADABLE:
        return {}
    return value if isinstance(value, dict) else {}


def _lines(data: bytes) -> list[Line]:
    """Split a file into lines; an unterminated last line counts only if it is a complete record."""
    cutter = Cutter()
    lines = cutter.take(data)
    if cutter.held is not None:
        try:
            msgspec.json.decode(cutter.held.data)
            lines.append(cutter.held)
        except UNREADABLE:
            pass
    return lines
