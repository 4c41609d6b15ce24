"""Decode hcom's events into messages, and find their threads (docs/formats/hcom.md#messages)."""

from __future__ import annotations

from typing import Any

import msgspec

from mailstore.files.salvage import UNREADABLE, is_text, loads
from mailstore.kinds.hcom.tables import LAST, EventRow
from mailstore.kit.bodies import first_line, mentions
from mailstore.kit.json_records import text_in
from mailstore.kit.record_reader import RecordEvents
from mailstore.kit.timestamps import time_of
from mailstore.records.events import Event
from mailstore.records.message import NEVER, Delivery, Location, Message, Problem

BIGBOSS = "bigboss"
"""What the program calls the user."""
EVENTS = "events"
BROADCAST = "broadcast"


class UnreadableEvent(Exception):
    """An event is not a message; says why, in words for a user."""


class HcomMessage(msgspec.Struct, frozen=True, gc=False):
    """The data of a message's event."""

    id: int
    sender: str
    text: str
    is_broadcast: bool = False
    sender_kind: str = ""
    to: tuple[str, ...] = ()
    mentioned: tuple[str, ...] = ()
    intent: str = ""
    label: str = ""
    answers: str = ""
    """What it answers, as the program writes it: a number, or a number and a device."""
    answered: int | None = None
    """The number of the event here that it answers."""
    bundle: str = ""


def id_of(number: int, mark: str) -> str:
    """Return the id of a message: `hcom reset` begins a conversation in which the same numbers mean others."""
    return f"{number}-{mark}"


def number_in(message_id: str) -> tuple[int, str]:
    """Return the number and the mark in an id; -1, which no event has, for one that is none."""
    digits, _, mark = message_id.partition("-")
    number = int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 20 else -1
    return (number if number <= LAST else -1), mark


def who(name: str) -> str:
    """Return an agent's name in the mailbox: `user` for the user."""
    return "user" if name == BIGBOSS else name


def message_of(row: EventRow) -> HcomMessage:
    """Return the message in an event. Raises UnreadableEvent."""
    data = data_of(row.data)
    for name in ("from", "text"):
        if not isinstance(data.get(name), str):
            raise UnreadableEvent(f"not a message: {name!r} is {'missing' if data.get(name) is None else 'not text'}")
    if not data["from"]:
        raise UnreadableEvent("not a message: 'from' is empty")
    answers = data.get("reply_to")
    return HcomMessage(
        row.id,
        data["from"],
        data["text"],
        data.get("scope") == BROADCAST,
        text_in(data, "sender_kind"),
        _names(data, "delivered_to"),
        _names(data, "mentions"),
        text_in(data, "intent"),
        text_in(data, "thread"),
        str(answers) if isinstance(answers, (str, int)) else "",
        _answered(data),
        text_in(data, "bundle_id"),
    )


def data_of(data: bytes) -> dict[str, Any]:
    """Return the JSON object in an event. Raises UnreadableEvent."""
    try:
        decoded = loads(data)
    except UNREADABLE as error:
        raise UnreadableEvent("invalid JSON") from error
    if not isinstance(decoded, dict):
        raise UnreadableEvent("not a JSON object")
    return decoded


def _names(data: dict[str, Any], name: str) -> tuple[str, ...]:
    names = data.get(name)
    named = (each for each in names if isinstance(each, str) and each) if isinstance(names, list) else ()
    return tuple(dict.fromkeys(named))


def _answered(data: dict[str, Any]) -> int | None:
    for name in ("reply_to_local", "reply_to"):
        answered = data.get(name)
        if isinstance(answered, int) and not isinstance(answered, bool):
            return answered
        if isinstance(answered, str) and answered.isascii() and answered.isdecimal() and len(answered) < 19:
            return int(answered)
    return None


def message_events(
    row: EventRow, mail: HcomMessage, thread: int | None, before: float, file: str, mark: str
) -> RecordEvents:
    """Return the events in a message's row.

    `before` is the time of the events before it, for one without a time; `mark` is that of the conversation.
    """
    time = time_of(row.timestamp)
    sender = who(mail.sender)
    reached = tuple(map(who, mail.to))
    named = tuple(name for name in map(who, mail.mentioned) if name != sender and name not in reached)
    message = Message(
        id=id_of(row.id, mark),
        sender=sender,
        recipients=("all",) if mail.is_broadcast else (*reached, *named),
        timestamp=row.timestamp,
        time=before if time is None else time,
        subject=first_line(mail.text),
        thread=id_of(thread, mark) if thread not in (None, row.id) else None,
        ttl_hours=NEVER,
        type=mail.intent,
        tags=_tags(mail),
        mentions=tuple(map(who, mentions(mail.text))),
        location=Location(file, row.id, 0),
        timed=time is not None,
        is_tracked=bool(reached),
        is_listed=mail.is_broadcast,
    )
    events: list[Event] = [message, *(Delivery(message.id, name, time) for name in reached)]
    if not is_text(row.data):
        events.append(Problem(file, row.id, 0, not_utf8(row), fatal=False))
    return RecordEvents(tuple(events), hash(mail.text))


def not_utf8(row: EventRow) -> str:
    """Return the words for an event that isn't UTF-8."""
    return f"{EVENTS}, row {row.id}: invalid UTF-8, shown as \ufffd"


def _tags(message: HcomMessage) -> tuple[str, ...]:
    is_foreign = bool(message.answers) and message.answered is None
    return (
        *([f"thread:{message.label}"] if message.label else []),
        *([f"answers:{message.answers}"] if is_foreign else []),
        *([message.bundle] if message.bundle else []),
        *([message.sender_kind] if message.sender_kind in ("external", "system") and message.sender != BIGBOSS else []),
    )
