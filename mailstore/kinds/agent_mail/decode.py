"""Decode rows of MCP Agent Mail's database into messages and receipts (docs/formats/agent-mail.md#database)."""

from __future__ import annotations

from typing import NamedTuple

from mailstore.kinds.agent_mail.attached import listed
from mailstore.kinds.agent_mail.roster import OVERSEER, AgentNames
from mailstore.kit.bodies import first_line, mentions
from mailstore.kit.record_reader import RecordEvents
from mailstore.kit.tables import text_of
from mailstore.kit.timestamps import time_of
from mailstore.records.events import Event
from mailstore.records.message import NEVER, Location, Message, Receipt

KINDS = ("to", "cc", "bcc")


class RecipientRow(NamedTuple):
    """A recipient's row."""

    agent: object
    kind: object
    read: object
    acknowledged: object


class AgentMailRow(NamedTuple):
    """A message's row."""

    id: int
    project: object
    sender: object
    thread: object
    topic: object
    subject: object
    body: object
    importance: object
    needs_answer: object
    created: object
    attachments: object = None


def who(name: str) -> str:
    """Return the name for a mention: `user` for the user."""
    return "user" if name == OVERSEER else name


def tags_of(
    importance: str, needs_answer: bool, topic: str = "", silent: tuple[str, ...] = (), attachments: object = None
) -> tuple[str, ...]:
    """Return a message's tags; `silent` are the recipients that have not acknowledged it."""
    return (
        *([f"importance:{importance}"] if importance not in ("", "normal") else []),
        *(["ack-required"] if needs_answer else []),
        *(f"unacknowledged:{name}" for name in silent),
        *([f"topic:{topic}"] if topic else []),
        *(f"attachment:{image.name}" for image in listed(attachments)),
    )


def record_events(
    row: AgentMailRow, to: list[RecipientRow], names: AgentNames, first: int, before: float, file: str
) -> RecordEvents:
    """Return the events in a message's row and those of its recipients; `first` is the first of its thread."""
    subject, body, created = text_of(row.subject), text_of(row.body), text_of(row.created)
    time = time_of(created)
    to = sorted(
        to,
        key=lambda recipient_row: KINDS.index(kind) if (kind := text_of(recipient_row.kind)) in KINDS else len(KINDS),
    )
    silent = (
        tuple(names.of(recipient_row.agent) for recipient_row in to if recipient_row.acknowledged is None)
        if row.needs_answer
        else ()
    )
    message = Message(
        id=str(row.id),
        sender=names.of(row.sender),
        recipients=tuple(dict.fromkeys(names.of(recipient_row.agent) for recipient_row in to)),
        timestamp=created,
        time=before if time is None else time,
        subject=subject or first_line(body),
        thread=str(first) if first != row.id else None,
        ttl_hours=NEVER,
        tags=tags_of(text_of(row.importance), bool(row.needs_answer), text_of(row.topic), silent, row.attachments),
        mentions=tuple(map(who, mentions(body))),
        location=Location(file, row.id, 0),
        timed=time is not None,
    )
    events: list[Event] = [message]
    for recipient_row in to:
        # acknowledging a message implies reading it
        read = recipient_row.read if recipient_row.read is not None else recipient_row.acknowledged
        if read is not None:
            events.append(Receipt(message.id, names.of(recipient_row.agent), time_of(text_of(read))))
    return RecordEvents(tuple(events), hash((subject, body)))
