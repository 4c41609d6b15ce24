"""The smaller records of a HAAK mailbox: reads, deliveries, agents, the oversight journal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from mailstore.files.lines import Line
from mailstore.files.salvage import UNREADABLE, salvage
from mailstore.kit.timestamps import parse_time
from mailstore.records.events import Event
from mailstore.records.intervals import Spell
from mailstore.records.message import Delivery, Intervention, Problem, Receipt
from mailstore.records.roster import Agent, Status
from mailstore.stores.haak.field_names import AGENT, AGENT_FIELDS, DELIVERY, READ, SPELLS, STATUSES, pick
from mailstore.stores.haak.read.decode import NotARecord, strings

__all__ = ["Make", "agent_of", "decode_line", "decode_receipt", "delivery_of", "intervention_of", "receipt_of"]

Record = dict[str, Any]
Make = Callable[[Record], tuple[Event, str]]
"""Makes an event of a decoded record, with a warning; raises NotARecord."""


class UsualReceipt(msgspec.Struct, gc=False):
    """The line that every program writes; anything else takes the slower way."""

    message_id: str
    reader_session_id: str
    timestamp: str | None = None


RECEIPT = msgspec.json.Decoder(UsualReceipt)


def decode_line(file: str, line: Line, number: int, make: Make) -> list[Event]:
    """Decode a line into records; what is wrong with it comes as problems."""
    pieces, faults = salvage(line)
    found: list[Event] = [Problem(file, number, fault.offset, fault.reason, fault.hides) for fault in faults]
    for piece in pieces:
        try:
            if not isinstance(piece.value, dict):
                raise NotARecord(f"a JSON {type(piece.value).__name__}, no record")
            event, warning = make(piece.value)
        except NotARecord as reason:
            found.append(Problem(file, number, piece.offset, str(reason)))
            continue
        found.append(event)
        if warning:
            found.append(Problem(file, number, piece.offset, warning, fatal=False))
    return found


def decode_receipt(file: str, line: Line, number: int) -> list[Event]:
    """Decode a line of the file of reads, the usual ones faster."""
    data = line.data
    if data.isascii() and not data.endswith(b"\r"):
        try:
            usual = RECEIPT.decode(data)
        except UNREADABLE:
            return decode_line(file, line, number, receipt_of)
        time, late = parse_time(usual.timestamp)
        if usual.message_id and usual.reader_session_id and not late:
            return [Receipt(usual.message_id, usual.reader_session_id, time)]
    return decode_line(file, line, number, receipt_of)


def receipt_of(record: Record) -> tuple[Event, str]:
    """Read a read record (haak.md 5)."""
    message_id = _text(record, READ["message_id"], "message id")
    reader = _text(record, READ["reader"], "reader")
    time, late = parse_time(pick(record, READ["timestamp"])[0])
    return Receipt(message_id, reader, time), late


def delivery_of(record: Record) -> tuple[Event, str]:
    """Read a delivery record."""
    message_id = _text(record, DELIVERY["message_id"], "message id")
    recipient = _text(record, DELIVERY["recipient"], "recipient")
    time, late = parse_time(pick(record, DELIVERY["timestamp"])[0])
    return Delivery(message_id, recipient, time), late


def intervention_of(record: Record) -> tuple[Event, str]:
    """Read a line of the oversight journal."""
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
    """Read an agent's entry in a roster (haak.md 16, 17)."""
    session_id = _text(record, AGENT["session_id"], "session id")
    word = pick(record, AGENT["status"])[0]
    status = STATUSES.get(str(word).strip().lower())
    warning = ""
    if status is None:
        warning = "no status: taken as living" if word is None else f"status {str(word)[:20]!r}: taken as living"
    updated = _time(record, "updated")
    ended_at = _time(record, "ended_at")
    agent = Agent(
        session_id=session_id,
        name=_word(record, "name"),
        role=_word(record, "role"),
        tags=strings(record.get("tags")),
        status=Status(status or "living"),
        activity=_word(record, "activity"),
        started_at=_time(record, "started_at"),
        ended_at=None if status != "dead" else updated if ended_at is None else ended_at,
        last_seen=_time(record, "last_seen"),
        updated=updated,
        extra=_extra(record),
        was_frozen=_spells(record.get(SPELLS)),
    )
    return agent, warning


def _spells(value: Any) -> tuple[Spell, ...]:
    """Return from when to when an agent was frozen, as its entry tells it: pairs of times, null for one unknown."""
    pairs = value if isinstance(value, list) else []
    return tuple(
        (parse_time(pair[0])[0], parse_time(pair[1])[0]) for pair in pairs if isinstance(pair, list) and len(pair) == 2
    )


def _extra(record: Record) -> str:
    """Return the fields of an agent's entry that are not ours, as JSON; empty where it has none."""
    if record.keys() <= AGENT_FIELDS:
        return ""
    from json import dumps

    return dumps({name: value for name, value in record.items() if name not in AGENT_FIELDS})


def _time(record: Record, field: str) -> float | None:
    return parse_time(pick(record, AGENT[field])[0])[0]


def _word(record: Record, field: str) -> str:
    value = pick(record, AGENT[field])[0]
    return str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""


def _text(record: Record, names: tuple[str, ...], what: str) -> str:
    value, _ = pick(record, names)
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise NotARecord(f"it has no {what}")
    return str(value)
