"""Decode lines of a HAAK mailbox: messages, whose bodies stay in the file, and other records (docs/formats/haak.md)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec

from mailstore.errors import ContentGone
from mailstore.files.lines import Line
from mailstore.files.salvage import UNREADABLE, Piece, loads, salvage
from mailstore.haak_records.usual import AGENT as AGENT_LINE
from mailstore.haak_records.usual import READ as READ_LINE
from mailstore.haak_records.usual import UsualMessage, UsualMessages
from mailstore.haak_records.values import (
    AGENT_FIELDS,
    DELIVERY,
    MESSAGE,
    READ,
    STATUSES,
    NotARecord,
    agent_fields,
    agent_time,
    agent_word,
    id_in,
    message_fields,
    pick,
    recipients_in,
    strings,
    text_in,
)
from mailstore.kit.bodies import first_line, mentions
from mailstore.kit.timestamps import parse_time
from mailstore.records.events import Event
from mailstore.records.message import Delivery, Intervention, Location, Message, Problem, Receipt
from mailstore.records.roster import Agent, Status

USUAL = UsualMessages()
STATUS_OF = {word: Status(status) for word, status in STATUSES.items()}
Record = dict[str, Any]
Make = Callable[[Record], tuple[Event, str]]
"""Returns the event that a decoded record states, and a warning; raises NotARecord."""


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


def decode_line(file: str, line: Line, number: int, make: Make) -> list[Event]:
    """Decode a line into records and problems."""
    pieces, faults = salvage(line)
    problems: list[Event] = [Problem(file, number, fault.offset, fault.reason, fault.hides) for fault in faults]
    for piece in pieces:
        try:
            if not isinstance(piece.value, dict):
                raise NotARecord(f"not a record (JSON {type(piece.value).__name__})")
            event, warning = make(piece.value)
        except NotARecord as reason:
            problems.append(Problem(file, number, piece.offset, str(reason)))
            continue
        problems.append(event)
        if warning:
            problems.append(Problem(file, number, piece.offset, warning, fatal=False))
    return problems


def decode_receipt(file: str, line: Line, number: int) -> list[Event]:
    """Decode a line of the file of read records, the usual ones faster."""
    data = line.data
    if data.isascii() and not data.endswith(b"\r"):
        try:
            usual = READ_LINE.decode(data)
        except UNREADABLE:
            return decode_line(file, line, number, receipt_of)
        time, late = parse_time(usual.timestamp)
        if usual.message_id and usual.reader_session_id and not late:
            return [Receipt(usual.message_id, usual.reader_session_id, time)]
    return decode_line(file, line, number, receipt_of)


def decode_agent(file: str, line: Line, number: int) -> list[Event]:
    """Decode a line of a roster, the usual ones faster: agents at work add one every few minutes."""
    data = line.data
    if not data.endswith(b"\r"):
        try:
            usual = AGENT_LINE.decode(data)
        except UNREADABLE:
            return decode_line(file, line, number, agent_of)
        status = STATUS_OF.get(usual.status)
        if status is not None and usual.session_id:
            updated, ended_at = _time_of(usual.updated), _time_of(usual.ended_at)
            if status is not Status.DEAD:
                ended_at = None
            elif ended_at is None:
                ended_at = updated
            return [
                Agent(
                    session_id=usual.session_id,
                    name=usual.name,
                    role=usual.role,
                    tags=_names(usual.tags),
                    status=status,
                    activity=usual.activity,
                    started_at=_time_of(usual.started_at),
                    ended_at=ended_at,
                    updated=updated,
                    last_seen=_time_of(usual.last_seen),
                )
            ]
    return decode_line(file, line, number, agent_of)


@lru_cache(maxsize=1024)
def _time_of(text: str | None) -> float | None:
    """Return a time in seconds since the epoch; a heartbeat has the same one twice, and one of the line before."""
    return parse_time(text)[0]


@lru_cache(maxsize=256)
def _names(names: tuple[str, ...]) -> tuple[str, ...]:
    return strings([*names])


def receipt_of(record: Record) -> tuple[Event, str]:
    """Return what a read record states."""
    message_id = _text(record, READ["message_id"], "message id")
    reader = _text(record, READ["reader"], "reader")
    time, late = _when(record)
    return Receipt(message_id, reader, time), late


def delivery_of(record: Record) -> tuple[Event, str]:
    """Return what a delivery record states."""
    message_id = _text(record, DELIVERY["message_id"], "message id")
    recipient = _text(record, DELIVERY["recipient"], "recipient")
    time, late = _when(record)
    return Delivery(message_id, recipient, time), late


def _when(record: Record) -> tuple[float | None, str]:
    """Return the time of a read or a delivery and a warning; null says that whoever wrote it didn't know the time."""
    names = READ["timestamp"]
    said = [record[name] for name in names if name in record]
    if said and all(value is None for value in said):
        return None, ""
    return parse_time(pick(record, names)[0])


def intervention_of(record: Record) -> tuple[Event, str]:
    """Return what a line of the oversight journal states."""
    time, late = parse_time(record.get("timestamp"))
    details = record.get("details")
    message_id = record.get("message_id")
    intervention = Intervention(
        id=_text(record, ("id",), "id"),
        actor=_text(record, ("actor",), "actor"),
        action=_text(record, ("action",), "action"),
        time=time or 0.0,
        message_id=str(message_id) if message_id is not None else None,
        note=str(record.get("note") or ""),
        details=details if isinstance(details, dict) else {},
    )
    return intervention, late


def agent_of(record: Record) -> tuple[Event, str]:
    """Return what an agent's entry in a roster states."""
    fields, warning = agent_fields(record)
    agent = Agent(
        activity=agent_word(record, "activity"),
        last_seen=agent_time(record, "last_seen"),
        extra=_extra(record),
        **{**fields, "status": Status(fields["status"])},
    )
    return agent, warning


def _extra(record: Record) -> str:
    """Return the fields of an agent's entry that are unknown here, as JSON; empty where there are none."""
    if record.keys() <= AGENT_FIELDS:
        return ""
    from json import dumps

    return dumps({name: value for name, value in record.items() if name not in AGENT_FIELDS})


def _text(record: Record, names: tuple[str, ...], what: str) -> str:
    value = text_in(record, names)
    if value is None:
        raise NotARecord(f"it has no {what}")
    return value
