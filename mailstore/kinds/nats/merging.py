"""Take records of other mailboxes into a stream that programs read and write.

A server has no locks. Each record is published on condition that the last record on its subject is still the one that
was read before it was looked up whether the record is there: who comes second is told so, and looks again.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Sequence

from msgspec.structs import replace

from mailstore.errors import StoreError
from mailstore.files.salvage import UNREADABLE, loads
from mailstore.haak_records.adopted import INCOMPLETE, adopted_agent, adopted_record, is_whole
from mailstore.haak_records.decode import agent_of
from mailstore.haak_records.values import NotARecord
from mailstore.kinds.nats.connection import Connection
from mailstore.kinds.nats.publish import Overtaken, Publication, publish
from mailstore.kinds.nats.reader import StreamReader
from mailstore.kinds.nats.stream import last_on
from mailstore.kinds.nats.subjects import Topic, mail_stream, presence_stream, subject, token_of
from mailstore.kinds.nats.write import subject_of
from mailstore.kit.json_records import encode_record
from mailstore.kit.known_records import KnownRecords, agent_digest
from mailstore.records.adopted import Adopted, AdoptedMessage, Merged, TurnedAway
from mailstore.records.message import Delivery
from mailstore.records.roster import Agent
from mailstore.resumable import Stale

TRIES = 50
AT_ONCE = 100
"""How many records wait for the server's acknowledgement at the same time."""
BEHIND_SECONDS = 10.0
"""How long a replica may lag behind its leader."""
PAUSE_SECONDS = 0.02


Audiences = dict[str, list[str]]


