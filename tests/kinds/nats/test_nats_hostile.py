"""What hostile or broken programs publish: all of it is shown, and nothing counts for another."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from mailstore.conformance.following import Follower, following, ids, of, scanned
from mailstore.conformance.samples import ANN, BOB, message_record
from mailstore.errors import StoreError
from mailstore.kinds.nats import publish as publishing
from mailstore.kinds.nats import reader, stream
from mailstore.kinds.nats.opening import NatsClient
from mailstore.kinds.nats.own_server import NatsServer
from mailstore.kinds.nats.publish import Publication
from mailstore.kinds.nats.store import NatsStore
from mailstore.kinds.nats.stream import API
from mailstore.kinds.nats.subjects import Topic, subject, token_of
from mailstore.records.draft import draft
from mailstore.records.events import Event
from mailstore.records.message import Intervention, Message, Problem, Receipt
from mailstore.records.roster import Agent
from mailstore.store import Store
from tests.kinds.nats.nats_harness import NatsHarness
from tests.servers.raw_nats import RawNatsClient

HEADS = {
    "status": b"NATS/1.0 404 No Messages\r\n\r\n",
    "unavailable": b"NATS/1.0\r\nStatus: 503\r\n\r\n",
    "ended": b"NATS/1.0\r\nStatus: 204\r\nDescription: EOB\r\nNats-Num-Pending: 0\r\n\r\n",
    "beat": b"NATS/1.0\r\nStatus: 100\r\nDescription: Idle Heartbeat\r\nNats-Last-Consumer: 99\r\n\r\n",
    "place": b"NATS/1.0\r\nNats-Sequence: 1\r\nNats-Time-Stamp: never\r\n\r\n",
    "doubled": b"NATS/1.0\r\nSignalbox-Audience: []\r\nSignalbox-Audience: \xff\r\n\r\n",
    "no-header": b"garbage",
    "empty": b"NATS/1.0\r\n: x\r\nno colon\r\n\r\n",
}
"""Blocks of headers that answers of the server look like, or nothing at all."""
HELLO = draft(sender=ANN, recipients=(BOB,), content="Hello.", audience=(BOB,))
DAMAGE = [b"", b"\x00" * 40, b"[" * 5000, b"{", b"null", b'"text"', b'{"id":"x"}', b"\xff\xfe\xfd"]


@pytest.fixture
def raw(nats_server: NatsServer) -> Iterator[RawNatsClient]:
    with RawNatsClient(nats_server.port) as client:
        yield client


def mail(box: NatsHarness, writer: str = BOB) -> bytes:
    return subject(box.name, Topic.MAIL, token_of(writer)).encode()


def record(message_id: str, **more: str) -> bytes:
    return json.dumps(message_record(message_id, **more)).encode()


def publish_all(box: NatsHarness, raw: RawNatsClient) -> tuple[set[str], int]:
    """Publish hostile messages and damage; return the ids, and how many records are none."""
    raw.publish(mail(box), record("first"))
    for name, head in HEADS.items():
        raw.publish(mail(box), record(name), head)
    raw.publish(mail(box)[:-3] + b"\xff\xfe", record("subject"))
    for data in DAMAGE:
        raw.publish(mail(box), data)
    raw.publish(mail(box), record("pretty").replace(b", ", b",\n"))
    raw.publish(mail(box), record("last"))
    raw.settle()
    return {"first", *HEADS, "subject", "pretty", "last"}, len(DAMAGE)


async def came_until(store: Store, message_id: str) -> list[Event]:
    async with following(store) as came:
        return await came.until_message(message_id)


def test_every_record_is_a_message_or_a_problem_and_can_be_read(nats_box: NatsHarness, raw: RawNatsClient) -> None:
    nats_box.make()
    names, damaged = publish_all(nats_box, raw)
    with nats_box.open() as store:
        events = scanned(store)
        messages = of(Message, events)
        assert ids(events) == dict.fromkeys(names, 1)
        assert len({problem.offset for problem in of(Problem, events) if problem.fatal}) == damaged
        assert {store.content(message) for message in messages} == {f"The text of {name}." for name in names}
        assert list(store.contents(messages)) == [f"The text of {message.id}." for message in messages]


def test_what_comes_live_is_told_in_the_same_way(nats_box: NatsHarness, raw: RawNatsClient) -> None:
    nats_box.make()

    async def story(came: Follower) -> list[Event]:
        names, _ = publish_all(nats_box, raw)
        events = await came.until_message("last")
        assert ids(events) == dict.fromkeys(names, 1)
        return events

    async def run(store: Store) -> list[Event]:
        async with following(store) as came:
            return await story(came)

    with nats_box.open() as store, nats_box.open() as again:
        live = asyncio.run(run(store))
        assert set(map(str, live)) == {str(event) for event in scanned(again) if isinstance(event, Message | Problem)}


@pytest.mark.parametrize(
    "said", [b"\xff", b"[]", b"{}", b"[" * 100_000, b'{"created": 1, "state": {"last_seq": "x", "messages": []}}']
)
def test_a_server_that_answers_anything_is_told(
    nats_box: NatsHarness, monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    nats_box.make()

    async def request(*_: object, **__: object) -> SimpleNamespace:
        return SimpleNamespace(data=said)

    monkeypatch.setattr(NatsClient, "request", request)
    with pytest.raises(StoreError, match="is not a NATS server: check the port"):
        nats_box.open()


@pytest.mark.parametrize("way", ["scan", "glimpse", "search"])
def test_large_records_are_read_a_few_at_a_time(
    nats_box: NatsHarness, raw: RawNatsClient, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    nats_box.make()
    monkeypatch.setattr(stream, "MOST_BYTES", 1 << 16)
    for number in range(12):
        raw.publish(mail(nats_box), record(f"m{number}", content="x" * 30_000))
    raw.settle()
    held: list[int] = []

    async def piece(*asked: Any) -> tuple[list[stream.StreamRecord], bool]:
        records, has_more = await stream.piece(*asked)
        held.append(sum(len(each.data) for each in records))
        return records, has_more

    monkeypatch.setattr(reader, "piece", piece)
    with nats_box.open() as store:
        assert isinstance(store, NatsStore)
        if way == "search":
            words = store.candidates(["xxxx"])
            assert words is not None
            found = [each for some in words for each in some]
        else:
            found = [each.id for each in of(Message, scanned(store) if way == "scan" else store.glimpse())]
    assert sorted(found) == sorted(f"m{number}" for number in range(12))
    assert 30_000 < max(held) < 3 << 16


def test_a_forged_sender_is_shown_and_marked(nats_box: NatsHarness) -> None:
    nats_box.make()
    nats_box.put(Topic.MAIL, BOB, message_record("forged", sender=ANN))
    with nats_box.open() as store:
        events = scanned(store)
        [message], [problem] = of(Message, events), of(Problem, events)
        assert (message.sender, problem.reason, problem.fatal) == (ANN, f"forged: {BOB} wrote it", False)
        assert message.tags == (f"!{problem.reason}",)
        assert isinstance(store, NatsStore)
        assert store.raw_problem(problem) == store.raw(message)


def test_a_server_that_lets_everybody_write_everything_proves_nothing(nats_box: NatsHarness) -> None:
    nats_box.make()
    nats_box.put(Topic.MAIL, "user", message_record("open", sender="user"))
    nats_box.put(Topic.MAIL, BOB, message_record("forged", sender="user"))
    with nats_box.open() as store:
        assert [store.proof(message) for message in of(Message, scanned(store))] == ["", ""]


def test_what_is_written_in_anothers_name_does_not_count(nats_box: NatsHarness) -> None:
    nats_box.make()
    nats_box.put(Topic.READ, BOB, {"message_id": "m", "reader_session_id": ANN})
    nats_box.put(Topic.ROSTER, BOB, {"session_id": ANN, "status": "dead"})
    nats_box.put(
        Topic.JOURNAL, BOB, {"id": "1", "actor": "user", "action": "void", "timestamp": "2026-03-16T12:00:00Z"}
    )
    nats_box.put(Topic.PRESENCE, BOB, {"session_id": ANN, "status": "dead"})
    with nats_box.open() as store:
        events = scanned(store)
    assert not [event for event in events if isinstance(event, Receipt | Agent | Intervention)]
    assert [problem.reason for problem in of(Problem, events) if problem.fatal] == [
        f"forged: a record of {BOB} changes the entry of {ANN}",
        f"forged: a record of {BOB} gives itself out as user",
        f"forged: a record of {BOB} says that {ANN} has read m",
    ]


def test_the_person_may_change_any_entry(nats_box: NatsHarness) -> None:
    nats_box.make()
    nats_box.put(Topic.ROSTER, "user", {"session_id": ANN, "status": "frozen"})
    with nats_box.open() as store:
        assert [agent.session_id for agent in of(Agent, scanned(store))] == [ANN]


@pytest.mark.parametrize("is_live", [False, True])
def test_a_copy_that_the_server_made_under_anothers_name_is_marked(
    nats_box: NatsHarness, raw: RawNatsClient, is_live: bool
) -> None:
    nats_box.make()
    nats_box.put(Topic.MAIL, BOB, message_record("copied", sender=ANN))
    raw.publish(f"{API}.DIRECT.GET.{nats_box.stream}".encode(), b'{"seq": 1}', reply=mail(nats_box, ANN))
    raw.settle()

    async def both(store: Store) -> list[Event]:
        async with following(store) as came:
            return await came.until(lambda events: len(of(Message, events)) == 2)

    with nats_box.open() as store:
        events = asyncio.run(both(store)) if is_live else scanned(store)
    reasons = {problem.offset: problem.reason for problem in of(Problem, events)}
    bobs = subject(nats_box.name, Topic.MAIL, token_of(BOB))
    assert reasons == {1: f"forged: {BOB} wrote it", 2: f"forged: it was copied from {bobs}"}


def test_nobody_keeps_out_a_read_by_using_up_its_id(nats_box: NatsHarness, raw: RawNatsClient) -> None:
    nats_box.make()
    raw.publish(mail(nats_box), record("wanted"))
    used_up = f"NATS/1.0\r\nNats-Msg-Id: read.{token_of(ANN)}.wanted\r\n\r\n"
    raw.publish(mail(nats_box), b"{}", used_up.encode())
    raw.settle()
    with nats_box.open() as store:
        assert store.mark_read(ANN, ["wanted"]) == 1
        assert [each.message_id for each in of(Receipt, scanned(store))] == ["wanted"]


def test_nobody_keeps_out_a_record_by_using_its_id_first(
    nats_box: NatsHarness, raw: RawNatsClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    nats_box.make()
    once, tried = publishing._once, list[str]()

    async def overheard(client: Any, stream: str, publication: Publication, seconds: float) -> int:
        """Publish after somebody who saw the id on its way."""
        tried.append(publication.unique)
        if len(tried) == 1:
            raw.publish(mail(nats_box), b"{}", f"NATS/1.0\r\nNats-Msg-Id: {publication.unique}\r\n\r\n".encode())
            raw.settle()
        return await once(client, stream, publication, seconds)

    monkeypatch.setattr(publishing, "_once", overheard)
    monkeypatch.setattr(publishing, "PAUSE_SECONDS", 0.0)
    with nats_box.open() as store:
        sent = store.send(HELLO)
        assert [each.id for each in of(Message, scanned(store))] == [sent.id]
    assert len(set(tried)) == len(tried) == 2
