"""A kind of store that is not on files: a server within the process, reached as `loop://USER:PASSWORD@HOST/MAILBOX`."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit

import msgspec

from mailstore.conformance import Feature, Harness
from mailstore.errors import ContentGone, MailboxMissing, StoreError
from mailstore.kit.bodies import first_line, mentions
from mailstore.records.draft import Draft
from mailstore.records.events import Back, Event, Gone, Progress, Reset
from mailstore.records.message import Location, Message
from mailstore.store import Capabilities, Capability, Store

PASSWORD = "open sesame/or else"
MISSING = tuple(each for each in Capability if each not in (Capability.FOLLOW, Capability.SEND))
BATCH = 500


class Server:
    """Mailboxes by name: each the records that were published to it, numbered from 1."""

    running: ClassVar[dict[str, Server]] = {}

    def __init__(self) -> None:
        self.mailboxes: dict[str, list[dict[str, Any]]] = {}
        self.created: dict[str, int] = {}
        self.is_up = True
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def make(self, name: str, *records: dict[str, Any]) -> None:
        self.mailboxes[name] = list(records)
        self.created[name] = self.created.get(name, 0) + 1
        self.wake()

    def remove(self, name: str) -> None:
        del self.mailboxes[name]
        self.wake()

    def publish(self, name: str, record: dict[str, Any]) -> int:
        if not self.is_up or name not in self.mailboxes:
            raise StoreError("the server can't be reached", "try again later")
        self.mailboxes[name].append(record)
        self.wake()
        return len(self.mailboxes[name])

    def wake(self) -> None:
        for loop, woken in self._waiting:
            loop.call_soon_threadsafe(woken.set)

    def subscribe(self) -> asyncio.Event:
        woken = asyncio.Event()
        self._waiting.append((asyncio.get_running_loop(), woken))
        return woken

    def unsubscribe(self, woken: asyncio.Event) -> None:
        self._waiting = [each for each in self._waiting if each[1] is not woken]


class LoopStore(Store):
    kind: ClassVar[str] = "loop"
    summary: ClassVar[str] = "a server within the process"
    declared: ClassVar[Capabilities] = Capabilities().without("the server only carries messages", *MISSING)

    def __init__(self, host: str, name: str) -> None:
        self._server, self._host, self._name = Server.running[host], host, name
        self._created, self._next = 0, 0
        self._scanning: Iterator[list[Event]] | None = None

    @classmethod
    def open(cls, location: str, *, poll: bool = False) -> Self:
        store = cls._logged_in(location)
        if store._name not in store._server.mailboxes:
            raise MailboxMissing(f"there is no mailbox {store._name} on {store._host}", "make one with signalbox init")
        return store

    @classmethod
    def create(cls, location: str) -> Self:
        store = cls._logged_in(location)
        if store._name not in store._server.mailboxes:
            store._server.make(store._name)
        return store

    @classmethod
    def _logged_in(cls, location: str) -> Self:
        user, _, address = location.removeprefix("//").rpartition("@")
        parts = urlsplit(f"//{address}")
        host = parts.hostname or ""
        if host not in Server.running:
            raise StoreError(f"no server answers at {host}", "check the host")
        if user != f"ann:{PASSWORD}":
            # what a library might say: the registry must hide it
            raise StoreError(f"authentication failed: {location}", f"is the password {user!r} right?")
        return cls(host, parts.path.strip("/"))

    @property
    def url(self) -> str:
        return f"{self.kind}://{self._host}/{self._name}"

    @property
    def title(self) -> str:
        return f"{self._name} on {self._host}"

    def scan(self) -> Iterator[list[Event]]:
        self._scanning = self._scanning or self._all()
        yield from self._scanning

    def _all(self) -> Iterator[list[Event]]:
        records = self._server.mailboxes.get(self._name, [])
        self._created, self._next = self._server.created.get(self._name, 0), len(records)
        total = self._next
        for end in range(total, 0, -BATCH):
            start = max(0, end - BATCH)
            found: list[Event] = [_message(number, records[number - 1]) for number in range(end, start, -1)]
            yield [*found, Progress(total - start, total)]

    async def changes(self) -> AsyncGenerator[list[Event], None]:
        for batch in self.scan():
            yield batch
        woken, is_gone = self._server.subscribe(), False
        try:
            while True:
                woken.clear()
                if not self._server.is_up or self._name not in self._server.mailboxes:
                    if not is_gone:
                        yield [Gone(f"{self._host} can't be reached")]
                    is_gone = True
                else:
                    if self._server.created[self._name] != self._created:
                        batches = list(self._all())
                        yield [Reset("the mailbox was made anew")]
                        for batch in batches:
                            yield batch
                    elif is_gone:
                        yield [Back()]
                    is_gone = False
                    if news := self._news():
                        yield news
                await woken.wait()
        finally:
            self._server.unsubscribe(woken)

    def _news(self) -> list[Event]:
        records = self._server.mailboxes[self._name]
        first, self._next = self._next, len(records)
        return [_message(number, records[number - 1]) for number in range(first + 1, self._next + 1)]

    def content(self, message: Message) -> str:
        return str(self._record(message)["content"])

    def raw(self, message: Message) -> bytes:
        return msgspec.json.encode(self._record(message))

    def _record(self, message: Message) -> Mapping[str, Any]:
        records, where = self._server.mailboxes.get(self._name, []), message.location
        if where is None or not where.offset <= len(records) or records[where.offset - 1]["id"] != message.id:
            raise ContentGone(f"message {message.id} is no longer on {self._host}", "the mailbox was made anew")
        return records[where.offset - 1]

    def write_message(self, draft: Draft) -> Message:
        record = {
            "id": str(uuid.uuid4()),
            "sender": draft.sender,
            "recipient": draft.recipients[0],
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "content": draft.content,
        }
        return _message(self._server.publish(self._name, record), record)


def _message(number: int, record: Mapping[str, Any]) -> Message:
    moment = datetime.fromisoformat(record["timestamp"]).timestamp()
    body, to = record["content"], record["recipient"]
    return Message(
        id=record["id"],
        sender=record["sender"],
        recipients=(to,) if isinstance(to, str) else tuple(to),
        timestamp=record["timestamp"],
        time=moment,
        subject=record.get("subject") or first_line(body),
        thread=record.get("thread"),
        ttl_hours=record.get("ttl_hours"),
        type=record.get("type") or "",
        mentions=mentions(body),
        location=Location("stream", number, 0),
    )


class LoopHarness(Harness):
    """A mailbox on a server that is not a path anywhere."""

    store: ClassVar[type[Store]] = LoopStore
    secrets: ClassVar[Sequence[str]] = (PASSWORD,)
    cannot: ClassVar[Mapping[Feature, str]] = {
        Feature.NO_ID: "the server numbers nothing by itself",
        Feature.NO_TIME: "the server stamps each message",
        Feature.DAMAGE: "the server takes whole records only",
        Feature.TEAR: "records come whole",
        Feature.LOCK: "the server orders the writers",
        Feature.MARK_OTHERS: "it keeps no read records",
        Feature.SNAPSHOT: "it has no files",
        Feature.AGENT: "it has no roster",
        Feature.EXTRA: "it has no roster",
        Feature.RECORDS: "it only carries messages",
    }

    def __init__(self) -> None:
        self._server = Server.running["hub"] = Server()
        self._away: list[dict[str, Any]] = []

    @property
    def location(self) -> str:
        return f"//ann:{PASSWORD}@hub/box"

    def make(self) -> None:
        self._server.make("box")

    def message(self, fields: Mapping[str, Any]) -> None:
        self._server.publish("box", dict(fields))

    def replace(self, *messages: Mapping[str, Any]) -> None:
        self._server.make("box", *map(dict, messages))

    def remove(self) -> None:
        self._away = self._server.mailboxes["box"]
        self._server.remove("box")

    def restore(self) -> None:
        self._server.make("box", *self._away)

    def disconnect(self) -> None:
        self._server.is_up = False
        self._server.wake()

    def reconnect(self) -> None:
        self._server.is_up = True
        self._server.wake()
