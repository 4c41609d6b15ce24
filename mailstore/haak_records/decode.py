"""Decodes lines of a HAAK mailbox into messages: headers only, bodies stay in the file (docs/formats/haak.md)."""

from __future__ import annotations

from typing import Any

import msgspec

from mailstore.errors import ContentGone
from mailstore.files.lines import Line
from mailstore.files.salvage import UNREADABLE, Piece, loads, salvage
from mailstore.haak_records.field_names import MESSAGE, pick
from mailstore.haak_records.usual import UsualMessage, UsualMessages
from mailstore.haak_records.values import NotARecord, id_in, message_fields, recipients_in
from mailstore.kit.bodies import first_line, mentions
from mailstore.kit.timestamps import parse_time
from mailstore.records.message import Location, Message, Problem

USUAL = UsualMessages()


def content_in(data: bytes) -> str:
    """Return the body in a record's bytes. Raises ContentGone if they are invalid."""
    if (usual := USUAL.one(data)) is not None:
        return usual.content
    try:
        return content_of(loads(data))
    except UNREADABLE as error:
        raise ContentGone(f"the text can't be read ({error})", "look at the record itself", "E302") from error


def content_of(record: dict[str, Any]) -> str:
    """Return the body of a decoded record."""
    value, _ = pick(record, MESSAGE["content"])
    if value is None:
        return ""
    if isinstance(value, dict) and isinstance(value.get("text"), str):
        return str(value["text"])
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


class MessageDecoder:
    """Decodes the lines of one file in order; `last_time` replaces times that can't be read."""

    def __init__(self, file: str, *, archived: bool = False) -> None:
        self.last_time = 0.0
        self._file = file
        self._archived = archived
        self._messages = UsualMessages()

    def decode(self, line: Line, number: int) -> tuple[list[Message], list[Problem]]:
        """Return the messages in a line, and its problems."""
        usual = self._messages.one(line.data)
        if usual is not None:
            message, warning = self._usual(usual, line)
            if message is not None:
                return [message], [Problem(self._file, number, line.offset, warning, fatal=False)] if warning else []
        return self._carefully(line, number)

    def _usual(self, usual: UsualMessage, line: Line) -> tuple[Message | None, str]:
        """Return a usual message and a warning; None for any that has to be decoded with care."""
        to, ttl = usual.recipient, usual.ttl_hours
        recipients = recipients_in(to if isinstance(to, str) else list(to))[0]
        time, late = parse_time(usual.timestamp)
        if not (usual.id and usual.sender and recipients) or time is None or (ttl is not None and not ttl > 0):
            return None, ""
        self.last_time = time
        message = Message(
            usual.id,
            usual.sender,
            recipients,
            usual.timestamp,
            time,
            usual.subject if usual.subject and not usual.subject.isspace() else first_line(usual.content),
            usual.thread or None,
            ttl,
            usual.type or "",
            usual.tags or (),
            usual.read_by or (),
            mentions(usual.content),
            Location(self._file, line.offset, len(line.data)),
            self._archived,
        )
        return message, late

    def _carefully(self, line: Line, number: int) -> tuple[list[Message], list[Problem]]:
        pieces, faults = salvage(line)
        problems = [Problem(self._file, number, fault.offset, fault.reason, fault.hides) for fault in faults]
        messages: list[Message] = []
        for piece in pieces:
            try:
                message, warnings = self.message(piece)
            except NotARecord as reason:
                problems.append(Problem(self._file, number, piece.offset, str(reason)))
                continue
            messages.append(message)
            problems += [Problem(self._file, number, piece.offset, warning, fatal=False) for warning in warnings]
        return messages, problems

    def message(self, piece: Piece) -> tuple[Message, list[str]]:
        """Return the message that a JSON value of the file states, and warnings. Raises NotARecord."""
        record = piece.value
        if not isinstance(record, dict):
            raise NotARecord(f"not a message (JSON {type(record).__name__})")
        content = content_of(record)
        fields, warnings = message_fields(record, content)
        message_id = id_in(record)
        if not message_id:
            message_id = _made_id(piece.data)
            warnings.append("it has no id: one was made from its line")
        time = fields.pop("time")
        self.last_time = self.last_time if time is None else time
        message = Message(
            message_id,
            time=self.last_time,
            mentions=mentions(content),
            location=Location(self._file, piece.offset, len(piece.data)),
            archived=self._archived,
            timed=time is not None,
            **fields,
        )
        return message, warnings


def _made_id(data: bytes) -> str:
    """Return an id for a record that has none, made from its bytes."""
    import hashlib

    return f"line:{hashlib.sha1(data, usedforsecurity=False).hexdigest()}"
