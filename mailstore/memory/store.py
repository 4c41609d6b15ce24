"""A mailbox in memory: the reference implementation of the store contract, for tests and screenshots."""

from __future__ import annotations

import asyncio
import hashlib
import time
import uuid
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar, Self

import msgspec

from mailstore.errors import ContentGone, MailboxMissing
from mailstore.haak_records.adopted import INCOMPLETE, adopted_message, is_whole
from mailstore.kit.bodies import first_line, mentions
from mailstore.kit.known_records import KnownRecords
from mailstore.kit.timestamps import isoformat, time_of
from mailstore.location import path_of
from mailstore.records.adopted import AdoptedMessage, Merged, TurnedAway
from mailstore.records.events import Event, Gone, Reset
from mailstore.records.message import Delivery, Intervention, Location, Message, Problem, Receipt
from mailstore.records.roster import Agent
from mailstore.store import Capabilities, Capability, Store

if TYPE_CHECKING:
    from mailstore.records.adopted import Adopted
    from mailstore.records.draft import Draft

BATCH = 500
Record = str | Agent | Receipt | Delivery | Intervention
"""A message is a line of text, possibly damaged; the others are values."""
FILE = "memory"


class MemoryStore(Store):
    """A mailbox that ends with its process.

    Tests act as other programs with `append`, `replace` and `remove`, from any thread.
    Several stores may share one mailbox: `MemoryStore(records=store.records)`.
    """

    kind: ClassVar[str] = "memory"
    summary: ClassVar[str] = "a mailbox that ends with its process, for tests and demonstrations"
    can_merge: ClassVar[bool] = True
    declared: ClassVar[Capabilities] = Capabilities(
        {
            Capability.ARCHIVE: "it ends with its process, so there is nowhere to move mail to",
            Capability.ADOPT: "it ends with its process, so the copy would be lost",
        }
    )

    def __init__(self, path: Path = Path("mailbox"), records: Records | None = None) -> None:
        self._path = path
        self.records = Records() if records is None else records
        self._version = -1
        self._next = 0
        self._decoder = LineDecoder()
        self._scanning: Iterator[list[Event]] | None = None
        self._known = KnownRecords()
        self._known_version = -1
        self._known_to = 0

    @classmethod
    def open(cls, location: str | Path, *, poll: bool = False) -> Self:
        """Open a new mailbox, empty, whatever the location."""
        return cls(path_of(location))

    @classmethod
    def create(cls, location: str | Path) -> Self:
        return cls(path_of(location))

    @property
    def url(self) -> str:
        return f"{self.kind}:{self._path.absolute()}"

    @property
    def title(self) -> str:
        return f"{self._path.name} (in memory)"

    # What another program does

    def append(self, *records: Record | Mapping[str, Any]) -> None:
        """Append records as another program would.

        A mapping is a message with the field names of docs/semantics.md#records; a text is a raw line, possibly
        damaged; other records are given as values.
        """
        self.records.append(*(line_of(one) if isinstance(one, Mapping) else one for one in records))

    def replace(self, *records: Record | Mapping[str, Any]) -> None:
        """Replace all records; a removed mailbox is back."""
        self.records.replace(*(line_of(one) if isinstance(one, Mapping) else one for one in records))

    def remove(self) -> None:
        """Remove the mailbox."""
        self.records.remove()

    # What there is

    def scan(self) -> Iterator[list[Event]]:
        """Yield everything: the roster, then the rest, newest first."""
        if self._scanning is None:
            self._scanning = self._all()
        while (batch := next(self._scanning, None)) is not None:
            yield batch

    def _all(self) -> Iterator[list[Event]]:
        self._version, records = self.records.since(0)
        self._next = len(records)
        self._decoder = LineDecoder()
        if roster := [record for record in records if isinstance(record, Agent)]:
            yield list(roster)
        rest = self._decode([(at, one) for at, one in enumerate(records) if not isinstance(one, Agent)])
        rest.reverse()
        for start in range(0, len(rest), BATCH):
            yield rest[start : start + BATCH]

    def _decode(self, records: Sequence[tuple[int, Record]]) -> list[Event]:
        events: list[Event] = []
        for at, record in records:
            events += self._decoder.decode(record, at) if isinstance(record, str) else [record]
        return events

    async def changes(self) -> AsyncGenerator[list[Event], None]:
        """Yield what was added since the last batch, after what a scan has left."""
        scanning = self.scan()
        while (batch := await asyncio.to_thread(next, scanning, None)) is not None:
            yield batch
        is_gone = False
        with self.records.woken() as changed:
            while True:
                changed.clear()
                if self.records.is_gone:
                    if not is_gone:
                        yield [Gone("the mailbox was removed")]
                    is_gone = True
                elif batch := await asyncio.to_thread(self._news):
                    is_gone = False
                    yield batch
                await changed.wait()

    def _news(self) -> list[Event]:
        version, records = self.records.since(self._next)
        if version != self._version:
            return [Reset("the mailbox was replaced"), *(event for batch in self._all() for event in batch)]
        first = self._next
        self._next += len(records)
        return self._decode(list(enumerate(records, first)))

    def content(self, message: Message) -> str:
        return content_of(self._line(message))

    def raw(self, message: Message) -> bytes:
        return self._line(message).encode("utf-8", "surrogatepass")

    def _line(self, message: Message) -> str:
        where = message.location
        line = self.records.at(where.offset) if where else None
        if where and isinstance(line, str):
            messages = [event for event in LineDecoder().decode(line, where.offset) if isinstance(event, Message)]
            if messages and (messages[0].id, messages[0].location) == (message.id, where):
                return line
        raise ContentGone(f"message {message.id} is no longer in the mailbox", "it was replaced", "E315")

    # What is written

    def write_message(self, draft: Draft) -> Message:
        now = time.time()
        fields = draft.model_dump(exclude={"audience", "recipients"})
        line = line_of({"id": str(uuid.uuid4()), "recipient": draft.recipients, "timestamp": isoformat(now), **fields})
        decoded = LineDecoder().decode(line, self._write(line))
        message = next(event for event in decoded if isinstance(event, Message))
        self._write(*(Delivery(message.id, name, now) for name in draft.audience))
        return message

    def write_reads(self, reader: str, message_ids: Sequence[str]) -> int:
        with self.records.lock:
            _, records = self.records.since(0)
            known = {one.message_id for one in records if isinstance(one, Receipt) and one.reader == reader}
            now = time.time()
            fresh = [Receipt(one, reader, now) for one in dict.fromkeys(message_ids) if one not in known]
            self._write(*fresh)
        return len(fresh)

    def write_agent(self, agent: Agent) -> None:
        self._write(agent)

    def write_intervention(self, intervention: Intervention) -> None:
        self._write(intervention)

    def merge(self, records: Sequence[Adopted]) -> Merged:
        """Append the records of other mailboxes that this one does not have; an archived message comes as live."""
        whole = [record for record in records if is_whole(record)]
        with self.records.lock:
            known = self._known_records()
            missing = known.missing(whole)
            messages = (adopted_message(it, known.roster) if isinstance(it, AdoptedMessage) else it for it in missing)
            self._write(*(line_of(message) if isinstance(message, dict) else message for message in messages))
        written = set(map(id, missing))
        refused = tuple(TurnedAway(record, INCOMPLETE) for record in records if not is_whole(record))
        return Merged(tuple(record for record in whole if id(record) not in written), refused)

    def _known_records(self) -> KnownRecords:
        """Return what the mailbox has; reads only what came since the last call."""
        version, fresh = self.records.since(self._known_to)
        if version != self._known_version:
            self._known, self._known_version, self._known_to = KnownRecords(), version, 0
            _, fresh = self.records.since(0)
        decoder = LineDecoder()
        for at, record in enumerate(fresh, self._known_to):
            self._known.take(decoder.decode(record, at) if isinstance(record, str) else [record])
        self._known_to += len(fresh)
        return self._known

    def _write(self, *records: Record) -> int:
        with self.records.lock:
            if self.records.is_gone:
                raise MailboxMissing(f"the mailbox {self._path.name} was removed", "open another one", "E297")
            return self.records.append(*records)


