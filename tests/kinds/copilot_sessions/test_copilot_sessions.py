"""Copilot's sessions: as real ones left them, and each state from the lines that prove it."""

from __future__ import annotations

import re
import shutil
import time
from itertools import pairwise
from pathlib import Path

import pytest

from mailstore.conformance.following import of, scanned
from mailstore.kinds.copilot_sessions.store import CopilotStore
from mailstore.records.message import Message
from mailstore.records.roster import Agent, Status
from mailstore.registry import open_store
from tests.hostile.copied_samples import FIXTURES
from tests.kinds import sessions_harness
from tests.kinds.copilot_sessions.copilot_sessions_harness import event
from tests.mailboxes import iso

SESSION = "51e8974e-c875-4602-9dac-4fa56f820720"
PARENT, CHILD = "repo@0720", "looker@6f91"


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURES / "copilot-home", tmp_path / ".copilot"))


def events(home: Path, session: str = SESSION) -> Path:
    return home / "session-state" / session / "events.jsonl"


def seen(home: Path) -> list[tuple[str, str, str, str]]:
    return sessions_harness.seen(CopilotStore, home)


def test_what_real_sessions_and_their_agents_told_each_other(home: Path) -> None:
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in home.rglob("*") if path.is_file()}
    found = seen(home)
    assert found == [
        (PARENT, CHILD, "INNER-PROMPT look", "read"),
        (CHILD, PARENT, "inner says one", "read"),
        ("repo@9a31", "looker@0eed", "INNER-PROMPT look", "read"),
        ("looker@0eed", "repo@9a31", "inner says one", "read"),
        ("repo@9a31", "looker", "SECOND-TEXT please", "undelivered"),  # to a name that is no agent's id
        ("repo@b79e", "looker@13ee", "INNER-PROMPT look", "read"),
        ("looker@13ee", "repo@b79e", "inner says one", "read"),
        ("repo@b79e", "looker@13ee", "SECOND-TEXT please", "read"),
        ("looker@13ee", "repo@b79e", "last", "read"),
    ]
    assert found == seen(home)  # from what was kept
    after = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in home.rglob("*") if path.is_file()}
    assert after == before


def test_cut_anywhere_what_is_there_is_shown_and_what_comes_is_added(home: Path) -> None:
    data = events(home).read_bytes()
    for other in (home / "session-state").iterdir():
        if other.name != SESSION:
            shutil.rmtree(other)
    lines = data.splitlines(keepends=True)
    states = []
    for number in range(len(lines)):
        events(home).write_bytes(b"".join(lines[:number]) + lines[number][:50])
        states.append([it[3] for it in seen(home)])
    assert [states[0], states[-1]] == [[], ["read", "read"]]
    assert all(len(one) <= len(other) for one, other in pairwise(states))
    assert any(len(it) == 1 for it in states)  # told, and not answered yet
    assert any(len(it) == 2 and it[1] != "read" for it in states)  # answered, and not taken yet


def test_a_session_is_at_work_waits_for_a_permission_or_has_ended(home: Path) -> None:
    def state() -> tuple[Status, str]:
        with CopilotStore.open(home) as store:
            return next((it.status, it.activity) for it in of(Agent, scanned(store)) if it.session_id == PARENT)

    now = iso(time.time())
    assert state() == (Status.FROZEN, "offline")  # it was shut down
    with events(home).open("ab") as file:
        file.write(event("assistant.turn_start", now, {"turnId": "2"}))
    assert state() == (Status.LIVING, "working")
    with events(home).open("ab") as file:
        file.write(event("permission.requested", now, {"permissionRequest": {"kind": "shell"}}))
    assert state() == (Status.LIVING, "waiting: permission shell")
    with events(home).open("ab") as file:
        file.write(event("permission.completed", now, {}) + event("assistant.turn_end", now, {"turnId": "2"}))
    assert state() == (Status.LIVING, "idle")


