"""Write the records of a mailbox (docs/formats/nats.md#writing)."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from mailstore.errors import StoreError
from mailstore.files.salvage import UNREADABLE, loads
from mailstore.haak_records.adopted import adopted_record, is_whole
from mailstore.haak_records.encode import intervention_record, message_record, read_record, updated_entry
from mailstore.haak_records.values import READ, pick
from mailstore.kinds.nats.connection import Connection
from mailstore.kinds.nats.publish import Overtaken, Publication, Unconfirmed, publish, publish_all
from mailstore.kinds.nats.stream import DUPLICATES_SECONDS, StreamRecord, batch, last_on
from mailstore.kinds.nats.subjects import Topic, mail_stream, presence_stream, subject, token_of
from mailstore.kit.json_records import encode_record
from mailstore.records.adopted import Adopted, AdoptedMessage
from mailstore.records.message import Delivery, Intervention, Receipt
from mailstore.records.roster import Agent, Roster

if TYPE_CHECKING:
    from mailstore.records.draft import Draft

EVERYTHING = 1 << 40
TRIES = 10
SIGNS = frozenset({"activity", "last_seen", "updated"})
"""What a heartbeat changes in an agent's entry: it belongs to who is there now, not to the roster's history."""

Entry = dict[str, Any]


class RecordWriter:
    """Publishes to the streams of one mailbox; from any thread."""

    def __init__(self, connection: Connection, mailbox: str) -> None:
        self._connection, self._mailbox = connection, mailbox
        self._stream, self._presence = mail_stream(mailbox), presence_stream(mailbox)
        self._turn = Lock()
        self._unconfirmed: dict[str, tuple[float, Publication]] = {}
        self._reads: dict[str, tuple[int, set[str]]] = {}

    def message(self, draft: Draft) -> StreamRecord:
        """Publish a message with its audience; return its record.

        A draft that was not confirmed is sent again under the same id, so that it is there once.
        """
        key = draft.model_dump_json()
        with self._turn:
            begun, outgoing = self._unconfirmed.pop(key, (0.0, None))
        now = time.monotonic()
        if outgoing is None or now - begun > DUPLICATES_SECONDS / 2:
            message_id, begun = str(uuid.uuid4()), now
            data = encode_record(message_record(draft, message_id, time.time()))
            to = subject(self._mailbox, Topic.MAIL, token_of(draft.sender))
            outgoing = Publication(to, data, message_id, draft.audience)
        try:
            sequence = self._connection.run(publish(self._connection, self._stream, outgoing))
        except Unconfirmed:
            with self._turn:
                self._unconfirmed[key] = begun, outgoing
            raise
        return StreamRecord(sequence, Topic.MAIL, token_of(draft.sender), time.time(), outgoing.data)

    def reads(self, reader: str, message_ids: Sequence[str]) -> int:
        """Publish that a reader has read messages; existing records aren't repeated."""
        to = subject(self._mailbox, Topic.READ, token_of(reader))
        with self._turn:
            start, known = self._reads.setdefault(reader, (1, set()))
        records = self._connection.run(batch(self._connection.client, self._stream, start, EVERYTHING, to))
        known.update(message_read for record in records if (message_read := _message_read(record.data, reader)))
        if records:
            self._reads[reader] = records[-1].sequence + 1, known
        now = time.time()
        fresh = [each for each in dict.fromkeys(message_ids) if each not in known]
        outgoing = [Publication(to, encode_record(read_record(each, reader, now)), str(uuid.uuid4())) for each in fresh]
        self._connection.run(publish_all(self._connection, self._stream, outgoing))
        known.update(fresh)
        return len(fresh)

    def agent(self, agent: Agent) -> None:
        """Publish an agent's entry: a sign that it is there if nothing else has changed, else another roster record."""
        token = token_of(agent.session_id)
        to = subject(self._mailbox, Topic.ROSTER, token)
        for _ in range(TRIES):
            last = self._connection.run(last_on(self._connection.client, self._stream, to))
            old = _entry(last.data) if last is not None and not last.copied_from else {}
            entry = updated_entry([old] if old else [], old, agent, time.time())
            if old and _settled(entry) == _settled(old):
                self._sign(token, entry)
                return
            outgoing = Publication(to, encode_record(entry), str(uuid.uuid4()), after=last.sequence if last else 0)
            try:
                self._connection.run(publish(self._connection, self._stream, outgoing))
            except Overtaken:
                continue
            return
        raise StoreError(f"others keep changing the entry of {agent.session_id}", "try again", "E427")

    def intervention(self, intervention: Intervention) -> None:
        to = subject(self._mailbox, Topic.JOURNAL, token_of(intervention.actor))
        unique = str(uuid.uuid4())
        self.all([Publication(to, encode_record(intervention_record(intervention)), unique)])

    def all(self, outgoing: Iterable[Publication]) -> None:
        """Publish records in the order given, as far as the server keeps it."""
        self._connection.run(publish_all(self._connection, self._stream, outgoing), seconds=None)

    def _sign(self, token: str, entry: Entry) -> None:
        to = subject(self._mailbox, Topic.PRESENCE, token)
        outgoing = Publication(to, encode_record(entry), str(uuid.uuid4()))
        self._connection.run(publish(self._connection, self._presence, outgoing))


def _message_read(data: bytes, reader: str) -> str:
    """Return the id of the message that a read record of a reader is about; empty for another record."""
    record = _entry(data)
    is_theirs = str(pick(record, READ["reader"])[0]) == reader
    return str(pick(record, READ["message_id"])[0]) if is_theirs else ""


def _entry(data: bytes) -> Entry:
    try:
        entry = loads(data)
    except UNREADABLE:
        return {}
    return entry if isinstance(entry, dict) else {}


def _settled(entry: Entry) -> Entry:
    return {name: value for name, value in entry.items() if name not in SIGNS}


def outgoing_of(mailbox: str, records: Iterable[Adopted]) -> Iterator[Publication]:
    """Yield what is to be published for each record; records that lack what the protocol requires are left out."""
    roster = Roster()
    for record in filter(is_whole, records):
        if isinstance(record, Agent):
            roster.put(record)
        data = encode_record(adopted_record(record, roster))
        yield Publication(subject_of(mailbox, record), data, str(uuid.uuid4()))


def subject_of(mailbox: str, record: Adopted) -> str:
    """Return the subject on which a record of another mailbox is published."""
    match record:
        case AdoptedMessage(message=message):
            topic, name = Topic.MAIL, message.sender
        case Agent():
            topic, name = Topic.ROSTER, record.session_id
        case Receipt():
            topic, name = Topic.READ, record.reader
        case Delivery():
            topic, name = Topic.DELIVERY, ""
        case Intervention():
            topic, name = Topic.JOURNAL, record.actor
    return subject(mailbox, topic, token_of(name))
