"""Codex's queue, threads and subagents: as real sessions left them, and each state from the lines that prove it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from mailstore.conformance import following
from mailstore.conformance.following import ids, of, scanned
from mailstore.kinds.codex_threads import source
from mailstore.kinds.codex_threads.store import CodexStore
from mailstore.records.events import Undelivered
from mailstore.records.message import Message, Problem, Receipt
from mailstore.records.roster import Agent, Status
from mailstore.registry import open_store
from mailstore.state.mailbox import Mailbox
from tests.hostile.copied_samples import FIXTURES
from tests.kinds.codex_threads.codex_threads_harness import line
from tests.mailboxes import NOW, iso
from tests.refused import refused

PARENT, CHILD = "repo@21b9", "Ohm@5d84"
THREAD = "01a221f8-d9b6-7be3-9392-f42cbce021b9"


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURES / "codex-home", tmp_path / ".codex"))


def seen(home: Path) -> list[tuple[str, str, str, str]]:
    """Return of each message its sender, recipient, text and state."""
    with CodexStore.open(home) as store:
        mailbox = Mailbox()
        for batch in store.scan():
            mailbox.fold(batch, NOW)
        return [
            (message.sender, name, store.content(message), state.value)
            for message in sorted(mailbox.newest(), key=lambda it: it.time)
            for name, state in mailbox.bare_states(message, NOW).items()
        ]


def rollout(home: Path, thread: str = THREAD) -> Path:
    return next(home.rglob(f"rollout-*{thread}.jsonl"))


def queue(home: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(home / "queue_1.sqlite")) as database, database:
        database.execute(statement, values)


def test_what_real_threads_were_queued_and_told_each_other(home: Path) -> None:
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in home.rglob("*") if path.is_file()}
    found = seen(home)
    assert sorted(found) == sorted(
        [
            ("codex-queue", PARENT, "KEY-idle MARK-idle", "read"),
            ("codex-queue", PARENT, "KEY-busy MARK-busy", "read"),
            (PARENT, CHILD, "SUBTASK MARK-child please", "read"),
            (CHILD, PARENT, "tail 1", "read"),
            ("codex-queue", PARENT, "MARK-ended", "frozen"),
        ]
    )
    assert found == seen(home)  # from what was kept
    after = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in home.rglob("*") if path.is_file()}
    assert after == before


def test_what_a_user_typed_is_no_message(home: Path) -> None:
    assert not [text for _, _, text, _ in seen(home) if text in ("hi", "KEY-work", "KEY-spawn")]


def test_threads_are_agents_and_the_one_with_a_running_turn_works(home: Path) -> None:
    with closing(sqlite3.connect(home / "thread_history_1.sqlite")) as database, database:
        database.execute("UPDATE thread_turns SET status = 'inProgress' WHERE thread_id = ?", (THREAD,))
    with CodexStore.open(home) as store:
        agents = {it.session_id: (it.status, it.activity) for it in of(Agent, scanned(store))}
    assert agents[PARENT] == (Status.LIVING, "working")
    assert agents[CHILD] == (Status.FROZEN, "offline")


def test_what_a_thread_has_used(home: Path) -> None:
    os.utime(rollout(home))
    with CodexStore.open(home) as store:
        scanned(store)
        found = {it.name: it.value for it in store.describe_agent(PARENT)}
        assert store.describe_agent("nobody") == []
        used = store.usage()[PARENT]
    assert (used.context, used.window, used.total) == (15, 258_400, 105)
    assert found["folder"] == "/srv/me/repo"
    assert found["resume"] == f"codex resume {THREAD}"


def test_a_message_that_is_queued_and_taken_while_the_console_is_open(home: Path) -> None:
    payload = {"UserInput": {"content": [{"type": "text", "text": "hello"}], "client_id": "c1"}}

    async def story() -> None:
        with CodexStore.open(home, poll=True) as store:
            scanned(store)
            async with following(store) as follow:
                row = "INSERT INTO queued_items VALUES ('q1', ?, ?, 0, ?, 0)"
                queue(home, row, THREAD, json.dumps(payload), int(NOW * 1000))
                events = await follow.until(lambda found: "c1" in ids(found))
                [message] = [it for it in of(Message, events) if it.id == "c1"]
                assert (message.recipients, store.content(message)) == ((PARENT,), "hello")
                with rollout(home).open("ab") as file:
                    attribution = {"turn_id": "t9", "turn_trigger": "queue"}
                    started = {"type": "task_started", "turn_attribution": attribution}
                    item = {"type": "UserMessage", "client_id": "c1", "content": [{"type": "text", "text": "hello"}]}
                    taken = {"type": "item_completed", "turn_id": "t9", "item": item}
                    file.write(line("event_msg", iso(NOW), started) + line("event_msg", iso(NOW + 1), taken))
                queue(home, "DELETE FROM queued_items WHERE id = 'q1'")
                await follow.until(lambda found: any(it.message_id == "c1" for it in of(Receipt, found)))

    asyncio.run(story())


def test_a_message_that_was_removed_from_the_queue_is_still_shown(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen(home)
    queue(home, "DELETE FROM queued_items")
    assert ("codex-queue", PARENT, "MARK-ended", "undelivered") in seen(home)
    monkeypatch.setattr(source, "PATIENCE", 1e12)
    assert ("codex-queue", PARENT, "MARK-ended", "frozen") in seen(home)


def test_a_queue_that_may_not_be_read_proves_nothing_and_is_read_once_it_may(home: Path) -> None:
    with CodexStore.open(home) as store, refused(home / "queue_1.sqlite"):
        events = scanned(store)
        assert not [*store._reader.changes(True)]
    assert ("queue_1.sqlite", True) in [(it.file, it.fatal) for it in of(Problem, events)]
    assert not of(Undelivered, events)
    seen(home)  # now it is known what was queued
    with CodexStore.open(home) as store, refused(home / "queue_1.sqlite"):
        assert not of(Undelivered, scanned(store))
    queue(home, "DELETE FROM queued_items")
    with CodexStore.open(home) as store:
        assert len(of(Undelivered, scanned(store))) == 1


def test_other_databases_and_damage_are_reported_and_the_rest_is_read(home: Path) -> None:
    (home / "queue_2.sqlite").write_bytes(b"not a database")
    (home / "thread_history_2.sqlite").write_bytes(b"")
    with rollout(home).open("ab") as file:
        file.write(b'{"type":"event_msg","payload":{ "UserMessage" broken\n')
    with CodexStore.open(home) as store:
        events = scanned(store)
    assert len(of(Message, events)) == 4
    assert sorted(it.file.rpartition("/")[2][:13] for it in of(Problem, events)) == [
        "queue_2.sqlit",
        "rollout-2026-",
        "thread_histor",
    ]


def test_a_queue_with_another_table_is_no_end_of_the_console(home: Path) -> None:
    queue(home, "ALTER TABLE queued_items RENAME TO items")
    with CodexStore.open(home) as store:
        events = scanned(store)
    assert [it.file for it in of(Problem, events)] == ["queue_1.sqlite"]


def test_a_text_that_looks_like_a_notification_is_none(home: Path) -> None:
    said = {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "see <subagent_notification>"}],
    }
    broken = {**said, "content": [{"type": "input_text", "text": "<subagent_notification>\n{}\n"}]}
    with rollout(home).open("ab") as file:
        file.write(line("response_item", iso(NOW), said) + line("response_item", iso(NOW), broken))
    assert len(seen(home)) == 5


def test_its_folder_is_recognised(home: Path) -> None:
    for place in (home, home / "sessions"):
        with open_store(place) as store:
            assert store.url == f"codex-threads:{home}"


def test_the_turns_around_a_message_of_its_reader_and_its_sender(home: Path) -> None:
    with CodexStore.open(home) as store:
        messages = {store.content(it): it for it in of(Message, scanned(store))}
        [reader] = store.transcripts(messages["KEY-busy MARK-busy"])
        sender, subagent = store.transcripts(messages["SUBTASK MARK-child please"])
        assert not store.transcripts(messages["MARK-ended"])  # in the queue only
        turns = store.turns(reader)
        [sought] = [it for it in store.turns(sender) if it.is_sought]
        [first] = [it for it in store.turns(subagent) if it.is_sought]
    assert (reader.agent, reader.did, reader.resume) == (PARENT, "read", ("codex", "resume", THREAD))
    assert (subagent.agent, subagent.resume) == (CHILD, ())
    said = [(it.speaker, it.text, it.is_sought) for it in turns if it.text]
    assert ("user", "hi", False) in said  # typed
    assert ("program", "KEY-busy MARK-busy", True) in said  # from the queue
    assert ("agent", "ok busy", False) in said
    assert sought.tools == ("spawn_agent SUBTASK MARK-child please",)
    assert (first.speaker, first.text) == ("another session", "SUBTASK MARK-child please")


def test_what_threads_have_used_by_the_hour(home: Path) -> None:
    now = time.time()
    counts = [(3 * 3600.0, 1_000, 1_000), (60.0, 2_000, 3_000), (30.0, 2_000, 3_000), (5.0, 500, 3_500)]
    [lines, *_] = rollout(home).read_bytes().splitlines(keepends=True)
    for ago, last, total in counts:
        used = {"input_tokens": last - 100, "output_tokens": 100, "total_tokens": last}
        info = {"last_token_usage": used, "total_token_usage": {"total_tokens": total}, "model_context_window": 4_000}
        lines += line("event_msg", iso(now - ago), {"type": "token_count", "info": info})
    with rollout(home).open("wb") as file:
        file.write(lines)
    with CodexStore.open(home) as store:
        scanned(store)
        used = store.usage()[PARENT]
        assert (used.given, used.written, used.total) == (3_200, 300, 3_500)  # the repeated count is one
        assert [(at, it) for at, it in enumerate(used.hours) if it] == [(20, 1_000), (23, 2_500)]
        assert (used.context, used.share) == (500, 0.125)
        last = {"input_tokens": 3_500, "output_tokens": 100, "total_tokens": 3_600}
        info = {"last_token_usage": last, "total_token_usage": {"total_tokens": 7_100}, "model_context_window": 4_000}
        with rollout(home).open("ab") as file:
            file.write(line("event_msg", iso(now), {"type": "token_count", "info": info}) + b'{"type":"token_count",')
        used = store.usage()[PARENT]
    assert (used.given, used.share) == (6_700, 0.9)


def test_an_answer_is_in_the_thread_of_what_the_subagent_was_told_last(home: Path) -> None:
    with CodexStore.open(home) as store:
        messages = {store.content(it): it for it in of(Message, scanned(store))}
    assert messages["tail 1"].thread == messages["SUBTASK MARK-child please"].id