def test_a_session_without_an_end_is_not_known_to_live_for_ever(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with events(home).open("ab") as file:
        file.write(event("assistant.turn_start", iso(time.time()), {"turnId": "2"}))
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 3600)
    with CopilotStore.open(home) as store:
        [agent] = [it for it in of(Agent, scanned(store)) if it.session_id == PARENT]
    assert agent.status is Status.FROZEN


def test_what_a_session_and_its_agent_have_used(home: Path) -> None:
    now = iso(time.time())  # of what is older than a day only the last answer is read
    events(home).write_bytes(re.sub(rb'(?<="timestamp":")[^"]+', now.encode(), events(home).read_bytes()))
    with events(home).open("ab") as file:
        usage = {
            "model": "gpt",
            "inputTokens": 900,
            "outputTokens": 50,
            "cacheReadTokens": 100,
            "cost": 0.25,
            "apiCallId": "c1",
        }
        used = event("session.usage_record", now, {"usage": usage})
        metrics = {"context_token_limit": 1000.0, "context_current_tokens": 930.0}
        full = event("tool.execution_complete", now, {"toolTelemetry": {"metrics": metrics}})
        file.write(used + used + used.replace(b"c1", b"c2") + full)
    with CopilotStore.open(home) as store:
        scanned(store)
        found = store.usage()
        facts = {it.name: (it.value, it.is_warning) for it in store.describe_agent(PARENT)}
    assert (found[PARENT].model, found[PARENT].share, found[PARENT].cost) == ("gpt", 0.93, None)
    assert found[PARENT].hours[-1] == 2_130
    assert found[CHILD].window == 128_000
    assert facts["resume"] == (f"copilot --resume={SESSION}", False)


def test_the_turns_around_a_message(home: Path) -> None:
    with CopilotStore.open(home) as store:
        answer = next(it for it in of(Message, scanned(store)) if it.sender == CHILD)
        place = store.transcripts(answer)[0]
        turns = store.turns(place)
    assert place.resume == ("copilot", f"--resume={SESSION}")
    said = [(it.speaker.value, it.text, it.is_sought) for it in turns if it.text]
    assert said == [
        ("user", "look at the notes", False),
        ("another session", "INNER-PROMPT look", False),
        ("another session", "inner says one", True),
        ("agent", "two", False),
    ]


def test_its_folder_is_recognised_where_it_is_named(home: Path) -> None:
    for place in (home, home / "session-state"):
        with open_store(place) as store:
            assert store.url == f"copilot-sessions:{home}"


def test_an_answer_is_in_the_thread_of_what_it_answers(home: Path) -> None:
    with CopilotStore.open(home) as store:
        messages = {it.id: it for it in of(Message, scanned(store))}
        answered = {
            (store.content(it), store.content(messages[it.thread])) for it in messages.values() if it.thread is not None
        }
    assert answered == {("inner says one", "INNER-PROMPT look"), ("last", "SECOND-TEXT please")}


def test_an_agent_that_is_written_to_before_its_beginning_is_read_gets_its_name_then(home: Path) -> None:
    lines = events(home).read_bytes().splitlines(keepends=True)
    begin = next(it for it in lines if b'"subagent.started"' in it)
    call = {"toolCallId": "w1"}
    given = {"agent_id": "e04a5b9e-f1f6-456d-9895-670d1dc66f91", "message": "early"}
    early = event("tool.execution_start", iso(1.0), {**call, "toolName": "write_agent", "arguments": given})
    end = {**call, "success": True, "toolTelemetry": {"properties": {"agent_id": given["agent_id"]}}}
    early += event("tool.execution_complete", iso(2.0), end)
    events(home).write_bytes(lines[0] + early)
    assert [it[1:3] for it in seen(home) if it[2] == "early"] == [("session@6f91", "early")]
    with events(home).open("ab") as file:
        file.write(begin)
    assert [it[1:3] for it in seen(home) if it[2] == "early"] == [("looker@6f91", "early")]
