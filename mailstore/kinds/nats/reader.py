"""Read the streams of a mailbox as events: everything once, then what is published."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from mailstore.errors import MailboxMissing, StoreError
from mailstore.kinds.nats.connection import Connection
from mailstore.kinds.nats.decode import RecordDecoder
from mailstore.kinds.nats.failures import missing
from mailstore.kinds.nats.pull import Pull, PullBroken
from mailstore.kinds.nats.stream import StreamRecord, StreamState, one, piece, stream_state
from mailstore.kinds.nats.subjects import Topic, mail_stream, presence_stream, subject
from mailstore.records.events import Event, Progress
from mailstore.records.message import Message, Problem
from mailstore.records.roster import Agent
from mailstore.resumable import Stale

FIRST = 1500
"""How many of the newest records are read first, for the first screen."""
BATCH = 500
EVERYTHING = 1 << 40
Thing = TypeVar("Thing")
FEW = 3000
"""Up to so many records are read without a consumer."""
TRIES = 10


class ReadPlace(msgspec.Struct, frozen=True):
    """How far a stream was read: which stream, and the next sequence number."""

    created: str
    next: int


class StreamReader:
    """Emits every record once; progress is the next sequence number. Blocks; for one consumer."""

    def __init__(self, connection: Connection, mailbox: str) -> None:
        self._connection = connection
        self.mailbox = mailbox
        self.stream, self.presence_stream = mail_stream(mailbox), presence_stream(mailbox)
        self._decoder = RecordDecoder(self.stream)
        self._signs = RecordDecoder(self.presence_stream)
        self.begin()

    def begin(self, state: StreamState | None = None) -> None:
        self._presence = LastSigns()
        self._told_agents = 0
        self.signs_next = 1
        """From where to go on in the stream of presence."""
        self.place = ReadPlace(state.created if state else "", 1)
        """From where to go on."""

    def state(self) -> StreamState:
        """Return what the stream holds now. Raises MailboxMissing and StoreError."""
        state = self._connection.run(stream_state(self._connection.client, self.stream))
        if state is None:
            raise missing(self._connection.address)
        return state

    def scan(self) -> Iterator[list[Event]]:
        """Yield everything: the roster, the newest mail, then the rest. Raises StoreError."""
        state = self.state()
        self.begin(state)
        yield from _sized(self.roster())
        start = max(1, state.last + 1 - FIRST)
        self.place = ReadPlace(state.created, start)
        events: list[Event] = []
        for records in self._pieces(start, FIRST):
            events += self.went_on(records)
        yield from _sized(events[::-1])
        total = max(state.last, self.place.next - 1)
        if start > 1:
            done = self.place.next - start
            yield [Progress(done, total)]
            for records in self.before(start):
                done += len(records)
                yield [*self.events(records), Progress(min(done, total), total)]
        yield [Progress(total, total)]

    def glimpse(self) -> list[Event]:
        """Return the roster and the newest mail. Raises StoreError."""
        state = self.state()
        self.begin(state)
        events = self.roster()
        for records in self._pieces(max(1, state.last + 1 - FIRST), FIRST):
            events += self.events(records)
        return events

    def news(self) -> Iterator[list[Event]]:
        """Yield what came since, by looking once. Raises Stale if the stream is another one, and StoreError."""
        state = self.state()
        self.check(state)
        while self.place.next <= state.last:
            before = self.place.next
            for records in self._pieces(before, FIRST):
                yield self.went_on(records)
            if self.place.next == before:
                return

    def check(self, state: StreamState) -> None:
        """Raise Stale if a stream is not the one that was read, or has fallen back behind what was read."""
        if state.created != self.place.created:
            raise Stale("the mailbox was made anew")
        if state.last < self.place.next - 1:
            raise Stale("the mailbox has lost its newest messages")

    def resume(self, position: bytes) -> list[Event]:
        """Go on from a position; return who is there. Raises Stale and StoreError."""
        state = self.state()
        self.begin(state)
        place = msgspec.msgpack.decode(position, type=ReadPlace)
        self.place = place
        self.check(state)
        return [event for event in self.roster() if isinstance(event, Agent)]

    def went_on(self, records: Sequence[StreamRecord]) -> list[Event]:
        """Return what some records that come next state, and go on after them."""
        self.place = ReadPlace(self.place.created, records[-1].sequence + 1)
        return self.events(records)

    def events(self, records: Sequence[StreamRecord]) -> list[Event]:
        """Return what some records state, less what the roster has told already."""
        events: list[Event] = []
        for record in records:
            if record.topic == Topic.ROSTER:
                if record.sequence > self._told_agents:
                    events += self._agents([record], is_sign=False)
            else:
                events += self._decoder.decode(record)
        return events

    def signs(self, records: Sequence[StreamRecord]) -> list[Event]:
        """Return what signs of agents say; one that can't be read says nothing."""
        return self._agents(records, is_sign=True)

    def roster(self) -> list[Event]:
        """Return the roster, with who is there now. Raises StoreError."""
        events: list[Event] = []
        self._told_agents, self.signs_next = 0, 1
        for records in self._pieces(1, EVERYTHING, subject(self.mailbox, Topic.ROSTER, "*")):
            events += self._agents(records, is_sign=False)
            self._told_agents = records[-1].sequence
        with suppress(StoreError):  # without the stream of presence the roster says who is there
            for signs in self._pieces(1, EVERYTHING, ">", self.presence_stream):
                events += self.signs(signs)
                self.signs_next = signs[-1].sequence + 1
        return events

    def _agents(self, records: Sequence[StreamRecord], *, is_sign: bool) -> list[Event]:
        events: list[Event] = []
        for record in records:
            for event in (self._signs if is_sign else self._decoder).decode(record):
                if isinstance(event, Agent) and is_sign:
                    if (known := self._presence.signed(event, record.time)) is not None:
                        events.append(known)
                elif isinstance(event, Agent):
                    events.append(self._presence.entered(event, record.time))
                elif isinstance(event, Problem) and not is_sign:
                    events.append(event)
        return events

    def everything(self, state: StreamState) -> Iterator[list[StreamRecord]]:
        """Yield all records of the stream, in order, and go on after them. Raises StoreError."""
        for records in self.before(state.last + 1):
            self.place = ReadPlace(state.created, records[-1].sequence + 1)
            yield records

    def data(self, sequence: int) -> bytes:
        """Return the bytes of a record that was read. Raises StoreError."""
        record = self._connection.run(one(self._connection.client, self.stream, sequence))
        if record is None:
            raise StoreError(f"record {sequence:,} is no longer on the server", "open the mailbox again", "E425")
        return record.data

    def audience(self, record: StreamRecord) -> list[Event]:
        """Return the deliveries that a usual message states in its header."""
        return [event for event in self._decoder.decode(record) if not isinstance(event, Message)]

    def newest_first(self) -> Iterator[list[StreamRecord]]:
        """Yield all records of the stream: the newest some thousand from the end, then the others in order.

        Changes nothing of where reading goes on. Raises StoreError.
        """
        end = self.state().last + 1
        for _ in range(FEW // FIRST):
            start = max(1, end - FIRST)
            for records in self._pieces(start, end - start):
                yield [record for record in records if record.sequence < end]
            end = start
        yield from self.before(end)

    def before(self, end: int) -> Iterator[list[StreamRecord]]:
        """Yield all records before a sequence number, in order, many at a time. Raises StoreError."""
        start, failed = 1, 0
        while start < end:
            if end - start <= FEW:
                for records in self._pieces(start, end - start):
                    yield from _sized([record for record in records if record.sequence < end])
                return
            try:
                for records in self._pulled(start, end):
                    start, failed = records[-1].sequence + 1, 0
                    yield records
                return
            except MailboxMissing:
                raise
            except (PullBroken, StoreError) as error:
                failed += 1
                if failed == TRIES:
                    raise StoreError(
                        f"{self._connection.address.shown_hosts} stopped sending ({error})",
                        "open the mailbox again",
                        "E426",
                    ) from error
                self._connection.run(self._connection.returned())

    def _pulled(self, start: int, end: int) -> Iterator[list[StreamRecord]]:
        """Yield records by a consumer. Raises PullBroken and StoreError."""
        pull = self._connection.run(Pull.opened(self._connection.client, self.stream, start))
        try:
            while start < end and pull.left:  # numbers may be missing, also the last ones
                records = [record for record in self._connection.run(pull.read()) if record.sequence < end]
                if not records:
                    return
                start = records[-1].sequence + 1
                yield records
        finally:
            with suppress(StoreError):
                self._connection.run(pull.close())

    def _pieces(
        self, start: int, count: int, subject: str = ">", stream: str | None = None
    ) -> Iterator[list[StreamRecord]]:
        """Yield up to `count` records from a sequence number on, as many at a time as may be held."""
        has_more = count > 0
        while has_more:
            asked = piece(self._connection.client, stream or self.stream, start, count, subject)
            records, has_more = self._connection.run(asked)
            if records:
                start, count = records[-1].sequence + 1, count - len(records)
                yield records


def _sized(things: list[Thing]) -> Iterator[list[Thing]]:
    for at in range(0, len(things), BATCH):
        yield things[at : at + BATCH]


class LastSigns:
    """The entries of agents in the roster with their last signs; times are the server's, in seconds since the epoch."""

    def __init__(self) -> None:
        self._entries: dict[str, tuple[float, Agent]] = {}
        self._signs: dict[str, tuple[float, Agent]] = {}

    def entered(self, agent: Agent, time: float) -> Agent:
        """Take an entry of the roster; return it with what a later sign says."""
        self._entries[agent.session_id] = time, agent
        return self._now(agent.session_id) or agent

    def signed(self, agent: Agent, time: float) -> Agent | None:
        """Take a sign of an agent; return its entry with what the sign says, None if that is nothing new."""
        self._signs[agent.session_id] = time, agent
        return self._now(agent.session_id)

    def _now(self, session_id: str) -> Agent | None:
        entered, signed = self._entries.get(session_id), self._signs.get(session_id)
        if entered is None or signed is None or signed[0] < entered[0]:
            return None
        agent, sign = entered[1], signed[1]
        return replace(agent, activity=sign.activity, last_seen=sign.last_seen, updated=sign.updated)
