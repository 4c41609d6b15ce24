"""Decode a line of an Agenties mailbox: the message, and who has read it (docs/formats/agenties.md)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from mailstore.files.salvage import Piece
from mailstore.kinds.agenties.places import MAILBOX
from mailstore.kit.bodies import first_line, mentions
from mailstore.kit.timestamps import parse_time
from mailstore.records.message import NEVER, SOMEBODY, Location, Message, Receipt
from mailstore.records.protocol import BROADCAST_NAMES, USER_NAMES

AGENT = "agent:"
ISSUE = "issue:"
ROLE = "role:"
ORCHESTRATOR = "orchestrator"


class NotAMessage(Exception):
    """A record is not a message; the text says why."""


class AgentiesEntry(NamedTuple):
    """A decoded line: the message, its read records, the agent it is about, and a warning (empty if none)."""

    message: Message
    receipts: tuple[Receipt, ...]
    about: str
    warning: str


def decode(piece: Piece, last_time: float) -> AgentiesEntry:
    """Decode a message; without a time it gets `last_time`, that of the previous line. Raises NotAMessage."""
    record = piece.value
    if not isinstance(record, dict):
        raise NotAMessage(f"not a message (JSON {type(record).__name__})")
    sender = address(record.get("from"))
    if not sender:
        raise NotAMessage("not a message: it has no sender")
    told = record.get("to")
    recipients = tuple(dict.fromkeys(filter(None, map(address, told if isinstance(told, list) else [told]))))
    if not recipients:
        raise NotAMessage("not a message: it has no recipient")
    body = body_of(record)
    message_id = id_of(piece)
    stamp = record.get("createdAt")
    time, warning = parse_time(stamp)
    subject = record.get("subject")
    kind = record.get("type")
    about = name_of(record.get("agentId")).removeprefix(AGENT)
    issue = name_of(record.get("issueId"))
    to = recipients[0]
    is_one = len(recipients) == 1 and to not in BROADCAST_NAMES
    message = Message(
        id=message_id,
        sender=sender,
        recipients=recipients,
        timestamp="" if stamp is None else str(stamp),
        time=last_time if time is None else time,
        subject=subject if isinstance(subject, str) and subject.strip() else first_line(body),
        ttl_hours=NEVER,
        type=kind if isinstance(kind, str) else "",
        tags=(
            *((f"{ISSUE}{issue}",) if issue else ()),
            *((f"{AGENT}{about}",) if about else ()),
            *_told(record.get("metadata")),
        ),
        mentions=mentions(body),
        location=Location(MAILBOX, piece.offset, len(piece.data)),
        timed=time is not None,
        is_tracked=is_one,
    )
    readers: tuple[str, ...] = ()
    if record.get("read") in (True, 1, "true"):
        # a single flag: it identifies the reader only if there is one recipient; for a role, not who holds it
        readers = (to.removeprefix(ROLE),) if is_one else ()
        readers += (SOMEBODY,) if not is_one or to.startswith(ROLE) else ()
    return AgentiesEntry(message, tuple(Receipt(message_id, reader) for reader in readers), about, warning)


def address(value: Any) -> str:
    """Return an address without the prefix of an agent; empty if it isn't one."""
    text = name_of(value)
    if text in BROADCAST_NAMES:
        return "all"
    if text in USER_NAMES:
        return "user"
    bare = text.removeprefix(AGENT)
    return text if bare in BROADCAST_NAMES or bare in USER_NAMES or ":" in bare or not bare else bare


def name_of(value: Any) -> str:
    """Return a name; empty if the value isn't one."""
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else ""


def _told(metadata: Any) -> Iterator[str]:
    """Yield a message's metadata as tags `NAME:VALUE`."""
    if isinstance(metadata, dict):
        for name, value in metadata.items():
            if value is not None:
                yield f"{name}:{_written(value)}"


def _written(value: Any) -> str:
    """Return text unchanged, any other value as JSON."""
    if isinstance(value, str):
        return value
    try:
        return msgspec.json.encode(value).decode()
    except OverflowError:
        return json.dumps(value, ensure_ascii=False)


def id_of(piece: Piece) -> str:
    """Return a record's id, or one derived from its bytes."""
    given = name_of(piece.value.get("id"))
    return given or f"line:{hashlib.sha1(piece.data, usedforsecurity=False).hexdigest()}"


def body_of(record: dict[str, Any]) -> str:
    """Return a message's body. Raises NotAMessage if it has none."""
    body = record.get("body")
    if body is None:
        raise NotAMessage("not a message: it has no body")
    return _written(body)
