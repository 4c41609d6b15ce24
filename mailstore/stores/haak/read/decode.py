"""Lines of a HAAK mailbox as messages: headers only, bodies stay in the file (formats/haak.md 1-4, 10-14, 20)."""

from __future__ import annotations

from typing import Any

import msgspec

from mailstore.files.lines import Line
from mailstore.files.salvage import UNREADABLE, Piece, is_text, salvage
from mailstore.kit.bodies import first_line, mentions
from mailstore.kit.timestamps import parse_time
from mailstore.records.message import NEVER, Location, Message, Problem
from mailstore.records.protocol import TAG_NAMESPACES
from mailstore.stores.haak.field_names import MESSAGE, READ, pick
from mailstore.stores.haak.read.body import content_of

__all__ = ["STRING", "MessageDecoder", "NotARecord", "recipients_in", "strings"]

NAMESPACES = (*TAG_NAMESPACES, "role")
Text = str | None
Raw = msgspec.Raw


class NotARecord(Exception):
    """A JSON value is not the record that is looked for; says why."""


class Header(msgspec.Struct, gc=False):
    """The usual line, whose fields have the usual types; anything else takes the slower way."""

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
    """Decodes the lines of one file in order; `last_time` stands in for times that can't be read."""

    def __init__(self, file: str, *, archived: bool = False) -> None:
        self.last_time = 0.0
        self._file = file
        self._archived = archived

    def decode(self, line: Line, number: int) -> tuple[list[Message], list[Problem]]:
        """Return what a line holds: its messages, and what is wrong with it."""
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
        """Return the message of a usual header and a warning; None for what must be looked at closely."""
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
            raise NotARecord(f"no message: a JSON {type(record).__name__}")
        picked = {field: pick(record, names) for field, names in MESSAGE.items()}
        warnings = [warning for _, warning in picked.values() if warning]
        sender, odd_sender = _name(picked["sender"][0])
        recipients, odd_recipient = recipients_in(picked["recipient"][0])
        if all(record.get(name) is None for name in MESSAGE["content"]):
            raise NotARecord("no message: it has no content")
        if not sender or not recipients:
            raise NotARecord(f"no message: {odd_sender or odd_recipient}")
        stamp = picked["timestamp"][0]
        time, late = parse_time(stamp)
        stated = picked["ttl_hours"][0]
        if stated is None and any(record.get(name) == [] for name in MESSAGE["ttl_hours"]):
            stated = []  # a list is no TTL, and is said to be none, an empty one too
        ttl, odd_ttl = _ttl(stated)
        message_id, odd_id = _id(record.get("id"), piece.data)
        if late and time is None:
            late = f"{late}: kept in the order of the file, never expires"
        self.last_time = self.last_time if time is None else time
        content = content_of(record)
        subject = record.get("subject")
        thread, _ = _name(picked["thread"][0])
        kind = record.get("type")
        message = Message(
            id=message_id,
            sender=sender,
            recipients=recipients,
            timestamp="" if stamp is None else str(stamp),
            time=self.last_time,
            subject=subject if isinstance(subject, str) and subject.strip() else first_line(content),
            thread=thread or None,
            ttl_hours=ttl,
            type=kind if isinstance(kind, str) else "",
            tags=strings(record.get("tags")),
            read_by=_readers(record.get("read_by")),
            mentions=mentions(content),
            location=Location(self._file, piece.offset, len(piece.data)),
            archived=self._archived,
            timed=time is not None,
        )
        return message, [*warnings, *filter(None, (late, odd_ttl, odd_id, odd_recipient))]


def _is_doubled(h: Header) -> bool:
    """Say whether two names of one field are given: then it is to be seen whether they differ."""
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


def _id(value: Any, data: bytes) -> tuple[str, str]:
    """Return a record's id as a string, or one made from its bytes, with a warning (haak.md 3)."""
    if isinstance(value, (str, int)) and not isinstance(value, bool) and value != "":
        return str(value), ""
    import hashlib

    digest = hashlib.sha1(data, usedforsecurity=False).hexdigest()
    return f"line:{digest}", "it has no id: one was made from its line"


def _name(value: Any) -> tuple[str, str]:
    """Return a name, and why there is none."""
    if isinstance(value, str) and value and not value.isspace():
        return value, ""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value), ""
    return "", "it has no sender" if value is None else f"its sender {str(value)[:40]!r} is no name"


def recipients_in(value: Any) -> tuple[tuple[str, ...], str]:
    """Return one or several addresses, and what was wrong (haak.md 10)."""
    if isinstance(value, list):
        names = [_name(each)[0].strip() for each in value]
        odd = "" if all(names) else "a recipient of it is no address"
        return tuple(dict.fromkeys(name for name in names if name)), odd
    text = _name(value)[0].strip()
    if not text:
        return (), "it has no recipient" if value is None else f"its recipient {str(value)[:40]!r} is no address"
    if "," in text:
        parts = [part.strip() for part in text.split(",")]
        if all(part.partition(":")[0] in NAMESPACES and part.partition(":")[2] for part in parts):
            return tuple(dict.fromkeys(parts)), ""
    return (text,), ""


def _ttl(value: Any) -> tuple[float | None, str]:
    """Return hours, or None with a warning for what is none (haak.md 12)."""
    if value is None:
        return None, ""
    try:
        hours = 0.0 if isinstance(value, bool) else float(value)
    except OverflowError:
        hours = NEVER if value > 0 else 0.0
    except (TypeError, ValueError):
        hours = 0.0
    if hours > 0:
        return hours, ""
    return None, f"a ttl of {str(value)[:20]!r} is none: the default holds"


def _readers(value: Any) -> tuple[str, ...]:
    """Return who has read a message, from names or from records of reading (haak.md 4)."""
    if isinstance(value, list):
        value = [pick(each, READ["reader"])[0] if isinstance(each, dict) else each for each in value]
    return strings(value)


def strings(value: Any) -> tuple[str, ...]:
    """Return the names in a list or in a text with commas, once each."""
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(dict.fromkeys(name for part in parts if (name := _name(part)[0].strip())))
