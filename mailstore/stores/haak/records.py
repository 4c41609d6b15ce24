"""The smaller records of a HAAK mailbox: reads, deliveries, roster lines, the oversight journal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from mailstore.events import Event
from mailstore.files.lines import Line
from mailstore.message import Delivery, Intervention, Problem, Receipt
from mailstore.roster import Agent, Status
from mailstore.stores.haak.decode import NotAMessage, loads, objects
from mailstore.stores.haak.names import READ, STATUSES, parse_time, pick

__all__ = ["RECEIPT", "agent_of", "decode_line", "delivery_of", "intervention_of", "receipt_of", "roster_of"]


class UsualReceipt(msgspec.Struct, gc=False):
    """The line that every program writes; anything else takes the slower way."""

    message_id: str
    reader_session_id: str
    timestamp: str | None = None


RECEIPT = msgspec.json.Decoder(UsualReceipt)


def decode_line(
    file: str, line: Line, number: int, make: Callable[[dict[str, Any]], tuple[Event, str]]
) -> list[Event]:
    """Decode a line into records by `make`, which raises NotAMessage; what is wrong comes as problems."""
    try:
        parts, fault = objects(line)
    except NotAMessage as reason:
        return [Problem(file, number, line.offset, str(reason))] if str(reason) else []
    found: list[Event] = [Problem(file, number, line.offset, fault, fatal=False)] if fault else []
    for part in parts:
        try:
            record = loads(part.data)
            if not isinstance(record, dict):
                raise NotAMessage(f"a JSON {type(record).__name__}, no record")
            event, warning = make(record)
        except NotAMessage as reason:
            found.append(Problem(file, number, part.offset, str(reason)))
            continue
        found.append(event)
        if warning:
            found.append(Problem(file, number, part.offset, warning, fatal=False))
    return found


def _text(record: dict[str, Any], names: tuple[str, ...], what: str) -> str:
    value, _ = pick(record, names)
    if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
        raise NotAMessage(f"it has no {what}")
    return str(value)


def receipt_of(record: dict[str, Any]) -> tuple[Event, str]:
    """Read a read record (haak.md 5)."""
    message_id = _text(record, READ["message_id"], "message id")
    reader = _text(record, READ["reader"], "reader")
    time, late = parse_time(pick(record, READ["timestamp"])[0])
    return Receipt(message_id, reader, time), late


def delivery_of(record: dict[str, Any]) -> tuple[Event, str]:
    """Read a delivery record."""
    message_id = _text(record, READ["message_id"], "message id")
    recipient = _text(record, ("recipient", "recipient_session_id", "session_id", "to"), "recipient")
    time, late = parse_time(pick(record, READ["timestamp"])[0])
    return Delivery(message_id, recipient, time), late


def intervention_of(record: dict[str, Any]) -> tuple[Event, str]:
    """Read a line of the oversight journal."""
    time, late = parse_time(record.get("timestamp"))
    details = record.get("details")
    message_id = record.get("message_id")
    return (
        Intervention(
            id=_text(record, ("id",), "id"),
            actor=_text(record, ("actor",), "actor"),
            action=_text(record, ("action",), "action"),
            time=time or 0.0,
            message_id=str(message_id) if message_id is not None else None,
            note=str(record.get("note") or ""),
            details=details if isinstance(details, dict) else {},
        ),
        late,
    )


def agent_of(record: dict[str, Any]) -> tuple[Event, str]:
    """Read an agent's entry in a roster (haak.md 16, 17)."""
    session_id = _text(record, ("session_id", "session", "id"), "session id")
    word = pick(record, ("state", "status"))[0]
    status = STATUSES.get(str(word).strip().lower()) if word is not None else None
    warning = ""
    if status is None:
        warning = (
            f"status {str(word)[:20]!r} is none: taken as living"
            if word is not None
            else "no status: taken as living"
        )
    tags = record.get("tags")
    times = {
        name: parse_time(value)[0] if (value := pick(record, names)[0]) is not None else None
        for name, names in (
            ("started_at", ("started_at", "registered", "registered_at", "created_at")),
            ("ended_at", ("ended_at", "died_at", "buried_at")),
            ("last_seen", ("last_seen", "heartbeat")),
            ("updated", ("updated", "updated_at", "last_updated")),
        )
    }
    is_dead = status == "dead"
    return (
        Agent(
            session_id=session_id,
            name=str(record.get("name") or ""),
            role=str(record.get("role") or ""),
            tags=_tags(tags),
            status=Status(status or "living"),
            activity=str(pick(record, ("activity", "summary", "working_on"))[0] or ""),
            started_at=times["started_at"],
            ended_at=(times["ended_at"] if times["ended_at"] is not None else times["updated"])
            if is_dead
            else None,
            last_seen=times["last_seen"],
            updated=times["updated"],
        ),
        warning,
    )


def _tags(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return tuple(dict.fromkeys(str(tag) for tag in value)) if isinstance(value, list) else ()


def roster_of(file: str, data: bytes) -> list[Event]:
    """Read a roster that is one JSON document: a list, an object by session id, or one with `agents`."""
    if not data.strip():
        return []
    try:
        found = loads(data.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, RecursionError) as error:
        return [Problem(file, 1, 0, f"no JSON: {str(error)[:100]}")]
    entries = entries_of(found)
    if entries is None:
        return [Problem(file, 1, 0, "no roster: neither a list nor an object of agents")]
    events: list[Event] = []
    for entry in entries:
        try:
            event, warning = agent_of(entry)
        except NotAMessage as reason:
            events.append(Problem(file, 1, 0, f"an agent can't be read: {reason}"))
            continue
        events.append(event)
        if warning:
            events.append(Problem(file, 1, 0, warning, fatal=False))
    return events


def entries_of(found: Any) -> list[dict[str, Any]] | None:
    """Return the agents of a decoded roster document, each with its session id; None when it is none."""
    if isinstance(found, dict) and isinstance(found.get("agents"), (list, dict)):
        found = found["agents"]
    if isinstance(found, dict):
        return [{"session_id": key, **entry} for key, entry in found.items() if isinstance(entry, dict)]
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else None
