"""A mailbox on a NATS server as other programs treat it, for the conformance suite."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import count
from typing import Any, ClassVar

from mailstore.conformance import Feature, Harness
from mailstore.kinds.nats.address import location_of
from mailstore.kinds.nats.connection import Connection
from mailstore.kinds.nats.store import NatsStore
from mailstore.kinds.nats.stream import StreamRecord, ask, batch, create_streams, last_on
from mailstore.kinds.nats.subjects import Topic, mail_stream, presence_stream, subject, token_of
from mailstore.store import Store
from tests.servers.cuttable import CuttablePassage

_names = count()
MANY = 1 << 20


class NatsHarness(Harness):
    """One mailbox with a name of its own on a shared server, which the store reaches through a passage."""

    store: ClassVar[type[Store]] = NatsStore
    cannot: ClassVar[Mapping[Feature, str]] = {
        Feature.NO_TIME: "the server keeps the time of each record",
        Feature.TEAR: "records come whole",
        Feature.LOCK: "the server orders the writers",
    }

    def __init__(self, passage: CuttablePassage, connection: Connection) -> None:
        self._passage = passage
        self.connection = connection
        self.name = f"box {next(_names)}.α"
        self._away: list[StreamRecord] = []
        self._later: list[dict[str, Any]] = []
        self._is_followed = False
        self.publisher = connection.client.jetstream()

    @property
    def stream(self) -> str:
        return mail_stream(self.name)

    @property
    def location(self) -> str:
        """Return the location, once everything is there that whoever asks for it could look at."""
        self._publish_later()
        self._is_followed = True
        return location_of(f"//127.0.0.1:{self._passage.port}/{self.name}").address.location

    def make(self) -> None:
        self.connection.run(create_streams(self.connection.client, self.name, 1))

    def publish(self, topic: str, token: str, data: bytes, headers: dict[str, str] | None = None) -> int:
        """Publish bytes as any client may; return the sequence number."""
        self._publish_later()
        return self.connection.run(self.publisher.publish(subject(self.name, topic, token), data, headers=headers)).seq

    def put(self, topic: str, writer: str, fields: Mapping[str, Any]) -> int:
        """Publish a record under a writer's name."""
        return self.publish(topic, token_of(writer), json.dumps(fields, ensure_ascii=False).encode())

    def message(self, fields: Mapping[str, Any]) -> None:
        """Publish a message: at once if somebody follows, else together with others before anybody looks."""
        if self._is_followed:
            self.put(Topic.MAIL, fields["sender"], fields)
        else:
            self._later.append(dict(fields))

    def _publish_later(self) -> None:
        later, self._later = self._later, []
        if later:
            self.connection.run(self._publish_all(later))

    async def _publish_all(self, records: list[dict[str, Any]]) -> None:
        for fields in records:
            to = subject(self.name, Topic.MAIL, token_of(fields["sender"]))
            await self.publisher.publish_async(to, json.dumps(fields, ensure_ascii=False).encode())
        await self.publisher.publish_async_completed()

    def agent(self, fields: Mapping[str, Any]) -> None:
        self.put(Topic.ROSTER, fields["session_id"], fields)

    def agent_fields(self, session_id: str) -> Mapping[str, Any]:
        to = subject(self.name, Topic.ROSTER, token_of(session_id))
        found = self.connection.run(last_on(self.connection.client, self.stream, to))
        assert found is not None
        return dict(json.loads(found.data))

    def read(self, fields: Mapping[str, Any]) -> None:
        self.put(Topic.READ, fields["reader"], fields)

    def delivery(self, fields: Mapping[str, Any]) -> None:
        self.put(Topic.DELIVERY, "", fields)

    def damage(self) -> None:
        self.publish(Topic.MAIL, "bob-00000001", b'{"id": "cut", "sender": "bob')

    def replace(self, *messages: Mapping[str, Any]) -> None:
        self.remove()
        self.make()
        for message in messages:
            self.message(message)

    def remove(self) -> None:
        self._away = self.records()
        for name in (self.stream, presence_stream(self.name)):
            self.connection.run(ask(self.connection.client, f"STREAM.DELETE.{name}"))

    def restore(self) -> None:
        self.make()
        for record in self._away:
            self.publish(record.topic, record.token, record.data)

    def disconnect(self) -> None:
        self._passage.cut()

    def reconnect(self) -> None:
        self._passage.repair()

    def records(self) -> list[StreamRecord]:
        """Return everything in the stream."""
        self._publish_later()
        return self.connection.run(batch(self.connection.client, self.stream, 1, MANY))

    def snapshot(self) -> Mapping[str, tuple[bytes, int]]:
        return {str(each.sequence): (each.data, int(each.time * 1e6)) for each in self.records()}
