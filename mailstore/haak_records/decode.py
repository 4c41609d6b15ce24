"""Decodes lines of a HAAK mailbox into messages: headers only, bodies stay in the file (docs/formats/haak.md)."""

from __future__ import annotations

import msgspec

from mailstore.files.lines import Line
from mailstore.files.salvage import UNREADABLE, Piece, is_text, salvage
from mailstore.haak_records.body import content_of
from mailstore.haak_records.values import NotARecord, id_in, message_fields, recipients_in
from mailstore.kit.bodies import first_line, mentions
from mailstore.kit.timestamps import parse_time
from mailstore.records.message import Location, Message, Problem

Text = str | None
Raw = msgspec.Raw


class Header(msgspec.Struct, gc=False):
    """The usual line, whose fields have the usual types; any other is decoded more slowly and with more care."""

    id: str
    sender: Text = None
    from_: Text = msgspec.field(default=None, name="from")
    from_agent: Text = None
    recipient: str | list[str] | None = None
    to: str | list[str] | None = None
    timestamp: Text = None
    ts: Text = None
    time: Text = None
    date: Text = None
    subject: Text = None
    thread: Text = None
    in_reply_to: Text = None
    reply_to: Text = None
    ttl_hours: float | None = None
    ttl: float | None = None
    type: Text = None
    tags: list[str] | None = None
    read_by: list[str] | None = None
    content: Raw = Raw()
    body: Raw = Raw()
    text: Raw = Raw()
    message: Raw = Raw()


HEADER = msgspec.json.Decoder(Header)
STRING = msgspec.json.Decoder(str)


class MessageDecoder:
    """Decodes the lines of one file in order; `last_time` replaces times that can't be read."""

    def __init__(self, file: str, *, archived: bool = False) -> None:
        self.last_time = 0.0
        self._file = file
        self._archived = archived

    def decode(self, line: Line, number: int) -> tuple[list[Message], list[Problem]]:
        """Return the messages in a line, and its problems."""
        data = line.data
        if (data.isascii() or is_text(data)) and not data.endswith(b"\r"):
            try:
                message, warning = self._usual(HEADER.decode(data), line)
            except UNREADABLE:
                message = None
            if message is not None:
                if warning:
                    return [message], [Problem(self._file, number, line.offset, warning, fatal=False)]
                return [message], []
        return self._carefully(line, number)

    def _usual(self, h: Header, line: Line) -> tuple[Message | None, str]:
        """Return the message of a usual header and a warning; None for any that has to be decoded with care."""
        sender = h.sender or h.from_ or h.from_agent
        to = h.recipient or h.to
        body = bytes(h.content or h.body or h.text or h.message)
        timestamp = h.timestamp or h.ts or h.time or h.date
        if not (h.id and sender and to) or body[:1] != b'"' or _is_doubled(h):
            return None, ""
        ttl = h.ttl_hours if h.ttl_hours is not None else h.ttl
        time, late = parse_time(timestamp)
        recipients = recipients_in(to)[0]
        if time is None or not recipients or (ttl is not None and not ttl > 0):
            return None, ""
        self.last_time = time
        subject = h.subject if h.subject and not h.subject.isspace() else ""
        content = STRING.decode(body) if not subject or b"@" in body else ""
        return (
            Message(
                h.id,
                sender,
                recipients,
                timestamp or "",
                time,
                subject or first_line(content),
                h.thread or h.in_reply_to or h.reply_to or None,
                ttl,
                h.type or "",
                tuple(h.tags) if h.tags else (),
                tuple(h.read_by) if h.read_by else (),
                mentions(content),
                Location(self._file, line.offset, len(line.data)),
                self._archived,
            ),
            late,
        )

    def _carefully(self, line: Line, number: int) -> tuple[list[Message], list[Problem]]:
        pieces, faults = salvage(line)
        problems = [Problem(self._file, number, fault.offset, fault.reason, fault.hides) for fault in faults]
        messages: list[Message] = []
        for piece in pieces:
            try:
                message, warnings = self._lenient(piece)
            except NotARecord as reason:
                problems.append(Problem(self._file, number, piece.offset, str(reason)))
                continue
            messages.append(message)
            problems += [Problem(self._file, number, piece.offset, warning, fatal=False) for warning in warnings]
        return messages, problems

    def _lenient(self, piece: Piece) -> tuple[Message, list[str]]:
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


def _is_doubled(h: Header) -> bool:
    """Say whether a field is given under two names, which may differ."""
    return bool(
        (h.from_ and (h.sender or h.from_agent))
        or (h.from_agent and h.sender)
        or (h.recipient and h.to)
        or (h.body and (h.content or h.text or h.message))
        or (h.text and (h.content or h.message))
        or (h.message and h.content)
        or (h.ts and (h.timestamp or h.time or h.date))
        or (h.time and (h.timestamp or h.date))
        or (h.date and h.timestamp)
        or (h.in_reply_to and (h.thread or h.reply_to))
        or (h.reply_to and h.thread)
        or (h.ttl is not None and h.ttl_hours is not None)
    )
