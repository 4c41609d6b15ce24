"""Writing to a stream: each record there once, or refused with nothing written."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from mailstore.conformance.following import ids, of, scanned
from mailstore.conformance.samples import ANN, BOB, agent, sent_messages
from mailstore.errors import MailboxMissing, StoreError
from mailstore.kinds.nats import publish as publishing
from mailstore.kinds.nats.publish import Unconfirmed
from mailstore.kinds.nats.stream import RequestRefused, ask
from mailstore.kinds.nats.subjects import Topic, subject, token_of
from mailstore.records.draft import draft
from mailstore.records.message import Intervention, Receipt
from mailstore.records.roster import Agent
from mailstore.registry import create_store
from tests.kinds.nats.nats_harness import NatsHarness

HELLO = draft(sender=ANN, recipients=(BOB,), content="Hello.", audience=(BOB,))


def test_a_message_that_was_not_confirmed_is_there_once_when_it_is_sent_again(
    nats_box: NatsHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    nats_box.make()
    once = publishing._once
    lost = iter([True, True])

    async def unheard(*arguments: Any) -> int:
        """Publish, and lose the server's answer twice."""
        found = await once(*arguments)
        if next(lost, False):
            raise OSError("the answer was lost")
        return found

    monkeypatch.setattr(publishing, "_once", unheard)
    monkeypatch.setattr(publishing, "TRIES_SECONDS", -1.0)
    with nats_box.open() as store:
        with pytest.raises(Unconfirmed, match="look before you send it again"):
            store.send(HELLO)
        with pytest.raises(Unconfirmed):
            store.send(HELLO)
        sent = store.send(HELLO)
        assert ids(scanned(store)) == {sent.id: 1}
        other = store.send(HELLO)
    assert other.id != sent.id
    assert len(nats_box.records()) == 2


