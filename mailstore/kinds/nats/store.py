"""The store for a mailbox on NATS servers (docs/formats/nats.md)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator, Iterable, Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, ClassVar, Self

from msgspec import MsgspecError, msgpack

from mailstore.errors import ContentGone, StoreError
from mailstore.haak_records.decode import content_in
from mailstore.haak_records.values import MESSAGE_FIELDS
from mailstore.kinds.nats.address import MOST_REPLICAS, NatsAddress, NatsLocation, location_of
from mailstore.kinds.nats.connection import Connection
from mailstore.kinds.nats.decode import RecordDecoder
from mailstore.kinds.nats.failures import missing
from mailstore.kinds.nats.fetching import RecentRecords, RecordFetcher, RecordSearch
from mailstore.kinds.nats.follow import Anew, Signs, StreamFollower, StreamUpdate
from mailstore.kinds.nats.publish import is_denied
from mailstore.kinds.nats.reader import StreamReader
from mailstore.kinds.nats.stream import create_streams, stream_state
from mailstore.kinds.nats.subjects import Topic, mail_stream, subject, token_of
from mailstore.kinds.nats.write import RecordWriter
from mailstore.records.events import Event, Reset
from mailstore.records.extra_fields import extra_text
from mailstore.records.message import Intervention, Message, Problem
from mailstore.records.protocol import USER_NAMES
from mailstore.records.roster import Agent
from mailstore.resumable import Resumable, Stale
from mailstore.state.mailbox import Mailbox
from mailstore.store import Capabilities, Capability

if TYPE_CHECKING:
    from mailstore.kinds.nats.merging import NatsMerger
    from mailstore.records.adopted import Adopted, Merged
    from mailstore.records.draft import Draft

FORGED = "!forged"
LONG = 5000
"""Messages: as many fold in a quarter of a second."""
FAR = 5000
"""Records that came since the mailbox was kept, from which on it is kept anew."""
SOME = 20
"""Up to so many records are decoded on the event loop, which takes less than a millisecond."""


class NatsStore(Resumable):
    """A JetStream stream that holds what a HAAK mailbox holds in files."""

    kind: ClassVar[str] = "nats"
    most_replicas: ClassVar[int] = MOST_REPLICAS
    summary: ClassVar[str] = "a JetStream stream on NATS servers that any number of machines share"
    can_merge: ClassVar[bool] = True
    declared: ClassVar[Capabilities] = Capabilities().without(
        "nothing can be moved out of a stream, which is append-only by the server's own word", Capability.ARCHIVE
    )
    known_fields: ClassVar[frozenset[str]] = MESSAGE_FIELDS
    is_tls: ClassVar[bool] = False

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._address: NatsAddress = connection.address
        self._stream = mail_stream(self._address.mailbox)
        self._decoder = RecordDecoder(self._stream)
        self._reader = StreamReader(connection, self._address.mailbox)
        self._writer = RecordWriter(connection, self._address.mailbox)
        self._scanning = self._reader.scan()
        self._recent = RecentRecords()
        self._fetcher = RecordFetcher(connection, self._stream, self._recent)
        self._ready: list[list[Event]] = []
        self._follower: StreamFollower | None = None
        self._resumed_at = 0
        self._merger: NatsMerger | None = None
        self._merging = Lock()
        self._is_guarded: bool | None = None

    @classmethod
    def open(cls, location: str, *, poll: bool = False) -> Self:
        """Open the mailbox at `//HOST[:PORT][,HOST…]/MAILBOX`. Raises MailboxMissing and StoreError."""
        return cls._opened(location_of(str(location), is_tls=cls.is_tls))

    @classmethod
    def _opened(cls, location: NatsLocation) -> Self:
        connection = Connection(location)
        try:
            if connection.run(stream_state(connection.client, mail_stream(location.address.mailbox))) is None:
                raise missing(location.address)
            return cls(connection)
        except BaseException:
            connection.close()
            raise

    @classmethod
    def create(cls, location: str) -> Self:
        """Create an empty mailbox; `?replicas=3` at the end says on how many servers its records are kept."""
        address = location_of(str(location), is_tls=cls.is_tls)
        connection = Connection(address)
        name = address.address.mailbox
        try:
            if connection.run(stream_state(connection.client, mail_stream(name))) is None:
                connection.run(create_streams(connection.client, name, address.replicas or 1))
            return cls(connection)
        except BaseException:
            connection.close()
            raise

    @property
    def url(self) -> str:
        return f"{self.kind}:{self._address.location}"

    @property
    def title(self) -> str:
        first, *others = self._address.hosts
        return f"{self._address.mailbox} on {first}{f' and {len(others)} more' if others else ''}"

    # Reading

    def scan(self) -> Iterator[list[Event]]:
        while self._ready or ((batch := next(self._scanning, [])) and self._keep(batch)):
            yield self._ready.pop(0)

    def _keep(self, batch: list[Event]) -> bool:
        """Keep a batch until it is yielded, so that a cancelled consumer loses nothing."""
        self._ready.append(batch)
        return True

    async def changes(self) -> AsyncGenerator[list[Event], None]:
        while await asyncio.to_thread(self._has_scanned):
            yield self._ready.pop(0)
        if self._follower is None:
            self._follower = await asyncio.to_thread(self._followed)
        follower = self._follower
        with follower.woken() as woken:
            while True:
                woken.clear()
                while self._ready or (came := follower.first) is not None:
                    if not self._ready:
                        assert came is not None
                        is_much = isinstance(came, list) and len(came) > SOME
                        batches = await asyncio.to_thread(self._told, came) if is_much else self._told(came)
                        self._ready += batches
                        follower.take()
                    while self._ready:
                        yield self._ready.pop(0)
                await woken.wait()

    def _has_scanned(self) -> bool:
        batch: list[Event] = []
        return bool(self._ready) or (bool(batch := next(self._scanning, [])) and self._keep(batch))

    def _followed(self) -> StreamFollower:
        reader = self._reader
        if not reader.place.created:
            reader.begin(reader.state())
        return StreamFollower(self._connection, self._stream, reader.presence_stream, reader.place, reader.signs_next)

    def _told(self, came: StreamUpdate) -> list[list[Event]]:
        """Return what has come as batches of events."""
        match came:
            case Signs(records):
                events = self._reader.signs(records)
            case Anew(reason, state):
                self._reader.begin(state)
                self._recent.clear()
                events = [Reset(reason)]
            case list():
                events = self._reader.went_on(came)
            case _:
                events = [came]
        return [events] if events else []

    def content(self, message: Message) -> str:
        return content_in(self.raw(message))

    def raw(self, message: Message) -> bytes:
        return self._fetcher.record(message)

    def contents(self, messages: Iterable[Message]) -> Iterator[str | ContentGone]:
        return self._fetcher.contents(messages)

    def search_text(self, message: Message) -> str:
        """Return a message's body and the values of unknown fields, from one record. Raises ContentGone."""
        data = self.raw(message)
        extra = extra_text(data, self.known_fields)
        return f"{content_in(data)}\n{extra}" if extra else content_in(data)

    def candidates(self, words: Sequence[str]) -> Generator[list[str]] | None:
        return RecordSearch(StreamReader(self._connection, self._address.mailbox), self._recent).of(words)

    def keep_index(self, folder: Path) -> None:
        """Keep nothing: the servers' records are read at every search."""

    def proof(self, message: Message) -> str:
        """Return that the server lets the user alone write under their name, if it refuses that to this connection."""
        if message.sender not in USER_NAMES or any(tag.startswith(FORGED) for tag in message.tags):
            return ""
        if self._is_guarded is None:
            to = subject(self._address.mailbox, Topic.MAIL, token_of(message.sender))
            self._is_guarded = self._connection.run(is_denied(self._connection, self._stream, to))
        return "the server, which lets nobody else write under this name" if self._is_guarded else ""

    def raw_problem(self, problem: Problem) -> bytes | None:
        return self._fetcher.of_problem(problem)

    def close(self) -> None:
        self._scanning = iter(())
        self._connection.close()

    # Resuming

    def is_long(self) -> bool:
        """Return whether there is so much mail that reading it takes a while."""
        try:
            return self._reader.state().messages >= LONG
        except StoreError:
            return False

    def glimpse(self) -> list[Event]:
        """Return the roster and the newest mail. Raises StoreError."""
        return StreamReader(self._connection, self._address.mailbox).glimpse()

    def fold_all(self, mailbox: Mailbox, now: float) -> None:
        """Fold everything into an empty mailbox. Raises StoreError."""
        self._scanning = iter(())
        from mailstore.kinds.nats.gather import fold_all

        fold_all(self._reader, mailbox, now)

    def position(self) -> bytes:
        return msgpack.encode(self._reader.place)

    def resume(self, position: bytes) -> list[Event]:
        """Resume from a position. Raises Stale."""
        self._scanning = iter(())
        try:
            events = self._reader.resume(position)
        except (MsgspecError, StoreError) as reason:
            raise Stale(str(reason)) from reason
        self._resumed_at = self._reader.place.next
        return events

    def begin_anew(self) -> None:
        self._scanning = self._reader.scan()

    def confirm(self) -> None:
        """Check that what was read is still there: the server lets nobody change it. Raises Stale."""
        try:
            self._reader.check(self._reader.state())
        except StoreError as reason:
            raise Stale(str(reason)) from reason

    def news(self) -> Iterator[list[Event]]:
        try:
            yield from self._reader.news()
        except Stale as reason:
            self._reader.begin()
            yield [Reset(str(reason))]
            yield from self._reader.scan()

    def has_grown(self) -> bool:
        """Say whether much came since the position it was resumed from."""
        return self._reader.place.next - self._resumed_at > FAR

    # Writing

    def write_message(self, draft: Draft) -> Message:
        record = self._writer.message(draft)
        return next(event for event in self._decoder.decode(record) if isinstance(event, Message))

    def write_reads(self, reader: str, message_ids: Sequence[str]) -> int:
        return self._writer.reads(reader, message_ids)

    def write_agent(self, agent: Agent) -> None:
        self._writer.agent(agent)

    def write_intervention(self, intervention: Intervention) -> None:
        self._writer.intervention(intervention)

    def write_adopted(self, records: Iterable[Adopted]) -> None:
        from mailstore.kinds.nats.write import outgoing_of

        self._writer.all(outgoing_of(self._address.mailbox, records))

    def merge(self, records: Sequence[Adopted]) -> Merged:
        from mailstore.kinds.nats.merging import NatsMerger

        with self._merging:
            self._merger = self._merger or NatsMerger(self._connection, self._address.mailbox)
            return self._merger.merge(records)


class NatsTlsStore(NatsStore):
    """The same mailbox over TLS."""

    kind: ClassVar[str] = "nats+tls"
    summary: ClassVar[str] = "the same over TLS"
    is_tls: ClassVar[bool] = True