class Records:
    """Records in order of arrival. Thread-safe."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.is_gone = False
        self._records: list[Record] = []
        self._version = 0
        self._waiting: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}

    def append(self, *records: Record) -> int:
        """Append records; return the index of the first."""
        with self.lock:
            first = len(self._records)
            self._records.extend(records)
            self._wake()
        return first

    def replace(self, *records: Record) -> None:
        """Replace all records; readers reload everything."""
        with self.lock:
            self._records = list(records)
            self._version += 1
            self.is_gone = False
            self._wake()

    def remove(self) -> None:
        """Remove everything until `replace` is called."""
        with self.lock:
            self._records = []
            self._version += 1
            self.is_gone = True
            self._wake()

    def since(self, place: int) -> tuple[int, list[Record]]:
        """Return the version of the mailbox, and its records from an index on."""
        with self.lock:
            return self._version, self._records[place:]

    def at(self, place: int) -> Record | None:
        """Return the record at an index, or None."""
        with self.lock:
            return self._records[place] if 0 <= place < len(self._records) else None

    @contextmanager
    def woken(self) -> Iterator[asyncio.Event]:
        """Yield an event of the running loop that is set at every change."""
        changed = asyncio.Event()
        with self.lock:
            self._waiting[changed] = asyncio.get_running_loop()
        try:
            yield changed
        finally:
            with self.lock:
                del self._waiting[changed]

    def _wake(self) -> None:
        for changed, loop in self._waiting.items():
            # a closed loop can't be woken, and doesn't need to be
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(changed.set)


class Fields(msgspec.Struct):
    """The fields of a message's line; unknown ones are kept in the line."""

    sender: str
    recipient: str | list[str]
    content: str
    id: str | int = ""
    timestamp: str = ""
    subject: str | None = None
    thread: str | None = None
    ttl_hours: float | None = None
    type: str | None = None
    tags: list[str] = []
    read_by: list[str] = []