def test_an_answer_that_is_lost_is_asked_for_again(nats_box: NatsHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    nats_box.make()
    once = publishing._once
    calls: list[str] = []

    async def unheard(client: Any, stream: str, publication: Any, seconds: float) -> int:
        calls.append(publication.unique)
        found = await once(client, stream, publication, seconds)
        if len(calls) == 1:
            raise OSError("the answer was lost")
        return found

    monkeypatch.setattr(publishing, "_once", unheard)
    monkeypatch.setattr(publishing, "PAUSE_SECONDS", 0.0)
    with nats_box.open() as store:
        sent = store.send(HELLO)
    assert calls == [sent.id, sent.id]
    assert len(nats_box.records()) == 1


def test_a_record_that_no_quorum_has_yet_is_waited_for(nats_box: NatsHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    nats_box.make()
    once = publishing._once
    calls: list[str] = []

    async def in_process(client: Any, stream: str, publication: Any, seconds: float) -> int:
        """Answer as a leader whose followers are slow does to a record that is sent again."""
        calls.append(publication.unique)
        if len(calls) == 1:
            raise TimeoutError
        if len(calls) == 2:
            raise RequestRefused(409, 10158, "duplicate message id is in process")
        return await once(client, stream, publication, seconds)

    monkeypatch.setattr(publishing, "_once", in_process)
    monkeypatch.setattr(publishing, "PAUSE_SECONDS", 0.0)
    with nats_box.open() as store:
        sent = store.send(HELLO)
    assert calls == [sent.id] * 3
    assert len(nats_box.records()) == 1


def test_without_a_connection_nothing_is_sent_and_the_reason_is_told(
    nats_box: NatsHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "MOVING_SECONDS", 0.1)
    nats_box.make()
    with nats_box.open() as store:
        nats_box.disconnect()
        store._connection.run(store._connection.down.wait())  # type: ignore[attr-defined]
        begun = time.monotonic()
        with pytest.raises(StoreError, match="can't be reached"):
            store.send(HELLO)
        assert time.monotonic() - begun < 1.0
    assert nats_box.records() == []


def test_what_is_sent_to_a_mailbox_that_was_removed_is_refused(nats_box: NatsHarness) -> None:
    nats_box.make()
    with nats_box.open() as store:
        nats_box.remove()
        with pytest.raises(MailboxMissing):
            store.send(HELLO)


def test_a_record_larger_than_the_server_takes_is_refused(nats_box: NatsHarness) -> None:
    nats_box.make()
    with nats_box.open() as store, pytest.raises(StoreError, match="the server takes"):
        store.send(draft(sender=ANN, recipients=(BOB,), content="x" * (1 << 20)))
    assert nats_box.records() == []


def test_reads_are_recorded_once_by_any_number_of_programs(nats_box: NatsHarness) -> None:
    nats_box.make()
    names = sent_messages(nats_box, 5)
    with nats_box.open() as store, nats_box.open() as other:
        assert store.mark_read(ANN, names[:3]) == 3
        assert other.mark_read(ANN, names) == 2
        assert store.mark_read(ANN, names) == 0
        assert other.mark_read(BOB, names[:1]) == 1
        with nats_box.open() as later:
            found = of(Receipt, scanned(later))
    assert len(found) == len({(each.message_id, each.reader) for each in found}) == 6


def test_many_send_at_once_and_each_message_is_there_once(nats_box: NatsHarness) -> None:
    nats_box.make()
    with nats_box.open() as store, ThreadPoolExecutor(8) as pool:
        sent = list(pool.map(lambda _: store.send(HELLO).id, range(60)))
        assert ids(scanned(store)) == dict.fromkeys(sent, 1)


def test_an_entry_that_another_changed_meanwhile_is_read_again(
    nats_box: NatsHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    nats_box.make()
    nats_box.agent(agent(ANN, colour="blue"))
    once = publishing._once
    late = iter([True])

    async def overtaken(*arguments: Any) -> int:
        if next(late, False):
            await nats_box.publisher.publish(
                subject(nats_box.name, Topic.ROSTER, token_of(ANN)), json.dumps(agent(ANN, colour="red")).encode()
            )
        return await once(*arguments)

    monkeypatch.setattr(publishing, "_once", overtaken)
    with nats_box.open() as store:
        nats_box.publisher = store._connection.client.jetstream()  # type: ignore[attr-defined]
        store.update_agent(Agent(ANN, role="steward"))
    entry = nats_box.agent_fields(ANN)
    assert (entry["role"], entry["colour"]) == ("steward", "red")


def test_the_journal_names_who_acted(nats_box: NatsHarness) -> None:
    nats_box.make()
    acted = Intervention("1", "user", "step-in", 1_773_662_400.0, None, "why", {"to": [BOB]})
    with nats_box.open() as store:
        store.record(acted)
        assert of(Intervention, scanned(store)) == [acted]
    assert [(record.topic, record.token) for record in nats_box.records()] == [(Topic.JOURNAL, "user")]


def test_a_created_mailbox_denies_what_would_lose_mail(nats_box: NatsHarness) -> None:
    with create_store("nats", nats_box.location) as store:
        sent = store.send(HELLO)
    found = nats_box.connection.run(ask(nats_box.connection.client, f"STREAM.INFO.{nats_box.stream}"))
    config = found["config"]
    assert (config["deny_delete"], config["deny_purge"], config["storage"]) == (True, True, "file")
    assert (config["max_msgs"], config["max_bytes"], config["max_age"]) == (-1, -1, 0)
    connection = nats_box.connection
    for what in (f"STREAM.PURGE.{nats_box.stream}", f"STREAM.MSG.DELETE.{nats_box.stream}"):
        with pytest.raises(StoreError, match="refuses"):
            connection.run(ask(connection.client, what, {"seq": 1} if "MSG" in what else {}))
    with nats_box.open() as store:
        assert ids(scanned(store)) == {sent.id: 1}
