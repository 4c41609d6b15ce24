"""The current contents of the log: messages by id, where the last line with an id wins."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import NamedTuple

import msgspec

from mailstore.errors import ContentGone
from mailstore.files.folder import Stamp, is_fresh, path_stamp
from mailstore.files.lines import Cutter, Line
from mailstore.files.salvage import UNREADABLE, Piece, loads, salvage
from mailstore.files.whole import NotAFile, open_regular, read_whole
from mailstore.kinds.agenties.decode import AgentiesEntry, NotAMessage, decode, id_of
from mailstore.records.message import Message, Problem

LARGEST = 256 << 20
"""Bytes; Agenties trims the log to 5,000 messages whenever it starts."""


class LogContents(NamedTuple):
    """The contents of a file with a given stamp: entries by id, in the order of their last lines, and problems."""

    stamp: Stamp | None
    entries: dict[str, AgentiesEntry]
    problems: list[Problem]


class AgentiesLog:
    """One file, decoded again when it has changed. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._known = LogContents(None, {}, [])

    def contents(self) -> LogContents:
        """Return the current contents. Raises OSError."""
        with self._lock:
            stamp = path_stamp(self.path)
            if stamp is None or stamp != self._known.stamp or is_fresh(stamp):
                self._known = self._read(stamp)
            return self._known

    def _read(self, stamp: Stamp | None) -> LogContents:
        try:
            data = read_whole(self.path, LARGEST)
        except NotAFile as error:
            return LogContents(stamp, {}, [Problem(self.path.name, 1, 0, str(error))])
        entries: dict[str, AgentiesEntry] = {}
        problems: list[Problem] = []
        time = 0.0
        for number, line in enumerate(_lines(data), 1):
            pieces, faults = salvage(line)
            problems += [Problem(self.path.name, number, fault.offset, fault.reason, fault.hides) for fault in faults]
            for piece in pieces:
                try:
                    entry = decode(piece, time)
                except NotAMessage as reason:
                    problems.append(Problem(self.path.name, number, piece.offset, str(reason)))
                    continue
                time = entry.message.time
                if entry.warning:
                    problems.append(Problem(self.path.name, number, piece.offset, entry.warning, fatal=False))
                entries.pop(entry.message.id, None)
                entries[entry.message.id] = entry
        return LogContents(stamp, entries, problems)

    def record(self, message: Message) -> bytes:
        """Return the bytes of a message's last line. Raises ContentGone."""
        gone = ContentGone(
            f"{self.path.name} no longer has this message", "Agenties trims old mail when it starts", "E309"
        )
        try:
            entry = self.contents().entries.get(message.id)
            if entry is None or entry.message.location is None:
                raise gone
            where = entry.message.location
            fd = open_regular(self.path, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                data = os.pread(fd, where.length, where.offset)
            finally:
                os.close(fd)
        except OSError as error:
            raise ContentGone(f"{self.path.name} can't be read", "check whether it was moved", "E444") from error
        try:
            is_it = id_of(Piece(where.offset, data, loads(data))) == message.id
        except (*UNREADABLE, AttributeError):
            is_it = False
        if not is_it:
            raise gone
        return data


def _lines(data: bytes) -> list[Line]:
    """Split a file into lines; an unterminated last line counts only if it is a complete record."""
    cutter = Cutter()
    lines = cutter.take(data)
    if cutter.held is not None and _is_whole(cutter.held.data):
        lines.append(cutter.held)
    return lines


def _is_whole(data: bytes) -> bool:
    try:
        return isinstance(msgspec.json.decode(data), dict)
    except UNREADABLE:
        return False
