"""Reading a stream: every way tells the same, each record once, and reading goes on where it stopped."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from mailstore.conformance.following import Follower, following, ids, of, scanned
from mailstore.conformance.samples import ANN, BOB, agent, at, message_record, sent_messages
from mailstore.errors import MailboxMissing, StoreError
from mailstore.folding import fold_store
from mailstore.kinds.nats import pull, reader, stream
from mailstore.kinds.nats.opening import NatsClient
from mailstore.kinds.nats.store import NatsStore
from mailstore.kinds.nats.stream import NO_LEADER, RequestRefused, ask
from mailstore.kinds.nats.subjects import Topic
from mailstore.records.draft import draft
from mailstore.records.events import Event, Gone, Progress, Reset
from mailstore.records.message import Delivery, Message
from mailstore.records.roster import Agent
from mailstore.resumable import Stale
from mailstore.state.mailbox import Mailbox
from mailstore.store import Store
from tests.kinds.nats.nats_harness import NatsHarness

if TYPE_CHECKING:
    from nats.aio.msg import Msg

NOW = 1_773_662_500.0


def fill(box: NatsHarness, count: int = 120) -> None:
    """Publish mail of all sorts, usual and unusual, and what others record of it."""
    box.make()
    for name in (ANN, BOB):
        box.agent(agent(name, role="scribe" if name == ANN else "", updated=at(0)))
    for number in range(count):
        more = {"thread": f"m{number - 1}"} if number % 3 else {}
        box.message(message_record(f"m{number}", number, sender=BOB if number % 2 else ANN, recipient="scribe", **more))
        if number % 5 == 0:
            box.read({"message_id": f"m{number}", "reader": ANN, "timestamp": at(number + 1)})
    box.message(message_record("m7", 500, content="the same id again"))
    box.message(message_record("untimed", timestamp="never", subject=None, content="@ann-00000001 who?"))
    box.message(message_record("ring", 501, thread="ring"))
    box.put(Topic.MAIL, ANN, message_record("forged", 502, sender=BOB))
    box.put(Topic.READ, BOB, {"message_id": "m1", "reader": ANN, "timestamp": at(9)})
    box.read({"message_id": "nowhere", "reader": ANN, "timestamp": at(9)})
    box.publish(Topic.MAIL, BOB, json.dumps(message_record("told", 503)).encode(), {stream.AUDIENCE: json.dumps([ANN])})
    box.damage()
    box.delivery({"message_id": "m3", "recipient": ANN, "timestamp": at(4)})


def opened(box: NatsHarness) -> NatsStore:
    store = box.open()
    assert isinstance(store, NatsStore)
    return store


def test_where_no_node_of_a_cluster_serves_a_stream_yet_it_is_waited_for(
    nats_box: NatsHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    nats_box.make()
    sent_messages(nats_box, 3)
    gathered, asked = stream._gathered, 0

    async def nobody_at_first(*question: Any) -> Any:
        nonlocal asked
        asked += 1
        return None if asked < 3 else await gathered(*question)

    monkeypatch.setattr(stream, "_gathered", nobody_at_first)
    monkeypatch.setattr(stream, "AGAIN_SECONDS", 0.001)
    with nats_box.open() as store:
        assert len(of(Message, scanned(store))) == 3
    asked = -1000
    monkeypatch.setattr(stream, "ELECTION_SECONDS", 0.0)
    with nats_box.open() as store, pytest.raises(StoreError) as refused:
        scanned(store)
    assert not isinstance(refused.value, MailboxMissing)


@pytest.mark.parametrize("why", [TimeoutError(), RequestRefused(503, NO_LEADER, "temporarily unavailable")], ids=repr)
def test_what_a_stream_holds_is_asked_again_while_the_nodes_of_a_cluster_elect(
    nats_box: NatsHarness, monkeypatch: pytest.MonkeyPatch, why: Exception
) -> None:
    nats_box.make()
    sent_messages(nats_box, 3)
    ask, asked = stream.ask, 0

    async def lost_at_first(*question: Any, **more: Any) -> Any:
        nonlocal asked
        asked += 1
        if asked < 3:
            raise why
        return await ask(*question, **more)

    monkeypatch.setattr(stream, "ask", lost_at_first)
    monkeypatch.setattr(stream, "AGAIN_SECONDS", 0.001)
    with nats_box.open() as store:
        assert asked == 3
        assert len(of(Message, scanned(store))) == 3
    asked = -1000
    monkeypatch.setattr(stream, "ELECTION_SECONDS", 0.0)
    with pytest.raises(StoreError) as refused:
        nats_box.open()
    assert not isinstance(refused.value, MailboxMissing)


def test_records_are_asked_for_again_where_the_node_that_was_asked_ended(
    nats_box: NatsHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    nats_box.make()
    sent_messages(nats_box, 3)
    gathered, asked = stream._gathered, 0

    async def lost_at_first(*question: Any) -> Any:
        nonlocal asked
        asked += 1
        if asked < 3:
            raise TimeoutError
        return await gathered(*question)

    monkeypatch.setattr(stream, "_gathered", lost_at_first)
    monkeypatch.setattr(stream, "AGAIN_SECONDS", 0.001)
    with nats_box.open() as store:
        assert len(of(Message, scanned(store))) == 3


@pytest.mark.parametrize("lost", range(1, 7))
def test_a_record_that_is_lost_on_its_way_is_asked_for_again(
    nats_box: NatsHarness, monkeypatch: pytest.MonkeyPatch, lost: int
) -> None:
    nats_box.make()
    nats_box.agent(agent(ANN))
    nats_box.agent(agent(BOB))
    sent_messages(nats_box, 3)
    came = 0

    def loses(headers: dict[str, str]) -> bool:
        """Lose one record of all answers together, or the end of an answer."""
        nonlocal came
        came += stream.LAST in headers
        return came == lost and stream.LAST in headers

    assert nats_box.location, "all is published"
    monkeypatch.setattr(NatsClient, "subscribe", losing(loses))
    monkeypatch.setattr(stream, "AGAIN_SECONDS", 0.001)
    monkeypatch.setattr(stream, "ANSWER_SECONDS", 0.5)
    monkeypatch.setattr(stream, "SOON_SECONDS", 0.1)
    with nats_box.open() as store:
        events = scanned(store)
    assert came > lost
    assert len(of(Message, events)) == 3
    assert {agent.session_id for agent in of(Agent, events)} == {ANN, BOB}


def test_an_answer_that_always_misses_a_record_is_taken_as_it_is(
    nats_box: NatsHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    nats_box.make()
    sent_messages(nats_box, 3)
    assert nats_box.location, "all is published"
    monkeypatch.setattr(NatsClient, "subscribe", losing(lambda headers: headers.get("Nats-Sequence") == "2"))
    with nats_box.open() as store:
        assert len(of(Message, scanned(store))) == 2


def losing(loses: Callable[[dict[str, str]], bool]) -> Callable[..., Any]:
    """Return a `subscribe` of the client to which what the server sends is lost now and then."""
    subscribe = NatsClient.subscribe

    async def subscribed(client: NatsClient, subject: str, *, cb: Any, **more: Any) -> Any:
        async def take(message: Any) -> None:
            if not loses(message.headers or {}):
                await cb(message)

        return await subscribe(client, subject, cb=take, **more)

    return subscribed


def answers(mailbox: Mailbox) -> object:
    found = mailbox.messages()
    return (
        [(str(one), mailbox.outcome(one) if hasattr(mailbox, "outcome") else "") for one in found],
        mailbox.counts(),
        {name: [one.id for one in mailbox.unread(name, NOW)] for name in (ANN, BOB, "user")},
        Counter(map(str, mailbox.problems)),
    )


def folded(events: list[Event]) -> Mailbox:
    mailbox = Mailbox("user")
    mailbox.fold(events, NOW)
    mailbox.advance(NOW)
    return mailbox


def let_the_rest_come_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have all messages but the first come after that was read, and before a reader looks whether there are more."""
    read, take, was_read = pull.Pull.read, pull.Pull._take, asyncio.Event()

    async def take_late(self: pull.Pull, message: Msg) -> None:
        if self._expected > 1:
            await was_read.wait()
        await take(self, message)

    async def read_early(self: pull.Pull) -> list[stream.StreamRecord]:
        got = await read(self)
        was_read.set()
        while self._pending:
            await asyncio.sleep(0)
        return got

    monkeypatch.setattr(pull.Pull, "_take", take_late)
    monkeypatch.setattr(pull.Pull, "read", read_early)


