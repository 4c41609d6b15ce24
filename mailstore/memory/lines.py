"""Decode lines of JSON as messages, with the field names of docs/semantics.md#records."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from mailstore.kit.bodies import first_line, mentions
from mailstore.kit.timestamps import time_of
from mailstore.records.message import Location, Message, Problem

FILE = "memory"


class Fields(msgspec.Struct):
    """The fields of a message's line; unknown ones are kept in the line."""

    sender: str
    recipient: str | list[str]
    content: str
    id: str | int = ""
    timestamp: str = ""
    subject: str | None = None
    thread: str | None = None
    ttl_hours: float | None = None
    type: str | None = None
    tags: list[str] = []
    read_by: list[str] = []


FIELDS = msgspec.json.Decoder(Fields)


def line_of(fields: Mapping[str, Any]) -> str:
    """Return a message's fields as a line."""
    return msgspec.json.encode(fields).decode()


def content_of(line: str) -> str:
    """Return the body of a message's line."""
    return FIELDS.decode(line).content


class LineDecoder:
    """Decode lines in order; a line without a valid time gets the last one."""

    def __init__(self) -> None:
        self._last_time = 0.0

    def decode(self, line: str, place: int) -> list[Message | Problem]:
        """Return the message in a line and its problems; `place` is its index in the mailbox."""
        try:
            fields = FIELDS.decode(line)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
            return [Problem(FILE, place + 1, place, f"not a message: {error}")]
        names = (fields.recipient,) if isinstance(fields.recipient, str) else tuple(fields.recipient)
        if not fields.sender or not names or not all(names):
            return [Problem(FILE, place + 1, place, "not a message: it has no sender or no recipient")]
        found: list[Message | Problem] = []
        time = time_of(fields.timestamp)
        if time is None:
            found.append(Problem(FILE, place + 1, place, f"{fields.timestamp!r} is not a time", fatal=False))
        ttl = fields.ttl_hours
        if ttl is not None and ttl <= 0:
            found.append(Problem(FILE, place + 1, place, f"invalid ttl: {ttl:g}", fatal=False))
        self._last_time = self._last_time if time is None else time
        digest = hashlib.sha1(line.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
        message = Message(
            id=str(fields.id) or f"line:{digest}",
            sender=fields.sender,
            recipients=names,
            timestamp=fields.timestamp,
            time=self._last_time,
            subject=fields.subject or first_line(fields.content),
            thread=fields.thread or None,
            ttl_hours=ttl if ttl is not None and ttl > 0 else None,
            type=fields.type or "",
            tags=tuple(fields.tags),
            read_by=tuple(fields.read_by),
            mentions=mentions(fields.content),
            location=Location(FILE, place, len(line)),
            timed=time is not None,
        )
        return [message, *found]
