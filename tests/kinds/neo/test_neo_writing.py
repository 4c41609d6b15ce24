"""What is sent through the log of a Memory Core, and what is marked read in its graph."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mailstore.conformance.following import ids, of, scanned
from mailstore.errors import DraftRefused, MailboxBusy, StoreError, Unsupported
from mailstore.kinds.neo import writer
from mailstore.kinds.neo.store import NeoStore
from mailstore.records.draft import draft
from mailstore.records.events import Event
from mailstore.records.message import Delivery, Message, Receipt
from tests.mailstore.graphs import Graph
from tests.mailstore.owners import owned

SENT = "2026-03-16T12:00:00.000Z"


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Graph]:
    graph = Graph(tmp_path / ".neo-ai-data" / "sqlite" / "memory-core-graph.sqlite")
    graph.make()
    with graph.at_once():
        graph.node("AGENT:*", "BroadcastSentinel", accountType="sentinel")
        for name in ("@ann", "@bob"):
            graph.agent(name)
        graph.human()
        graph.message("m1", "@ann", "@olga", sent=SENT, subject="One")
    yield graph
    graph.close()


@pytest.fixture
def store(graph: Graph) -> Iterator[NeoStore]:
    with NeoStore.open(graph.path) as store:
        scanned(store)
        yield store


def send(store: NeoStore, *to: str, **fields: Any) -> Message:
    return store.send(draft(**{"sender": "user", "recipients": to, "content": "Hello.", **fields}))


def folder(graph: Graph) -> Path:
    return graph.path.parent.parent / "memory-wal" / "messages"


def records(graph: Graph) -> list[dict[str, Any]]:
    files = [path for path in folder(graph).iterdir() if re.fullmatch(r"message-wal-[0-9-]{10}\.jsonl", path.name)]
    return [json.loads(line) for path in files for line in path.read_bytes().splitlines()]


def changed(store: NeoStore) -> list[Event]:
    store._look(True)
    return [event for _ in iter(lambda: store._take(store._changed), False) for event in store._hand_out()]


def drain(graph: Graph, *, marked: bool = True) -> None:
    """Put what is queued into the graph, as the Memory Core does."""
    for record in records(graph):
        known = record["message"]["properties"]
        routing = record["routing"]
        graph.node(record["id"], "MESSAGE", name=record["message"]["name"], **known)
        graph.edge(record["id"], routing["sentBy"], "SENT_BY", timestamp=record["sentAt"])
        graph.edge(record["id"], routing["to"], "SENT_TO", timestamp=record["sentAt"])
        for name in routing["broadcastRecipients"]:
            graph.edge(record["id"], name, "DELIVERED_TO", deliveredAt=record["sentAt"], readAt=None)
        if marked:
            marker = json.dumps({"id": record["id"], "projectedAt": record["timestamp"]})
            with (folder(graph) / f"message-wal-{record['segmentKey']}.graph.jsonl").open("a") as file:
                file.write(marker + "\n")


def test_a_message_is_a_record_in_the_log_as_the_memory_core_writes_it(graph: Graph, store: NeoStore) -> None:
    sent = send(store, "@ann", subject="Ink", thread="m1")
    [record] = records(graph)
    stamp = sent.timestamp
    node = f"MESSAGE:{sent.id}"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", stamp)
    assert record == {
        "id": node,
        "timestamp": record["timestamp"],
        "sentAt": stamp,
        "graphProjectionVersion": 1,
        "message": {
            "id": node,
            "type": "MESSAGE",
            "name": "Ink",
            "properties": {
                "subject": "Ink",
                "bodyText": "Hello.",
                "priority": "normal",
                "sentAt": stamp,
                "readAt": None,
                "from": "@olga",
                "to": "@ann",
                "inReplyTo": "MESSAGE:m1",
                "partOfThread": None,
                "taggedConcepts": [],
                "wakeSuppressed": False,
                "userId": "olga",
                "sharedEntity": True,
            },
        },
        "routing": {
            "sentBy": "@olga",
            "to": "@ann",
            "preNormalizeTo": "@ann",
            "postNormalizeTo": "@ann",
            "senderUserId": "olga",
            "broadcastRecipients": [],
        },
        "optionalEdges": {
            "originSessionId": None,
            "inReplyTo": "MESSAGE:m1",
            "partOfThread": None,
            "relatedSessions": [],
            "relatedTickets": [],
            "taggedConcepts": [],
        },
        "segmentKey": stamp[:10],
    }
    assert [path.name for path in folder(graph).iterdir()] == [f"message-wal-{stamp[:10]}.jsonl"]


def test_what_is_queued_is_seen_at_once_and_becomes_the_graph_s_message_without_a_second_one(
    graph: Graph, store: NeoStore
) -> None:
    sent = send(store, "bob", subject="Ink")
    assert (sent.sender, sent.recipients, sent.tags) == ("@olga", ("@bob",), ("queued",))
    assert changed(store) == [sent]
    assert changed(store) == []
    assert store.content(sent) == "Hello."
    drain(graph, marked=False)
    [drained] = changed(store)
    assert isinstance(drained, Message)
    assert (drained.id, drained.tags, drained.timestamp) == (sent.id, (), sent.timestamp)
    drain(graph)
    assert changed(store) == []
    assert store.content(drained) == "Hello."
    assert b'"label":"MESSAGE"' in store.raw(drained)
    with NeoStore.open(graph.path) as again:
        assert ids(scanned(again)) == {"m1": 1, sent.id: 1}


def test_a_broadcast_goes_to_the_agents_that_the_memory_core_would_take(graph: Graph, store: NeoStore) -> None:
    graph.node("@old", "AGENT")
    graph.human("human-too")
    graph.do("DELETE FROM Nodes WHERE id = 'human-too'")
    sent = send(store, "all")
    [record] = records(graph)
    assert record["routing"]["to"] == "AGENT:*"
    assert record["routing"]["broadcastRecipients"] == ["@ann", "@bob", "@old"]
    events = changed(store)
    assert {one.recipient for one in of(Delivery, events)} == {"@ann", "@bob", "@old"}
    drain(graph)
    assert ids(changed(store)) == {sent.id: 1}


def test_what_an_agent_s_process_has_just_written_is_not_called_queued(graph: Graph, store: NeoStore) -> None:
    send(store, "@bob")
    [record] = records(graph)
    record["routing"]["sentBy"] = record["message"]["properties"]["from"] = "@ann"
    fresh = record | {"id": "MESSAGE:fresh", "timestamp": int(time.time() * 1000)}
    left = record | {"id": "MESSAGE:left", "timestamp": 1_773_662_400_000}
    [path] = folder(graph).iterdir()
    path.write_text("".join(json.dumps(each) + "\n" for each in (fresh, left)) + '{"id": "MESSAGE:to')
    with NeoStore.open(graph.path) as again:
        found = {message.id: message.tags for message in of(Message, scanned(again))}
    assert found == {"m1": (), "left": ("queued",)}


@pytest.mark.parametrize(
    "line", [b"[]", b"no json", b'{"id": 7}', b"\xff\xfe", b'{"id": "MESSAGE:x", "message": 3}', b"[" * 9999]
)
def test_a_line_of_the_log_that_is_no_record_is_passed_over_as_the_memory_core_does(
    graph: Graph, store: NeoStore, line: bytes
) -> None:
    sent = send(store, "@bob")
    [path] = folder(graph).iterdir()
    path.write_bytes(line + b"\n" + path.read_bytes())
    with NeoStore.open(graph.path) as again:
        assert ids(scanned(again)) == {"m1": 1, sent.id: 1}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"recipients": ("@nobody",)}, "not an identity in this graph"),
        ({"recipients": ("../x",)}, "not an identity in this graph"),
        ({"sender": "@ann"}, "is not the user"),
        ({"thread": "lost"}, "is not in the graph"),
    ],
)
def test_what_the_memory_core_would_refuse_is_refused_and_nothing_written(
    graph: Graph, store: NeoStore, fields: dict[str, Any], reason: str
) -> None:
    with pytest.raises(DraftRefused, match=reason):
        store.send(draft(**{"sender": "user", "recipients": ("@ann",), "content": "Hello.", **fields}))
    assert not folder(graph).exists()


def test_who_has_blocked_the_person_gets_nothing(graph: Graph, store: NeoStore) -> None:
    graph.edge("@olga", "@ann", "BLOCKED_BY")
    with pytest.raises(DraftRefused, match="has blocked"):
        send(store, "@ann")
    send(store, "@bob")


@pytest.mark.parametrize("people", [(), ("@olga", "@pia")])
def test_without_one_person_nothing_is_sent(graph: Graph, store: NeoStore, people: tuple[str, ...]) -> None:
    graph.do("DELETE FROM Nodes WHERE id = '@olga'")
    for name in people:
        graph.human(name)
    with pytest.raises(DraftRefused) as caught:
        send(store, "@ann")
    assert all(name in str(caught.value) for name in people)


def test_a_folder_of_the_log_that_can_not_be_made_is_said(graph: Graph, store: NeoStore) -> None:
    (graph.path.parent.parent / "memory-wal").write_text("in the way")
    with pytest.raises(StoreError):
        send(store, "@ann")


def test_a_lock_whose_holder_is_gone_or_which_is_old_is_taken_away(graph: Graph, store: NeoStore) -> None:
    send(store, "@ann")
    [path] = folder(graph).iterdir()
    lock = path.with_name(f"{path.name}.lock")
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    for holder in ({"pid": int(gone.stdout), "startedAt": 9e15}, {"pid": os.getpid(), "startedAt": 0}, "odd"):
        lock.write_text(json.dumps(holder))
        send(store, "@ann")
        assert not lock.exists()


def test_a_lock_that_a_living_process_holds_is_waited_for(
    graph: Graph, store: NeoStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(store, "@ann")
    [path] = folder(graph).iterdir()
    lock = path.with_name(f"{path.name}.lock")
    lock.write_text(json.dumps({"pid": os.getpid(), "startedAt": 9e15}))
    monkeypatch.setattr(writer, "PATIENCE_SECONDS", 0.0)
    with pytest.raises(MailboxBusy):
        send(store, "@bob")
    monkeypatch.setattr(writer, "PATIENCE_SECONDS", 60.0)
    monkeypatch.setattr("mailstore.kinds.neo.writer.time.sleep", lambda _: lock.unlink())
    send(store, "@bob")
    assert len(records(graph)) == 2


def test_a_folder_where_the_lock_would_be_is_waited_for(
    graph: Graph, store: NeoStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(store, "@ann")
    [path] = folder(graph).iterdir()
    path.with_name(f"{path.name}.lock").mkdir()
    monkeypatch.setattr(writer, "PATIENCE_SECONDS", 0.0)
    with pytest.raises(MailboxBusy):
        send(store, "@bob")


def test_mail_of_the_person_s_own_is_marked_and_nobody_else_s(graph: Graph, store: NeoStore) -> None:
    graph.message("m2", "@ann", "@bob", sent=SENT)
    graph.message("m3", "@ann", "AGENT:*", sent=SENT)
    graph.message("m4", "@ann", "@olga", sent=SENT, readAt=SENT)
    assert store.mark_read("user", ["m1", "m2", "m3", "m4", "m1", "lost"]) == 1
    assert {one.message_id for one in of(Receipt, changed(store))} == {"m1", "m4"}
    assert store.mark_read("user", ["m1"]) == 0
    with pytest.raises(Unsupported, match="@bob"):
        store.mark_read("@bob", ["m2"])


def test_a_mark_changes_one_property_and_is_told_to_the_memory_core(graph: Graph, store: NeoStore) -> None:
    with graph.at_once() as connection:
        [(before,)] = connection.execute("SELECT data FROM Nodes WHERE id = 'MESSAGE:m1'").fetchall()
        [(last,)] = connection.execute("SELECT max(log_id) FROM GraphLog").fetchall()
    store.mark_read("user", ["m1"])
    with graph.at_once() as connection:
        [(after,)] = connection.execute("SELECT data FROM Nodes WHERE id = 'MESSAGE:m1'").fetchall()
        log = connection.execute("SELECT entity_id FROM GraphLog WHERE log_id > ?", (last,)).fetchall()
    was, now = json.loads(before), json.loads(after)
    assert now["properties"].pop("readAt")
    assert was["properties"].pop("readAt") is None
    assert was == now
    assert log == [("MESSAGE:m1",)]


def test_a_trigger_without_an_end_is_cut_off_and_nothing_is_marked(
    graph: Graph, store: NeoStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mailstore.files.database.LEAST_STEPS", 1_000_000)
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"
    with graph.at_once() as connection:
        connection.execute(f"CREATE TRIGGER endless AFTER UPDATE ON Nodes BEGIN {endless}; END")
    with pytest.raises(StoreError, match="nothing was written"):
        store.mark_read("user", ["m1"])
    with graph.at_once() as connection:
        [(data,)] = connection.execute("SELECT data FROM Nodes WHERE id = 'MESSAGE:m1'").fetchall()
        connection.execute("DROP TRIGGER endless")
    assert json.loads(data)["properties"]["readAt"] is None
    assert store.mark_read("user", ["m1"]) == 1


def test_a_graph_that_its_owner_writes_to_is_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "WAIT_SECONDS", 0.01)
    path = tmp_path / "memory-core-graph.sqlite"
    with owned(path, Graph) as owner:
        owner.run("it.human()")
        owner.run(f"it.message('m1', '@ann', '@olga', sent={SENT!r})")
        with NeoStore.open(path) as store:
            owner.run("it._connection.execute('BEGIN IMMEDIATE')")
            with pytest.raises(MailboxBusy):
                store.mark_read("user", ["m1"])
            owner.run("it._connection.execute('COMMIT')")
            assert store.mark_read("user", ["m1"]) == 1
