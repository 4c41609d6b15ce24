"""The records of another mailbox, as JSON objects in the protocol's field names."""

from __future__ import annotations

from json import loads
from typing import Any

from mailstore.haak_records.values import MESSAGE_FIELDS
from mailstore.kit.timestamps import written_time
from mailstore.records.address import DEFAULT_TTL_HOURS, resolve
from mailstore.records.adopted import LONG_TTL_HOURS, Adopted, AdoptedMessage
from mailstore.records.message import NEVER, Delivery, Intervention, Message, Receipt
from mailstore.records.roster import Agent, Roster

INCOMPLETE = "it has no sender, recipient, agent or reader"
"""Why a record is not written that is not whole."""

Record = dict[str, Any]


def is_whole(record: Adopted) -> bool:
    """Say whether a record has what the protocol requires: a sender and recipients, an agent, a reader."""
    match record:
        case AdoptedMessage(message=message):
            return bool(message.sender.strip()) and any(map(str.strip, message.recipients))
        case Agent(session_id=name):
            return bool(name.strip())
        case Receipt(message_id, reader):
            return bool(message_id.strip() and reader.strip())
        case Delivery(message_id, recipient):
            return bool(message_id.strip() and recipient.strip())
    return True


def adopted_record(record: Adopted, roster: Roster) -> Record:
    """Return a record in the protocol's form; the roster tells which addresses of a message expire by default."""
    match record:
        case AdoptedMessage():
            return adopted_message(record, roster)
        case Agent():
            return adopted_agent(record)
        case Receipt(message_id, reader):
            return _dated({"message_id": message_id, "reader_session_id": reader}, record.time)
        case Delivery(message_id, recipient):
            return _dated({"message_id": message_id, "recipient": recipient}, record.time)
        case Intervention():
            return _intervention(record)


def adopted_message(adopted: AdoptedMessage, roster: Roster) -> Record:
    """Return a message's record; the roster tells which addresses expire by default."""
    message = adopted.message
    names = list(message.recipients)
    record: Record = {"id": message.id, "sender": message.sender, "recipient": names[0] if len(names) == 1 else names}
    if message.timed:
        record["timestamp"] = written_time(message.time, message.timestamp)
    if message.subject:
        record["subject"] = message.subject
    record["content"] = adopted.content
    record["thread"] = message.thread
    record["ttl_hours"] = _ttl(message, roster)
    for name, value in (("type", message.type), ("tags", list(message.tags)), ("metadata", adopted.metadata)):
        if value:
            record[name] = value
    record["read_by"] = list(message.read_by)
    for name, value in adopted.extra.items():
        bare = name.rpartition(".")[2]
        record.setdefault(name if bare in record or bare in MESSAGE_FIELDS else bare, value)
    return record


def _ttl(message: Message, roster: Roster) -> float | int | None:
    """Return hours, as an integer if whole; None for a message that never expires if its addresses imply that."""
    hours = message.ttl_hours
    if hours == NEVER:
        kinds = {resolve(text, roster).kind for text in message.recipients}
        return None if all(DEFAULT_TTL_HOURS[kind] is None for kind in kinds) else LONG_TTL_HOURS
    return int(hours) if hours is not None and hours == int(hours) else hours


def adopted_agent(agent: Agent) -> Record:
    """Return an agent's entry."""
    times = {name: getattr(agent, name) for name in ("started_at", "ended_at", "last_seen", "updated")}
    record: Record = {
        "session_id": agent.session_id,
        "name": agent.name or None,
        "role": agent.role or None,
        "tags": list(agent.tags),
        "status": agent.status.value,
        "activity": agent.activity or None,
        **{name: None if time is None else written_time(time) for name, time in times.items()},
    }
    said = {name: value for name, value in record.items() if value is not None}
    return {**(loads(agent.extra) if agent.extra else {}), **said}


def _intervention(record: Intervention) -> Record:
    return {
        "id": record.id,
        "actor": record.actor,
        "action": record.action,
        "message_id": record.message_id,
        "timestamp": written_time(record.time),
        "note": record.note,
        "details": record.details,
    }


def _dated(record: Record, time: float | None) -> Record:
    return {**record, "timestamp": None if time is None else written_time(time)}
