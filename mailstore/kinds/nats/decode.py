"""Turn the messages of a stream into events (docs/formats/nats.md)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import msgspec
from msgspec.structs import replace

from mailstore.files.lines import Line
from mailstore.haak_records.decode import (
    MessageDecoder,
    decode_agent,
    decode_line,
    decode_receipt,
    delivery_of,
    intervention_of,
)
from mailstore.kinds.nats.stream import StreamRecord
from mailstore.kinds.nats.subjects import Topic, name_of, token_of
from mailstore.records.events import Event
from mailstore.records.message import Delivery, Intervention, Location, Message, Problem, Receipt
from mailstore.records.protocol import USER_NAMES
from mailstore.records.roster import Agent

AUDIENCE = msgspec.json.Decoder(tuple[str, ...])
PERSON = frozenset(map(token_of, USER_NAMES))


class RecordDecoder:
    """Decodes the messages of one stream, each by itself."""

    def __init__(self, stream: str) -> None:
        self._stream = stream
        self._small = {
            Topic.DELIVERY: partial(decode_line, stream, make=delivery_of),
            Topic.ROSTER: partial(decode_agent, stream),
            Topic.PRESENCE: partial(decode_agent, stream),
            Topic.JOURNAL: partial(decode_line, stream, make=intervention_of),
            Topic.READ: partial(decode_receipt, stream),
        }

    def events(self, records: Iterable[StreamRecord]) -> list[Event]:
        return [event for record in records for event in self.decode(record)]

    def decode(self, record: StreamRecord) -> list[Event]:
        if record.topic == Topic.MAIL:
            return self._mail(record)
        decode = self._small.get(Topic(record.topic)) if record.topic in self._small else None
        if decode is None:
            return [self._problem(record, f"unknown subject {record.topic}")]
        decoded = decode(line=Line(record.sequence, record.data), number=record.sequence)
        facts = [event for event in decoded if not isinstance(event, Problem)]
        problems: list[Event] = [self._placed(event) for event in decoded if isinstance(event, Problem)]
        if not decoded:
            problems.append(self._problem(record, "it is empty"))
        for fact in facts:
            forged = _copied(record) or _forged(fact, record.token)
            problems.append(self._problem(record, forged) if forged else fact)
        return problems

    def _mail(self, record: StreamRecord) -> list[Event]:
        decoder = MessageDecoder(self._stream)
        decoder.last_time = record.time
        messages, problems = decoder.decode(Line(record.sequence, record.data), record.sequence)
        events: list[Event] = [self._placed(problem) for problem in problems]
        if not messages and not problems:
            events.append(self._problem(record, "it is empty"))
        for message in messages[:1]:
            place = Location(self._stream, record.sequence, len(record.data))
            placed = message if message.location == place else replace(message, location=place)
            forged = _forged_mail(placed, record)
            if forged:
                placed = replace(placed, tags=(f"!{forged}", *placed.tags))
            events += self._audience(record, placed)
            events.append(placed)
            if forged:
                events.append(self._problem(record, forged, fatal=False))
        if len(messages) > 1:
            events.append(self._problem(record, f"{len(messages)} messages in one: only the first one counts"))
        return events

    def _audience(self, record: StreamRecord, message: Message) -> list[Event]:
        if not record.audience:
            return []
        try:
            names = AUDIENCE.decode(record.audience)
        except (msgspec.DecodeError, RecursionError):
            return [self._problem(record, "its audience can't be read", fatal=False)]
        return [Delivery(message.id, name, message.time) for name in names]

    def _problem(self, record: StreamRecord, reason: str, *, fatal: bool = True) -> Problem:
        return Problem(self._stream, record.sequence, record.sequence, reason, fatal)

    def _placed(self, problem: Problem) -> Problem:
        """Return a problem of a record with the record's number as its place."""
        return problem if problem.offset == problem.line else replace(problem, offset=problem.line)


def _copied(record: StreamRecord) -> str:
    """Say that a record is a copy which somebody made the server put under another's name; empty if it isn't."""
    if not record.copied_from:
        return ""
    return f"forged: it was copied from {record.copied_from[:100]}"


def _forged_mail(message: Message, record: StreamRecord) -> str:
    """Say that a message is not by its sender; empty if it is."""
    if copied := _copied(record):
        return copied
    return "" if token_of(message.sender) == record.token else f"forged: {_writer(record.token)} wrote it"


def _forged(fact: Event, token: str) -> str:
    """Say why a record doesn't count, because another wrote it than the one it speaks for; empty if it does."""
    match fact:
        case Receipt(reader=name):
            what = f"says that {name} has read {fact.message_id}"
        case Intervention(actor=name):
            what = f"gives itself out as {name}"
        case Agent(session_id=name) if token not in PERSON:
            what = f"changes the entry of {name}"
        case _:
            return ""
    return "" if token_of(name) == token else f"forged: a record of {_writer(token)} {what}"


def _writer(token: str) -> str:
    name = name_of(token)
    return token if name is None else name or "somebody without a name"
