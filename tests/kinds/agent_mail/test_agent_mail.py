"""What is read of MCP Agent Mail's database, and what is told while its server writes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from mailstore.conformance.following import following, ids, of, scanned
from mailstore.errors import ContentGone, MailboxMissing, Unsupported
from mailstore.kinds.agent_mail.store import AgentMailStore
from mailstore.records.events import Event, Gone, Reset
from mailstore.records.message import Delivery, Message, Receipt
from mailstore.records.roster import Agent, Status
from mailstore.registry import open_store
from mailstore.state.mailbox import Mailbox
from mailstore.store import Capability
from tests.kinds.agent_mail.servers import Server
from tests.mailstore.owners import owned, snapshot

REAL = Path(__file__).parents[2] / "fixtures" / "agent-mail"
READ, LATER = "2026-03-16 12:00:01.500000", "2026-03-16 12:00:05.000000"
TIMES = 300
NOW = 1_800_000_000.0


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path / "storage.sqlite3")
    server.make()
    yield server
    server.close()


def changed(store: AgentMailStore) -> list[Event]:
    """Return what a look finds now."""
    store._look(True)
    return [event for _ in iter(lambda: store._take(store._changed), False) for event in store._hand_out()]


def read(server: Server) -> list[Event]:
    with AgentMailStore.open(server.path) as store:
        return scanned(store)


def messages(server: Server) -> dict[str, Message]:
    return {message.id: message for message in of(Message, read(server))}


def agents(server: Server) -> dict[str, Agent]:
    return {agent.session_id: agent for agent in of(Agent, read(server))}


def test_the_database_of_the_real_server_is_read_as_it_wrote_it() -> None:
    before = snapshot(REAL)
    with open_store(REAL) as store:
        assert store.url == f"agent-mail:{REAL / 'storage.sqlite3'}"
        events = scanned(store)
        found = {message.id: message for message in of(Message, events)}
        assert [store.content(found[name]) for name in "123"] == ["Please **review**.", "On it.", "hello all"]
        raw = json.loads(store.raw(found["1"]))
    assert raw["recipients"][0]["name"] == "BlueDog"
    assert raw["thread_id"] == "TKT-1"
    assert (found["1"].sender, found["1"].recipients) == ("GreenLake", ("BlueDog", "RedStone"))
    assert found["1"].tags == ("importance:high", "ack-required", "unacknowledged:RedStone")
    assert found["2"].tags == ("importance:high", "ack-required", "unacknowledged:GreenLake")
    assert [found[name].thread for name in "123"] == [None, "1", None]
    assert found["1"].time == 1_795_210_900.422824
    assert {(one.message_id, one.reader) for one in of(Receipt, events)} == {("1", "BlueDog"), ("1", "RedStone")}
    assert {agent.session_id for agent in of(Agent, events)} == {"GreenLake", "BlueDog", "RedStone"}
    assert snapshot(REAL) == before


def test_what_became_of_a_message_is_told_for_each_recipient() -> None:
    mailbox = Mailbox()
    with open_store(REAL) as store:
        mailbox.fold(scanned(store), NOW)
    message = mailbox.message("3")
    assert message is not None
    assert {name: found.state.value for name, found in mailbox.states(message, NOW).items()} == {
        "GreenLake": "unread",
        "BlueDog": "unread",
    }


def test_a_label_makes_a_thread_that_begins_with_its_first_message(server: Server) -> None:
    server.message("Ann", ["Bob"], thread_id="INK-1")
    server.message("Bob", ["Ann"], thread_id="INK-1")
    server.message("Ann", ["Bob"])
    server.message("Bob", ["Ann"], thread_id="3")
    server.message("Ann", ["Bob"], thread_id="3")
    server.message("Ann", ["Bob"], thread_id="INK-1", project="other")
    server.message("Ann", ["Bob"], thread_id="3", project="other")
    server.message("Ann", ["Bob"], thread_id="9" * 30)
    server.message("Ann", ["Bob"], thread_id="")
    threads = {name: message.thread for name, message in messages(server).items()}
    assert threads == {
        "1": None,
        "2": "1",
        "3": None,
        "4": "3",
        "5": "3",
        "6": None,
        "7": None,
        "8": None,
        "9": None,
    }


def test_copies_are_recipients_behind_the_others(server: Server) -> None:
    server.message("Ann", ["Bob"], cc=["Cyd", "HumanOverseer"])
    [message] = messages(server).values()
    assert message.recipients == ("Bob", "Cyd", "user")


def test_the_overseer_is_the_user_and_no_agent(server: Server) -> None:
    server.message("HumanOverseer", ["Ann"])
    server.message("Ann", ["HumanOverseer"])
    found = messages(server)
    assert (found["1"].sender, found["2"].recipients) == ("user", ("user",))
    assert agents(server).keys() == {"Ann"}


def test_where_there_are_several_projects_an_agent_goes_by_both_names(server: Server) -> None:
    server.message("Ann", ["Bob"])
    with AgentMailStore.open(server.path) as store:
        assert of(Message, scanned(store))[0].sender == "Ann"
        server.message("Ann", ["Cyd"], project="frontend")
        events = changed(store)
    assert len(of(Reset, events)) == 1
    assert {message.sender for message in of(Message, events)} == {"Ann@backend", "Ann@frontend"}
    assert {agent.session_id: agent.name for agent in of(Agent, events)}["Ann@frontend"] == "Ann"


def test_who_is_retired_is_dead(server: Server) -> None:
    server.agent("Ann", retired_at=LATER)
    assert (agents(server)["Ann"].status, agents(server)["Ann"].ended_at) == (Status.DEAD, 1_773_662_405.0)


def test_what_is_reserved_stands_in_the_agent_s_line(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mailstore.kinds.agent_mail.roster.time.time", lambda: 1_773_669_600.0)
    server.agent("Ann", task_description="the press")
    server.reserve("Ann", "src/**", "2026-03-16 14:30:00.000000")
    server.reserve("Ann", "old/**", "2026-03-16 09:00:00.000000")
    server.reserve("Ann", "done/**", "2026-03-16 15:00:00.000000", released=LATER)
    server.reserve("Bob", "lib/*.py", "2026-03-15 09:00:00.000000")
    for number in range(4):
        server.reserve("Cyd", f"{number}.md", "2026-03-17 09:00:00.000000")
    found = {name: agent.activity for name, agent in agents(server).items()}
    assert found == {
        "Ann": "editing src/** until 14:30; the press",
        "Bob": "reserved lib/*.py, expired 2026-03-15 09:00; codex gpt",
        "Cyd": "editing 0.md, 1.md and 2 more until 2026-03-17 09:00; codex gpt",
    }


def test_nothing_is_written_and_the_reason_is_said(server: Server) -> None:
    with AgentMailStore.open(server.path) as store:
        assert "only its server writes there" in store.capabilities.why_not(Capability.SEND)
        with pytest.raises(Unsupported):
            store.mark_read("user", ["1"])


def test_a_server_that_is_older_has_fewer_columns(server: Server) -> None:
    server.message("Ann", ["Bob"])
    server.do("ALTER TABLE messages DROP COLUMN topic")
    server.do("ALTER TABLE agents DROP COLUMN retired_at")
    server.do("DROP TABLE file_reservations")
    assert messages(server).keys() == {"1"}
    assert agents(server).keys() == {"Ann", "Bob"}


@pytest.mark.parametrize(
    "value",
    [None, 7, -1.5, b"\xff\xfe", "x" * 2_000_000, "\x00\x1b[31m", "½"],
    ids=["none", "integer", "float", "bytes", "long", "controls", "wide"],
)
def test_anything_may_stand_in_a_column(server: Server, value: object) -> None:
    server.message("Ann", ["Bob"])
    server.message("Ann", ["Bob"], subject="kept")
    # what a table's own rules would refuse, a damaged one may hold
    server.do("PRAGMA writable_schema = ON")
    server.do("UPDATE sqlite_schema SET sql = replace(sql, ' NOT NULL', '') WHERE name IN ('messages', 'agents')")
    server.close()
    for column in ("thread_id", "topic", "subject", "body_md", "importance", "ack_required", "created_ts", "sender_id"):
        server.do(f"UPDATE messages SET {column} = ? WHERE id = 1", (value,))
    for column in ("name", "program", "task_description", "inception_ts", "last_active_ts", "retired_at"):
        server.do(f"UPDATE agents SET {column} = ? WHERE name = 'Bob'", (value,))
    server.do("UPDATE message_recipients SET kind = ?, read_ts = ?, ack_ts = ?", ("odd", value, value))
    with AgentMailStore.open(server.path) as store:
        found = {message.id: message for message in of(Message, scanned(store))}
        assert found["2"].subject == "kept"
        for message in found.values():
            assert isinstance(store.content(message), str)
            assert isinstance(json.loads(store.raw(message)), dict)


def test_without_a_time_a_message_has_that_of_the_one_before_it(server: Server) -> None:
    server.message("Ann", ["Bob"], created_ts=LATER)
    server.message("Ann", ["Bob"], created_ts="soon")
    found = messages(server)
    assert (found["2"].time, found["2"].timed) == (found["1"].time, False)


# Following


def test_only_what_is_new_is_told(server: Server) -> None:
    server.message("Ann", ["Bob", "Cyd"], ack_required=1)
    with AgentMailStore.open(server.path) as store:
        scanned(store)
        server.mark(1, "Bob", read=READ)
        assert changed(store) == [Receipt("1", "Bob", 1_773_662_401.5)]
        server.mark(1, "Bob", acknowledged=LATER)
        assert [message.tags for message in of(Message, changed(store))] == [("ack-required", "unacknowledged:Cyd")]
        server.mark(1, "Cyd", acknowledged=LATER)
        events = changed(store)
        assert [message.tags for message in of(Message, events)] == [("ack-required",)]
        assert of(Receipt, events) == [Receipt("1", "Cyd", 1_773_662_405.0)]
        server.message("Dan", ["Ann"], thread_id="1")
        events = changed(store)
        assert [agent.session_id for agent in of(Agent, events)] == ["Dan"]
        assert [(message.id, message.thread) for message in of(Message, events)] == [("2", "1")]
        server.message("Dan", ["Ann"], thread_id="INK")
        server.message("Dan", ["Ann"], thread_id="INK")
        assert [(message.id, message.thread) for message in of(Message, changed(store))] == [("3", None), ("4", "3")]
        server.agent("Dan", last_active_ts=LATER)
        assert [agent.last_seen for agent in of(Agent, changed(store))] == [1_773_662_405.0]
        assert changed(store) == []


def test_a_mark_from_before_the_last_one_is_found_too(server: Server) -> None:
    for _ in range(3):
        server.message("Ann", ["Bob"])
    server.mark(3, "Bob", read=LATER)
    with AgentMailStore.open(server.path) as store:
        scanned(store)
        server.mark(1, "Bob", read=READ)
        assert changed(store) == [Receipt("1", "Bob", 1_773_662_401.5)]


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM messages WHERE id = 2",
        "UPDATE message_recipients SET read_ts = NULL WHERE message_id = 1",
        "UPDATE agents SET name = 'Eve' WHERE name = 'Ann'",
    ],
)
def test_what_is_no_longer_so_is_told_by_reading_all_anew(server: Server, statement: str) -> None:
    for _ in range(3):
        server.message("Ann", ["Bob"])
    server.mark(1, "Bob", read=READ)
    with AgentMailStore.open(server.path) as store:
        scanned(store)
        server.do(statement)
        events = changed(store)
    assert len(of(Reset, events)) == 1
    assert list(map(repr, events[1:])) == list(map(repr, read(server)))


def test_looking_leaves_no_trace_while_its_server_is_at_work(tmp_path: Path) -> None:
    path = tmp_path / "storage.sqlite3"
    with owned(path, Server) as owner:
        owner.run("it.message('Ann', ['Bob'], body_md='Hello.')")
        before = snapshot(tmp_path)
        assert len(before) == 3
        assert AgentMailStore.recognise(tmp_path)
        with AgentMailStore.open(path) as store:
            [message] = of(Message, scanned(store))
            assert store.content(message) == "Hello."
            assert changed(store) == []
        assert snapshot(tmp_path) == before


def test_nothing_is_missing_or_doubled_while_its_server_writes(tmp_path: Path) -> None:
    path = tmp_path / "storage.sqlite3"
    wanted = [str(number) for number in range(1, TIMES + 1)]

    async def story(store: AgentMailStore) -> list[Event]:
        async with following(store) as came:
            await came.until_message(*(name for name in wanted if name not in ids(first)))
            return await came.until(lambda events: len(of(Receipt, events)) + read_before >= TIMES)

    with owned(path, Server) as owner:
        owner.begin(
            f"for n in range({TIMES}): it.mark(it.message('Ann', ['Bob', 'Cyd']), 'Bob', read='2026-03-16 12:00')"
        )
        with AgentMailStore.open(path) as store:
            first = scanned(store)
            read_before = len(of(Receipt, first))
            events = [*first, *asyncio.run(story(store))]
            owner.end()
            events += changed(store)
    assert not of(Reset, events)
    assert ids(events) == {str(number): 1 for number in range(1, TIMES + 1)}
    assert len(of(Receipt, events)) == len(set(of(Receipt, events))) == TIMES
    assert not of(Delivery, events)


def test_a_database_that_its_server_holds_locked_is_told_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mailstore.files.database.WAIT_SECONDS", 0.01)
    path = tmp_path / "storage.sqlite3"
    with owned(path, Server) as owner:
        owner.run("it.message('Ann', ['Bob'])")
        owner.run("it._connection.execute('PRAGMA journal_mode = delete')")
        with AgentMailStore.open(path) as store:
            scanned(store)
            owner.run("it._connection.execute('BEGIN EXCLUSIVE')")
            owner.run("it.message('Ann', ['Bob'])")
            assert "locked" in of(Gone, changed(store))[0].reason
            assert AgentMailStore.recognise(path), "it still is what it was"
            owner.run("it._connection.execute('COMMIT')")
            assert ids(changed(store)) == {"1": 1, "2": 1}


def test_a_message_that_is_gone_has_no_body_any_more(server: Server) -> None:
    server.message("Ann", ["Bob"])
    with AgentMailStore.open(server.path) as store:
        [message] = of(Message, scanned(store))
        server.do("DELETE FROM messages")
        with pytest.raises(ContentGone, match="no longer in storage"):
            store.raw(message)


def test_where_there_is_no_database_of_it_there_is_no_mailbox(tmp_path: Path) -> None:
    (tmp_path / "storage.sqlite3").write_bytes(b"no database")
    (tmp_path / "projects" / "-srv-backend").mkdir(parents=True)
    (tmp_path / "projects" / "-srv-backend" / "session.jsonl").touch()
    assert not AgentMailStore.recognise(tmp_path)
    with pytest.raises(MailboxMissing):
        AgentMailStore.open(tmp_path)
