"""Decode a record as a message or an agent, by the fields of a mapping."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from mailstore.kinds.mapped.fields import flag_of, found_in, text_of, texts_of, time_of
from mailstore.kinds.mapped.origins import MappedRecord
from mailstore.kit.bodies import first_line, mentions
from mailstore.records.message import NEVER, SOMEBODY, Message, Receipt
from mailstore.records.protocol import BROADCAST_NAMES, USER_NAMES
from mailstore.records.roster import Agent, Status

if TYPE_CHECKING:
    from mailstore.kinds.mapped.mapping import AgentMap, Finder, Mapping

HOUR = 3600.0
SOON = 1 / HOUR
"""The TTL, in hours, of a message that expired before it was sent."""
STATES = {
    Status.FROZEN: frozenset({"frozen", "paused", "suspended", "sleeping"}),
    Status.DEAD: frozenset({"dead", "ended", "stopped", "exited", "terminated", "retired", "completed", "killed"}),
}


class Decoded(NamedTuple):
    """A message, the label of its thread, and its read record."""

    message: Message
    label: str
    receipt: Receipt | None


def is_wanted(mapping: Mapping, record: MappedRecord) -> bool:
    return mapping.source.only is None or flag_of(mapping.source.only, record.value, record.groups)


def derived_id(record: MappedRecord, is_file: bool) -> str:
    """Return a stable id for a record without one; equal records in one file share it."""
    place = record.location.file.encode("utf-8", "replace") + b"\x00" if is_file else b""
    return hashlib.sha256(place + record.raw).hexdigest()[:20]


def body_of(mapping: Mapping, record: MappedRecord) -> str:
    return text_of(found_in(mapping.message.body, record.value, record.groups))


def message_of(mapping: Mapping, record: MappedRecord, last_time: float) -> Decoded | str:
    """Return the message in a record, or why it is not one; the id may be empty."""
    fields, value, groups = mapping.message, record.value, record.groups
    sender = next(iter(texts_of(fields.sender, value, groups)), "")
    recipients = texts_of(fields.recipients, value, groups)
    if not sender:
        return f"is not a message: it has no sender ({_origin(fields.sender)})"
    if not recipients:
        return f"is not a message: it has no recipient ({_origin(fields.recipients)})"
    body = found_in(fields.body, value, groups)
    if body is None:
        return f"is not a message: it has no body ({_origin(fields.body)})"
    content = text_of(body)
    timestamp, time = time_of(fields.time, value, groups)
    subject = text_of(found_in(fields.subject, value, groups)).strip()
    message_id = text_of(found_in(fields.id, value, groups)).strip()
    named = tuple(dict.fromkeys(_named(mapping, recipient) for recipient in recipients))
    moment = last_time if time is None else time
    message = Message(
        id=message_id,
        sender=_named(mapping, sender),
        recipients=named,
        timestamp=timestamp,
        time=moment,
        subject=subject or first_line(content),
        thread=text_of(found_in(fields.reply_to, value, groups)).strip() or None,
        ttl_hours=_ttl(mapping, record, moment),
        type=text_of(found_in(fields.type, value, groups)).strip(),
        tags=texts_of(fields.tags, value, groups),
        mentions=mentions(content),
        location=record.location,
        timed=time is not None,
        is_tracked=fields.read is not None,
    )
    receipt = None
    if flag_of(fields.read, value, groups):
        # a flag identifies the reader only if there is one recipient
        is_one = len(named) == 1 and named[0] not in BROADCAST_NAMES and ":" not in named[0]
        receipt = Receipt(message_id, named[0] if is_one else SOMEBODY)
    return Decoded(message, text_of(found_in(fields.thread, value, groups)).strip(), receipt)


def _origin(finder: Finder) -> str:
    return finder.path or finder.group or "constant"


def _named(mapping: Mapping, name: str) -> str:
    if name in mapping.names.user or name in USER_NAMES:
        return "user"
    return "all" if name in mapping.names.all or name in BROADCAST_NAMES else name


def _ttl(mapping: Mapping, record: MappedRecord, time: float) -> float:
    fields = mapping.message
    _, expires = time_of(fields.expires, record.value, record.groups)
    if expires is not None:
        return max((expires - time) / HOUR, SOON)
    try:
        hours = float(text_of(found_in(fields.ttl_hours, record.value, record.groups)) or "nan")
    except ValueError:
        return NEVER
    return hours if hours > 0 else NEVER


def agent_of(fields: AgentMap, record: MappedRecord) -> Agent | None:
    """Return the agent in a record, or None."""
    value, groups = record.value, record.groups
    session_id = text_of(found_in(fields.id, value, groups)).strip()
    if not session_id or session_id in USER_NAMES | BROADCAST_NAMES:
        return None
    said = text_of(found_in(fields.status, value, groups)).strip().lower()
    status = next((status for status, words in STATES.items() if said in words), Status.LIVING)
    _, ended = time_of(fields.ended, value, groups)
    if ended is not None:
        status = Status.DEAD
    role = text_of(found_in(fields.role, value, groups)).strip()
    return Agent(
        session_id=session_id,
        name=text_of(found_in(fields.name, value, groups)).strip(),
        role="" if role == session_id else role,
        tags=texts_of(fields.tags, value, groups),
        status=status,
        activity=first_line(text_of(found_in(fields.activity, value, groups))),
        started_at=time_of(fields.started, value, groups)[1],
        ended_at=ended,
        last_seen=time_of(fields.seen, value, groups)[1],
    )
