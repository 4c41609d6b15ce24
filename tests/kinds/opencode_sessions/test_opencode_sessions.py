"""OpenCode's sessions: as real ones left them, and each state from the rows that prove it."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from mailstore.conformance import following
from mailstore.conformance.following import of, scanned
from mailstore.kinds.opencode_sessions.store import OpenCodeStore
from mailstore.records.message import Message, Problem
from mailstore.records.roster import Agent, Status
from mailstore.registry import open_store
from tests.hostile.copied_samples import FIXTURES
from tests.kinds import sessions_harness
from tests.kinds.opencode_sessions.opencode_sessions_harness import task

SESSION, CHILD_SESSION = "ses_dddbb89a2ffei2YXjYU1ZVM9mS", "ses_dddbb7c8effepBnZLcygmKDiKc"
PARENT, CHILD = "repo@M9mS", "general@DiKc"
PART = "INSERT INTO part VALUES (?, 'x', ?, ?, ?, ?)"
MESSAGE = "INSERT INTO message VALUES (?, ?, ?, ?, ?)"


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURES / "opencode-home", tmp_path / "opencode"))


def change(home: Path, *statements: tuple[object, ...]) -> None:
    """Change the database as the program does, which notes when a session changed."""
    write(home, *statements, ("UPDATE session SET time_updated = ?", int(time.time() * 1000)))


def write(home: Path, *statements: tuple[object, ...]) -> None:
    """Change the database at once."""
    with closing(sqlite3.connect(home / "opencode.db")) as database, database:
        for statement, *values in statements:
            database.execute(str(statement), values)


def called(number: str, **state: object) -> tuple[object, ...]:
    now = int(time.time() * 1000)
    return PART, number, SESSION, now, now, json.dumps(task(**state, time={"start": now}), separators=(",", ":"))


def seen(home: Path) -> list[tuple[str, str, str, str]]:
    return sessions_harness.seen(OpenCodeStore, home)


def test_what_a_real_session_told_its_child(home: Path) -> None:
    before = (home / "opencode.db").read_bytes()
    found = seen(home)
    assert found == [(PARENT, CHILD, "INNER-PROMPT look", "read"), (CHILD, PARENT, "inner says one", "read")]
    assert found == seen(home)  # from what was kept
    assert (home / "opencode.db").read_bytes() == before
    assert [it.name for it in home.iterdir()] == ["opencode.db"]


def test_two_tasks_of_one_millisecond_are_both_seen(home: Path) -> None:
    now = int(time.time() * 1000)
    with OpenCodeStore.open(home) as store:
        scanned(store)
        for number in ("one", "two"):
            state = {"status": "running", "input": {"prompt": number}, "metadata": {"sessionId": CHILD_SESSION}}
            data = json.dumps(task(**state, time={"start": now}), separators=(",", ":"))
            touched = ("UPDATE session SET time_updated = ?", now)
            write(home, (PART, number, SESSION, now, now, data), touched)
            events = [event for batch in store.news() for event in batch]
            assert [message.subject for message in of(Message, events)] == [number]


def test_a_task_that_runs_is_answered_and_one_that_failed_is_not(home: Path) -> None:
    given = {"prompt": "again", "subagent_type": "general"}
    known = {"sessionId": CHILD_SESSION}

    async def story() -> None:
        with OpenCodeStore.open(home, poll=True) as store:
            scanned(store)
            async with following(store) as follow:
                change(home, called("p1", status="running", input=given, metadata=known))
                events = await follow.until(lambda found: any(it.subject == "again" for it in of(Message, found)))
                [told] = [it for it in of(Message, events) if it.subject == "again"]
                assert (told.sender, told.recipients) == (PARENT, (CHILD,))
                failed = called("p2", status="error", input={"prompt": "no"}, error="Unknown agent type: x")
                change(home, failed)
                await follow.until(lambda found: any(it.subject == "no" for it in of(Message, found)))

    asyncio.run(story())
    found = {text: (to, state) for _, to, text, state in seen(home)}
    assert found["again"] == (CHILD, "frozen")  # no line of the child yet
    assert found["no"] == ("subagent", "undelivered")


def test_a_session_whose_answer_has_not_ended_is_at_work(home: Path) -> None:
    now = int(time.time() * 1000)
    change(home, (MESSAGE, "msg_zzz", SESSION, now, now, json.dumps({"role": "assistant", "time": {"created": now}})))
    with OpenCodeStore.open(home) as store:
        agents = {it.session_id: (it.status, it.activity) for it in of(Agent, scanned(store))}
    assert agents[PARENT] == (Status.LIVING, "working")
    assert agents[CHILD] == (Status.FROZEN, "offline")


def test_what_a_session_has_used_and_what_it_cost(home: Path) -> None:
    now = int(time.time() * 1000)
    tokens = {"input": 1_000, "output": 40, "reasoning": 2, "cache": {"read": 500, "write": 8}}
    answer = {"role": "assistant", "modelID": "m1", "tokens": tokens, "time": {"created": now, "completed": now}}
    change(
        home,
        (MESSAGE, "msg_zzz", SESSION, now, now, json.dumps(answer)),
        ("UPDATE session SET cost = 1.5 WHERE id = ?", SESSION),
    )
    with OpenCodeStore.open(home) as store:
        scanned(store)
        used = store.usage()[PARENT]
        facts = {it.name: it.value for it in store.describe_agent(PARENT)}
    assert (used.model, used.context, used.window) == ("m1", 1_550, None)
    assert used.hours[-1] >= 1_550
    assert (used.cost, used.total) == (1.5, 30)
    assert facts["resume"] == f"opencode --session {SESSION}"


def test_the_turns_around_a_message(home: Path) -> None:
    with OpenCodeStore.open(home) as store:
        told = next(it for it in of(Message, scanned(store)) if it.sender == PARENT)
        sender, reader = store.transcripts(told)
        asked, given = store.turns(sender), store.turns(reader)
    assert [(it.speaker.value, it.tools) for it in asked if it.is_sought] == [("agent", ("task look at notes",))]
    assert [(it.speaker.value, it.text) for it in given if it.is_sought] == [("another session", "INNER-PROMPT look")]
    assert [it.text for it in given][-1] == "inner says one"


def test_another_table_and_damage_are_reported_and_the_rest_is_read(home: Path) -> None:
    change(home, (PART, "p9", SESSION, 1, int(time.time() * 1000), '{"type":"tool","tool":"task", broken'))
    with OpenCodeStore.open(home) as store:
        events = scanned(store)
    assert len(of(Message, events)) == 2
    assert [it.reason for it in of(Problem, events)] == ["a task in part p9 is damaged"]
    change(home, ("ALTER TABLE session ADD COLUMN other text",), ("DROP TABLE message",))
    with OpenCodeStore.open(home) as store:
        events = scanned(store)
    assert len(of(Message, events)) == 2  # from what was kept
    assert any("no such table" in it.reason and it.fatal for it in of(Problem, events))


def test_what_is_no_time_ends_nothing(home: Path) -> None:
    for table in ("message", "part", "session"):
        change(home, (f"UPDATE {table} SET time_created = 'soon'",))
    with OpenCodeStore.open(home) as store:
        told = [it for it in of(Message, scanned(store)) if it.sender == PARENT]
        store.usage()
        assert [it.text for it in store.turns(store.transcripts(told[0])[0])]
    assert [text for _, _, text, _ in seen(home)] == ["INNER-PROMPT look", "inner says one"]


def test_its_folder_is_recognised_where_it_is_named(home: Path) -> None:
    for place in (home, home / "opencode.db"):
        with open_store(place) as store:
            assert store.url == f"opencode-sessions:{home}"


def test_what_sessions_have_used_is_found_by_their_ids_without_reading_the_mailbox(home: Path) -> None:
    change(home)
    with OpenCodeStore.open(home) as store:
        found = store.session_usage([SESSION, "another"])
        assert {session: used.total for session, used in found.items()} == {SESSION: 30}
        change(home, ("UPDATE session SET tokens_input = 1000 WHERE id = ?", SESSION))
        assert store.session_usage([SESSION])[SESSION].total == 1_010
        assert store.session_usage(["another"]) == {}


def test_an_answer_is_in_the_thread_of_the_task(home: Path) -> None:
    with OpenCodeStore.open(home) as store:
        told, answer = sorted(of(Message, scanned(store)), key=lambda it: it.time)
    assert (told.thread, answer.thread) == (None, told.id)
