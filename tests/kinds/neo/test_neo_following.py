"""A graph that its own process goes on writing to: what is told, once, and that looking leaves no trace."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mailstore.conformance.following import following, ids, of, scanned
from mailstore.kinds.neo.store import NeoStore
from mailstore.records.events import Event, Gone, Person, PutAway, Reset
from mailstore.records.message import Delivery, Message, Problem, Receipt
from mailstore.records.roster import Agent
from mailstore.state.mailbox import Mailbox
from tests.mailstore.graphs import Graph
from tests.mailstore.owners import owned, snapshot

SENT = "2026-03-16T12:00:00.000Z"
LATER = "2026-03-16T13:00:00.000Z"
TIMES = 300


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Graph]:
    graph = Graph(tmp_path / ".neo-ai-data" / "sqlite" / "memory-core-graph.sqlite")
    graph.make()
    with graph.at_once():
        for name in ("@ann", "@bob", "@cyd"):
            graph.agent(name)
        graph.human()
        graph.message("m1", "@ann", "@bob", sent=SENT, subject="One", bodyText="First.")
        graph.message("m2", "@ann", "AGENT:*", sent=SENT, audience=["@bob", "@cyd"], subject="Two")
    yield graph
    graph.close()


def changed(store: NeoStore) -> list[Event]:
    """Return what a look finds now."""
    store._look(True)
    return [event for _ in iter(lambda: store._take(store._changed), False) for event in store._hand_out()]


@pytest.fixture
def store(graph: Graph) -> Iterator[NeoStore]:
    with NeoStore.open(graph.path) as store:
        assert ids(scanned(store)) == {"m1": 1, "m2": 1}
        yield store


def test_only_what_is_new_is_told(graph: Graph, store: NeoStore) -> None:
    graph.set("m1", readAt=LATER)
    assert changed(store) == [Receipt("m1", "@bob", 1_773_666_000.0)]
    graph.edge("MESSAGE:m2", "@ann", "DELIVERED_TO", deliveredAt=SENT)
    assert changed(store) == [Delivery("m2", "@ann", 1_773_662_400.0)]
    graph.agent("@ann", displayName="Ann")
    assert [agent.name for agent in of(Agent, changed(store))] == ["Ann"]
    graph.node("a-memory", "MEMORY", text="of no concern")
    assert changed(store) == []


def test_a_read_mark_that_is_set_again_is_no_other_one(graph: Graph, store: NeoStore) -> None:
    graph.set("m1", readAt=LATER)
    changed(store)
    graph.set("m1", readAt="2026-03-16T14:00:00.000Z")
    assert changed(store) == []


def test_the_state_of_a_task_takes_the_place_of_the_one_before(graph: Graph, store: NeoStore) -> None:
    graph.set("m1", task={"state": "Working"})
    [message] = changed(store)
    assert isinstance(message, Message)
    assert message.tags == ("task:Working",)
    graph.set("m1", archivedAt=LATER)
    [message, away] = changed(store)
    assert isinstance(away, PutAway)
    assert isinstance(message, Message)
    assert message.archived


def test_a_retraction_is_told_by_reading_all_anew(graph: Graph, store: NeoStore) -> None:
    graph.set("m1", subject="[retracted by sender]", bodyText="[retracted by sender]", retracted=True)
    events = changed(store)
    assert of(Reset, events) == [Reset("a message was changed")]
    assert ids(events) == {"m1": 1, "m2": 1}
    [message] = [message for message in of(Message, events) if message.id == "m1"]
    assert (message.subject, message.tags) == ("[retracted by sender]", ("retracted",))
    assert store.content(message) == "[retracted by sender]"


@pytest.mark.parametrize(
    "statement",
    ["DELETE FROM Nodes WHERE id = 'MESSAGE:m1'", "DELETE FROM Edges WHERE type = 'DELIVERED_TO'"],
)
def test_what_is_taken_out_of_the_graph_is_told_by_reading_all_anew(
    graph: Graph, store: NeoStore, statement: str
) -> None:
    graph.do(statement)
    events = changed(store)
    assert len(of(Reset, events)) == 1
    fresh = events[1:]
    with NeoStore.open(graph.path) as again:
        assert set(map(repr, fresh)) == set(map(repr, scanned(again)))


def test_an_edge_of_no_concern_that_is_taken_out_changes_nothing(graph: Graph, store: NeoStore) -> None:
    graph.edge("@ann", "@bob", "CAN_READ_INBOX_OF")
    graph.do("DELETE FROM Edges WHERE type = 'CAN_READ_INBOX_OF'")
    assert changed(store) == []


def test_a_log_of_changes_that_was_cut_loses_nothing(graph: Graph, store: NeoStore) -> None:
    graph.message("m3", "@bob", "@ann", sent=LATER)
    graph.do("DELETE FROM GraphLog")
    assert ids(changed(store)) == {"m3": 1}
    graph.message("m4", "@bob", "@ann", sent=LATER)
    assert ids(changed(store)) == {"m4": 1}


def test_an_earlier_message_of_a_label_becomes_the_beginning_of_its_thread(graph: Graph, store: NeoStore) -> None:
    graph.message("m3", "@bob", "@ann", sent=LATER, partOfThread="THREAD:ink")
    assert [message.thread for message in of(Message, changed(store))] == [None]
    graph.message("m4", "@bob", "@ann", sent="2026-03-16T14:00:00.000Z", partOfThread="THREAD:ink")
    assert [message.thread for message in of(Message, changed(store))] == ["m3"]
    graph.message("m0", "@bob", "@ann", sent=SENT, partOfThread="THREAD:ink")
    told = {message.id: message.thread for message in of(Message, changed(store))}
    assert told == {"m0": None, "m3": "m0", "m4": "m0"}


def test_a_second_person_is_told_by_reading_all_anew(graph: Graph, store: NeoStore) -> None:
    graph.message("m3", "@bob", "@olga", sent=LATER)
    assert [message.recipients for message in of(Message, changed(store))] == [("@olga",)]
    graph.human("@pia")
    events = changed(store)
    assert of(Person, events) == [Person(("@olga", "@pia", "olga", "pia"))]
    assert "m3" in ids(events)


def test_looking_leaves_no_trace_while_its_owner_is_at_work(tmp_path: Path) -> None:
    path = tmp_path / ".neo-ai-data" / "sqlite" / "memory-core-graph.sqlite"
    with owned(path, Graph) as owner:
        owner.run("it.message('m1', '@ann', '@bob', sent='2026-03-16T12:00:00.000Z', bodyText='Hello.')")
        before = snapshot(tmp_path)
        assert {name.rpartition(".")[2] for name in before} == {"sqlite", "sqlite-wal", "sqlite-shm"}
        with NeoStore.open(path) as store:
            [message] = of(Message, scanned(store))
            assert store.content(message) == "Hello."
            assert changed(store) == []
        assert snapshot(tmp_path) == before
        owner.run("it.message('m2', '@ann', '@bob', sent='2026-03-16T12:00:00.000Z')")
        with NeoStore.open(path) as store:
            assert ids(scanned(store)) == {"m1": 1, "m2": 1}


def test_nothing_is_missing_or_doubled_while_its_owner_writes(tmp_path: Path) -> None:
    path = tmp_path / ".neo-ai-data" / "sqlite" / "memory-core-graph.sqlite"
    wanted = [f"m{number}" for number in range(TIMES)]

    async def story(store: NeoStore) -> list[Event]:
        async with following(store) as came:
            return await came.until_message(*(name for name in wanted if name not in ids(first)), "last")

    with owned(path, Graph) as owner:
        owner.begin(
            f"for n in range({TIMES}): it.message(f'm{{n}}', '@ann', 'AGENT:*', sent='2026-03-16T12:00:00.000Z', "
            "audience=['@bob', '@cyd'])"
        )
        with NeoStore.open(path) as store:
            first = scanned(store)
            owner.begin("it.message('last', '@ann', '@bob', sent='2026-03-16T12:00:00.000Z')")
            events = [*first, *asyncio.run(story(store))]
            owner.end()
            owner.end()
            events += changed(store)
    assert not of(Reset, events)
    assert ids(events) == dict.fromkeys([*wanted, "last"], 1)
    assert len(of(Delivery, events)) == len(set(of(Delivery, events))) == 2 * TIMES


def test_a_database_that_its_owner_holds_locked_is_told_to_be_and_is_back_when_it_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mailstore.files.database.WAIT_SECONDS", 0.01)
    path = tmp_path / "memory-core-graph.sqlite"
    with owned(path, Graph) as owner:
        owner.run("it.message('m1', '@ann', '@bob', sent='2026-03-16T12:00:00.000Z')")
        owner.run("it._connection.execute('PRAGMA journal_mode = delete')")
        with NeoStore.open(path) as store:
            owner.run("it._connection.execute('BEGIN EXCLUSIVE')")
            events = scanned(store)
            assert "locked" in of(Gone, events)[0].reason
            assert "locked" in of(Problem, events)[0].reason
            assert changed(store) == [], "it is said once"
            owner.run("it._connection.execute('COMMIT')")
            assert ids(events := changed(store)) == {"m1": 1}
            assert events[0] == Reset("the mailbox is back")
            owner.run("it.message('m2', '@ann', '@bob', sent='2026-03-16T12:00:00.000Z')")
            owner.run("it._connection.execute('BEGIN EXCLUSIVE')")
            assert [one.reason for one in of(Gone, changed(store))] == [
                "memory-core-graph.sqlite can't be read: its owner holds it locked"
            ]
            owner.run("it._connection.execute('COMMIT')")
            mailbox = Mailbox()
            mailbox.fold(changed(store), 0.0)
            assert mailbox.ids() == {"m1", "m2"}


def test_a_link_in_the_log_s_folder_is_not_followed(graph: Graph, tmp_path: Path) -> None:
    folder = graph.path.parent.parent / "memory-wal" / "messages"
    folder.mkdir(parents=True)
    outside = tmp_path / "outside.jsonl"
    node = "MESSAGE:linked"
    record = {"id": node, "timestamp": 1, "graphProjectionVersion": 1, "message": {"properties": {"subject": "x"}}}
    outside.write_text(json.dumps(record) + "\n")
    (folder / "message-wal-2026-03-16.jsonl").symlink_to(outside)
    with NeoStore.open(graph.path) as store:
        assert ids(scanned(store)) == {"m1": 1, "m2": 1}
    (folder / "message-wal-2026-03-17.jsonl").write_text(outside.read_text())
    with NeoStore.open(graph.path) as store:
        assert ids(scanned(store)) == {"m1": 1, "m2": 1, "linked": 1}


def timed(deed: Callable[[], object]) -> float:
    start = time.process_time()
    deed()
    return time.process_time() - start


def test_one_more_message_does_not_cost_a_look_at_all_of_them(graph: Graph) -> None:
    with graph.at_once():
        for number in range(3000):
            graph.message(f"n{number}", "@ann", "@bob", sent=SENT)
    with NeoStore.open(graph.path) as store:
        whole = timed(lambda: scanned(store))
        graph.message("late", "@ann", "@bob", sent=LATER)
        assert timed(lambda: changed(store)) < whole / 4