class NatsMerger:
    """Publishes what a stream lacks; knows its records from reading along. One thread at a time."""

    def __init__(self, connection: Connection, mailbox: str) -> None:
        self._connection, self._mailbox = connection, mailbox
        self._stream, self._presence = mail_stream(mailbox), presence_stream(mailbox)
        self._reader = StreamReader(connection, mailbox)
        self._known: KnownRecords | None = None
        self._last: dict[str, int] = {}
        """By subject, the number of its last record, as far as everything up to there was read."""

    def merge(self, records: Sequence[Adopted]) -> Merged:
        """Publish the records that are missing, in the order given. Raises StoreError."""
        whole = [record for record in records if is_whole(record)]
        refused = tuple(TurnedAway(record, INCOMPLETE) for record in records if not is_whole(record))
        missing = self._read_along().missing(whole)
        sent = {record.message.id for record in missing if isinstance(record, AdoptedMessage)}
        audiences: Audiences = {}
        for record in missing:
            if isinstance(record, Delivery) and record.message_id in sent:
                audiences.setdefault(record.message_id, []).append(record.recipient)
        written = {id(each) for each in missing if isinstance(each, Delivery) and each.message_id in sent}
        missing = [record for record in missing if id(record) not in written]
        written |= set(map(id, self._put_together(missing, audiences)))
        for record in missing:
            if id(record) not in written and self._put(record, audiences):
                written.add(id(record))
        return Merged(tuple(record for record in whole if id(record) not in written), refused)

    def _put_together(self, missing: Sequence[Adopted], audiences: Audiences) -> list[Adopted]:
        """Publish the first records of many subjects at the same time, in order on each; return those published.

        What others have published meanwhile is left, and so are agents. Raises StoreError.
        """
        records = [record for record in missing if not isinstance(record, Agent)]
        subjects = {id(record): subject_of(self._mailbox, record) for record in records}
        for to in dict.fromkeys(subjects.values()):
            self._read_up_to(to)
        assert self._known is not None
        groups: dict[str, list[tuple[Adopted, Publication]]] = {}
        order = self._known.missing(records)
        for record in order:
            to = subjects[id(record)]
            groups.setdefault(to, []).append((record, self._publication(record, to, self._known, audiences)))
        written: list[Adopted] = []
        try:
            self._connection.run(self._all(order, groups, written), seconds=None)
        finally:
            for record in written:
                self._known.add(record)
        return written

    async def _all(
        self, order: Sequence[Adopted], groups: dict[str, list[tuple[Adopted, Publication]]], written: list[Adopted]
    ) -> None:
        """Publish the records of each subject; a message after the one before it of its second, on any subject."""
        turn = asyncio.Semaphore(AT_ONCE)
        before = _before(order)
        is_sent: dict[int, asyncio.Future[bool]] = {id(record): asyncio.Future() for record in order}

        async def one_subject(to: str, records: Sequence[tuple[Adopted, Publication]]) -> None:
            last = self._last.pop(to)  # if anything goes wrong, the next one looks
            try:
                for record, publication in records:
                    if (earlier := before.get(id(record))) is not None and not await is_sent[earlier]:
                        return
                    async with turn:
                        try:
                            last = await publish(self._connection, self._stream, publication._replace(after=last))
                        except Overtaken:
                            return
                    written.append(record)
                    is_sent[id(record)].set_result(True)
                self._last[to] = last
            finally:
                for record, _ in records:
                    if not is_sent[id(record)].done():
                        is_sent[id(record)].set_result(False)

        errors = await asyncio.gather(*(one_subject(*item) for item in groups.items()), return_exceptions=True)
        if failed := next((error for error in errors if isinstance(error, BaseException)), None):
            raise failed

    def _put(self, record: Adopted, audiences: Audiences) -> bool:
        """Publish a record unless it is there; say whether it was not. Raises StoreError."""
        to = subject_of(self._mailbox, record)
        for _ in range(TRIES):
            known = self._read_up_to(to)
            if not known.missing([record]):
                return False
            if isinstance(record, Agent) and self._signed(record, to):
                known.add(record)
                return True
            try:
                publication = self._publication(record, to, known, audiences)
                self._last[to] = self._connection.run(publish(self._connection, self._stream, publication))
            except Overtaken:
                del self._last[to]
                continue
            except BaseException:
                del self._last[to]  # it may be there: the next call looks
                raise
            known.add(record)
            return True
        raise StoreError(f"others keep writing to {self._mailbox}", "try again", "E416")

    def _read_up_to(self, to: str) -> KnownRecords:
        """Return what the mailbox has, with everything that is on a subject now. Raises StoreError."""
        if to not in self._last:
            last = self._connection.run(last_on(self._connection.client, self._stream, to))
            number = last.sequence if last is not None else 0
            end = time.monotonic() + BEHIND_SECONDS
            known = self._read_along()
            while self._reader.place.next <= number:
                if time.monotonic() > end:
                    raise StoreError(f"a server of {self._mailbox} lags behind its leader", "try again later", "E417")
                time.sleep(PAUSE_SECONDS)
                known = self._read_along()
            self._last[to] = number
            return known
        assert self._known is not None
        return self._known

    def _read_along(self) -> KnownRecords:
        try:
            if self._known is not None:
                for batch in self._reader.news():
                    self._known.take(batch)
                return self._known
        except Stale:
            self._last = {}
        known = KnownRecords()
        for batch in self._reader.scan():
            known.take(batch)
        self._known = known
        return known

    def _publication(self, record: Adopted, to: str, known: KnownRecords, audiences: Audiences) -> Publication:
        audience = tuple(audiences.get(record.message.id, ())) if isinstance(record, AdoptedMessage) else ()
        unique = str(uuid.uuid4())  # an id that others can guess lets them keep the record out
        return Publication(to, encode_record(adopted_record(record, known.roster)), unique, audience, self._last[to])

    def _signed(self, agent: Agent, to: str) -> bool:
        """Publish a mere heartbeat as a sign of the agent, which the roster's history does not keep."""
        last = self._connection.run(last_on(self._connection.client, self._stream, to))
        if last is None or _settled_digest(last.data) != agent_digest(_without_signs(agent)):
            return False
        sign = subject(self._mailbox, Topic.PRESENCE, token_of(agent.session_id))
        outgoing = Publication(sign, encode_record(adopted_agent(agent)), str(uuid.uuid4()))
        self._connection.run(publish(self._connection, self._presence, outgoing))
        return True


def _settled_digest(data: bytes) -> bytes:
    try:
        agent, _ = agent_of(loads(data))
    except (*UNREADABLE, NotARecord, AttributeError):
        return b""
    return agent_digest(_without_signs(agent)) if isinstance(agent, Agent) else b""


def _without_signs(agent: Agent) -> Agent:
    return replace(agent, activity="", last_seen=None, updated=None)


def _before(records: Sequence[Adopted]) -> dict[int, int]:
    """Return for each message the one before it of the same second: only their places in the stream tell the order."""
    before: dict[int, int] = {}
    last: dict[float, int] = {}
    for record in records:
        if isinstance(record, AdoptedMessage):
            second = record.message.time // 1
            if second in last:
                before[id(record)] = last[second]
            last[second] = id(record)
    return before