FIELDS = msgspec.json.Decoder(Fields)


def line_of(fields: Mapping[str, Any]) -> str:
    """Return a message's fields as a line."""
    return msgspec.json.encode(fields).decode()


def content_of(line: str) -> str:
    """Return the body of a message's line."""
    return FIELDS.decode(line).content


class LineDecoder:
    """Decode lines in order; a line without a valid time gets the last one."""

    def __init__(self) -> None:
        self._last_time = 0.0

    def decode(self, line: str, place: int) -> list[Message | Problem]:
        """Return the message in a line and its problems; `place` is its index in the mailbox."""
        try:
            fields = FIELDS.decode(line)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
            return [Problem(FILE, place + 1, place, f"not a message: {error}")]
        names = (fields.recipient,) if isinstance(fields.recipient, str) else tuple(fields.recipient)
        if not fields.sender or not names or not all(names):
            return [Problem(FILE, place + 1, place, "not a message: it has no sender or no recipient")]
        events: list[Message | Problem] = []
        time = time_of(fields.timestamp)
        if time is None:
            events.append(Problem(FILE, place + 1, place, f"{fields.timestamp!r} is not a time", fatal=False))
        ttl = fields.ttl_hours
        if ttl is not None and ttl <= 0:
            events.append(Problem(FILE, place + 1, place, f"invalid ttl: {ttl:g}", fatal=False))
        self._last_time = self._last_time if time is None else time
        digest = hashlib.sha1(line.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
        message = Message(
            id=str(fields.id) or f"line:{digest}",
            sender=fields.sender,
            recipients=names,
            timestamp=fields.timestamp,
            time=self._last_time,
            subject=fields.subject or first_line(fields.content),
            thread=fields.thread or None,
            ttl_hours=ttl if ttl is not None and ttl > 0 else None,
            type=fields.type or "",
            tags=tuple(fields.tags),
            read_by=tuple(fields.read_by),
            mentions=mentions(fields.content),
            location=Location(FILE, place, len(line)),
            timed=time is not None,
        )
        return [message, *events]