WAYS = ["batches", "a consumer", "a consumer that is ahead", "one by one", "in bulk", "in bulk, all unusual"]


@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_reading_tells_the_same(nats_box: NatsHarness, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    fill(nats_box)
    with opened(nats_box) as store:
        expected = scanned(store)
    if "ahead" in way:
        let_the_rest_come_late(monkeypatch)
    if way.startswith("a consumer"):
        monkeypatch.setattr(reader, "FIRST", 20)
        monkeypatch.setattr(reader, "FEW", 0)
        monkeypatch.setattr(pull, "BATCH", 16)
    if way == "one by one":
        monkeypatch.setattr(stream, "BATCHES_SINCE", (99, 0))
    with opened(nats_box) as store:
        if way.startswith("in bulk"):
            if "unusual" in way:
                monkeypatch.setattr("mailstore.kinds.nats.gather.MailDecoder.columns", _unusual)
            mailbox = Mailbox("user")
            store.fold_all(mailbox, NOW)
            mailbox.advance(NOW)
            assert list(store.news()) == []
        else:
            events = scanned(store)
            kept = [event for event in events if not isinstance(event, Progress)]
            assert Counter(map(str, kept)) == Counter(str(one) for one in expected if not isinstance(one, Progress))
            mailbox = folded(events)
    assert answers(mailbox) == answers(folded(expected))


def _unusual(*_: object) -> None:
    raise ValueError("nothing is usual")


def test_reading_is_resumed_where_it_stopped(nats_box: NatsHarness) -> None:
    fill(nats_box, 10)
    with opened(nats_box) as store:
        store.fold_all(Mailbox("user"), NOW)
        position = store.position()
    nats_box.message(message_record("later", 900))
    with opened(nats_box) as store:
        roster = store.resume(position)
        assert {each.session_id for each in of(Agent, roster)} == {ANN, BOB}
        store.confirm()
        assert ids(event for batch in store.news() for event in batch) == {"later": 1}
        assert scanned(store) == []


def test_a_stream_that_was_made_again_is_another_one(nats_box: NatsHarness) -> None:
    nats_box.make()
    sent_messages(nats_box, 3)
    with opened(nats_box) as store:
        store.fold_all(Mailbox("user"), NOW)
        position = store.position()
        nats_box.replace(*(message_record(f"n{number}") for number in range(5)))
        with pytest.raises(Stale):
            store.confirm()
        batches = list(store.news())
        assert isinstance(batches[0][0], Reset)
        assert set(ids(event for batch in batches for event in batch)) == {f"n{number}" for number in range(5)}
    with opened(nats_box) as store, pytest.raises(Stale):
        store.resume(position)
    with opened(nats_box) as store, pytest.raises(Stale):
        store.resume(b"garbage")


def test_a_folded_mailbox_is_kept_and_only_what_is_new_is_read(
    nats_box: NatsHarness, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("mailstore.kinds.nats.store.LONG", 0)
    fill(nats_box, 30)
    with opened(nats_box) as store:
        before = fold_store(store, "user", NOW)
    nats_box.message(message_record("later", 900))
    with opened(nats_box) as store:
        monkeypatch.setattr(store._reader, "everything", _unusual)
        after = fold_store(store, "user", NOW)
    assert len(after.messages()) == len(before.messages()) + 1


def test_the_audience_is_told_with_its_message(nats_box: NatsHarness) -> None:
    nats_box.make()
    with nats_box.open() as store, nats_box.open() as again:
        sent = store.send(draft(sender=ANN, recipients=("all",), content="To all.", audience=(BOB, "Dan é\n")))
        events = [event for batch in again.scan() for event in batch if isinstance(event, Message | Delivery)]
    assert sorted(event.recipient for event in of(Delivery, events)) == ["Dan é\n", BOB]
    assert {event.message_id for event in of(Delivery, events)} == {sent.id}


def test_a_heartbeat_is_seen_and_adds_nothing_to_the_history(nats_box: NatsHarness) -> None:
    nats_box.make()
    seen = float(int(time.time()))

    async def story(came: Follower, store: Store) -> None:
        store.update_agent(Agent(ANN, role="scribe", activity="reading", last_seen=seen))
        await came.until(lambda events: any(one.last_seen == seen for one in of(Agent, events)))

    async def run(store: Store, writer: Store) -> None:
        async with following(store) as came:
            await story(came, writer)

    with nats_box.open() as store, nats_box.open() as writer:
        writer.update_agent(Agent(ANN, role="scribe"))
        assert [one.role for one in of(Agent, scanned(store))] == ["scribe"]
        asyncio.run(run(store, writer))
        records = nats_box.records()
        assert [record.topic for record in records] == [Topic.ROSTER]
        with nats_box.open() as later:
            told = of(Agent, scanned(later))
        assert (told[-1].activity, told[-1].last_seen, told[-1].role) == ("reading", seen, "scribe")
        writer.update_agent(Agent(ANN, role="archivist"))
        assert len(nats_box.records()) == 2


def test_a_consumer_that_is_gone_is_replaced_without_a_word(nats_box: NatsHarness) -> None:
    nats_box.make()
    names = sent_messages(nats_box, 3)
    connection = nats_box.connection

    async def run(store: Store) -> list[Event]:
        async with following(store) as came:
            await came.until_message(*names)
            nats_box.message(message_record("before", 30))
            await came.until_message("before")
            found = connection.run(ask(connection.client, f"CONSUMER.NAMES.{nats_box.stream}"))
            for name in found["consumers"]:
                connection.run(ask(connection.client, f"CONSUMER.DELETE.{nats_box.stream}.{name}"))
            assert found["consumers"]
            nats_box.message(message_record("after", 31))
            return await came.until_message("after")

    with nats_box.open() as store:
        events = asyncio.run(run(store))
    assert ids(events) == dict.fromkeys([*names, "before", "after"], 1)
    assert not of(Gone, events)


def test_a_reader_that_has_ended_leaves_nothing_on_the_server(nats_box: NatsHarness) -> None:
    nats_box.make()

    def consumers() -> int:
        asked = ask(nats_box.connection.client, f"CONSUMER.LIST.{nats_box.stream}")
        return len(nats_box.connection.run(asked)["consumers"] or ())

    async def follow(store: Store) -> None:
        async with following(store) as came:
            for name in ("scanned", "followed"):
                nats_box.message(message_record(name))
                await came.until_message(name)
            assert consumers() == 1

    with nats_box.open() as store:
        asyncio.run(follow(store))
    end = time.monotonic() + 10  # the server ends one by itself after 30 s
    while consumers() and time.monotonic() < end:
        pass
    assert consumers() == 0


def test_a_flood_waits_for_a_slow_reader_and_nothing_is_left_out(
    nats_box: NatsHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mailstore.kinds.nats.follow.MOST_WAITING", 2)
    monkeypatch.setattr(pull, "BATCH", 10)
    monkeypatch.setattr(pull, "BACKLOG", 20)
    nats_box.make()

    async def run(store: Store) -> tuple[list[Event], int]:
        async with following(store) as came:
            nats_box.message(message_record("first"))
            await came.until_message("first")
            names = sent_messages(nats_box, 600)
            most = len(store._follower._waiting) if isinstance(store, NatsStore) and store._follower else 0
            return await came.until_message(names[-1]), most

    with nats_box.open() as store:
        events, waiting = asyncio.run(run(store))
    assert [message.id for message in of(Message, events)] == ["first", *(f"m{number}" for number in range(600))]
    assert waiting <= 3


def test_a_search_asks_only_for_what_may_match(nats_box: NatsHarness) -> None:
    fill(nats_box, 30)
    nats_box.message(message_record("found", 600, content="A Grüße from the lighthouse"))
    nats_box.message(message_record("escaped", 601, content="gr\u00fc\u00dfe again"))
    with opened(nats_box) as store:
        hints = store.candidates(["lighthouse"])
        assert hints is not None
        assert [each for batch in hints for each in batch] == ["found"]
        hints = store.candidates(["grüsse"])
        assert hints is not None
        assert {"found", "escaped"} <= {each for batch in hints for each in batch}
        [message] = [each for each in of(Message, scanned(store)) if each.id == "found"]
        assert "lighthouse" in store.search_text(message)
        assert store.candidates(["x"]) is None


def test_a_mailbox_that_was_removed_is_missing(nats_box: NatsHarness) -> None:
    nats_box.make()
    sent_messages(nats_box, 1)
    with nats_box.open() as store:
        nats_box.remove()
        with pytest.raises(MailboxMissing, match="signalbox init"):
            scanned(store)


def test_a_scan_goes_on_when_the_connection_is_back(nats_box: NatsHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    nats_box.make()
    names = sent_messages(nats_box, 300)
    monkeypatch.setattr(reader, "FIRST", 20)
    monkeypatch.setattr(reader, "FEW", 0)
    monkeypatch.setattr(pull, "BATCH", 10)
    monkeypatch.setattr(pull, "BACKLOG", 10)
    monkeypatch.setattr(pull, "SILENCE", 0.2)
    with opened(nats_box) as store:
        scanning = store.scan()
        events = [*next(scanning), *next(scanning), *next(scanning)]
        nats_box.disconnect()
        store._connection.run(store._connection.down.wait())
        nats_box.reconnect()
        events += [event for batch in scanning for event in batch]
    assert ids(events) == dict.fromkeys(names, 1)
