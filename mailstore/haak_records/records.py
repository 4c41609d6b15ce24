"""The smaller records of a HAAK mailbox: reads, deliveries, agents, the oversight journal."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from mailstore.files.lines import Line
from mailstore.files.salvage import UNREADABLE, salvage
from mailstore.haak_records.field_names import AGENT_FIELDS, DELIVERY, READ, STATUSES, pick
from mailstore.haak_records.usual import AGENT as AGENT_LINE
from mailstore.haak_records.usual import READ as READ_LINE
from mailstore.haak_records.values import NotARecord, agent_fields, agent_time, agent_word, strings, text_in
from mailstore.kit.timestamps import parse_time
from mailstore.records.events import Event
from mailstore.records.message import Delivery, Intervention, Problem, Receipt
from mailstore.records.roster import Agent, Status

STATUS_OF = {word: Status(status) for word, status in STATUSES.items()}
Record = dict[str, Any]
Make = Callable[[Record], tuple[Event, str]]
"""Returns the event that a decoded record states, and a warning; raises NotARecord."""


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
    time, late = parse_time(pick(record, READ["timestamp"])[0])
    return Receipt(message_id, reader, time), late


def delivery_of(record: Record) -> tuple[Event, str]:
    """Return what a delivery record states."""
    message_id = _text(record, DELIVERY["message_id"], "message id")
    recipient = _text(record, DELIVERY["recipient"], "recipient")
    time, late = parse_time(pick(record, DELIVERY["timestamp"])[0])
    return Delivery(message_id, recipient, time), late


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
