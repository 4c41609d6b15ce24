"""The sessions of Gemini CLI and Qwen Code: as real ones left them."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from mailstore.conformance.following import of, scanned
from mailstore.kinds.gemini_sessions.store import GeminiStore
from mailstore.records.message import Message
from mailstore.records.roster import Agent
from mailstore.registry import open_store
from tests.hostile.copied_samples import FIXTURES
from tests.kinds import sessions_harness
from tests.kinds.gemini_sessions.gemini_sessions_harness import entry
from tests.mailboxes import iso

PARENT, CHILD, QWEN = "repo@0495", "repo@43c6", "repo@22e6"


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def gemini(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURES / "gemini-home", tmp_path / ".gemini"))


@pytest.fixture
def qwen(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURES / "qwen-home", tmp_path / ".qwen"))


def seen(home: Path) -> list[tuple[str, str, str, str]]:
    """Return of each message its sender, recipient, first line and state, in the order in which they were sent."""
    found = sessions_harness.seen(GeminiStore, home)
    return [(sender, to, text.partition("\n")[0], state) for sender, to, text, state in found]


def chat(home: Path, name: str) -> Path:
    return next(home.rglob(f"*{name}*.jsonl"))


def test_what_a_real_session_told_its_subagent(gemini: Path) -> None:
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in gemini.rglob("*") if path.is_file()}
    assert seen(gemini) == [
        (PARENT, CHILD, "INNER-PROMPT look", "read"),
        (CHILD, PARENT, "Subagent 'generalist' finished.", "read"),
    ]
    after = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in gemini.rglob("*") if path.is_file()}
    assert after == before


def test_a_subagent_at_work_was_told_and_has_not_answered(gemini: Path) -> None:
    main = chat(gemini, "session-")
    lines = main.read_bytes().splitlines(keepends=True)
    main.write_bytes(b"".join(it for it in lines if b'"agentId"' not in it))
    assert seen(gemini) == [(PARENT, CHILD, "INNER-PROMPT look", "read")]


def test_sessions_are_agents_with_their_project_and_who_started_them(gemini: Path) -> None:
    with GeminiStore.open(gemini) as store:
        assert {it.session_id for it in of(Agent, scanned(store))} == {PARENT, CHILD}
        facts = {it.name: it.value for it in store.describe_agent(CHILD)}
        main = {it.name: it.value for it in store.describe_agent(PARENT)}
    assert (facts["folder"], facts["started by"]) == ("/srv/me/repo", PARENT)
    assert main["folder"] == "/srv/me/repo"  # from the file beside the chats


def test_what_gemini_has_used_with_a_repeated_line_counted_once(gemini: Path) -> None:
    now = iso(time.time())
    tokens = {"input": 700, "output": 20, "cached": 600, "thoughts": 30, "tool": 0, "total": 750}
    line = entry(id="a", timestamp=now, type="gemini", content="", tokens=tokens, model="gemini-pro")
    chat(gemini, "session-").write_bytes(entry(sessionId="e40f0495", startTime=now) + line + line)
    with GeminiStore.open(gemini) as store:
        scanned(store)
        used = store.usage()[PARENT]
    assert (used.model, used.given, used.written, used.context, used.cost) == ("gemini-pro", 700, 50, 750, None)


def test_what_qwen_has_used_with_its_subagents(qwen: Path) -> None:
    path = chat(qwen, "da3902e9")
    now = iso(time.time())
    event = {"response_id": "c9", "input_token_count": 100, "output_token_count": 7, "subagent_name": "explore"}
    with path.open("ab") as file:
        payload = {"uiEvent": event}
        file.write(entry(uuid="u1", timestamp=now, type="system", subtype="ui_telemetry", systemPayload=payload))
        file.write(entry(uuid="u2", timestamp=now, type="assistant", model="q", usageMetadata={"promptTokenCount": 90}))
    with GeminiStore.open(qwen) as store:
        [agent] = of(Agent, scanned(store))
        used = store.usage()[QWEN]
        facts = {it.name: it.value for it in store.describe_agent(QWEN)}
    assert agent.session_id == QWEN
    assert (used.context, used.model) == (90, "q")
    assert used.hours[-1] >= 107
    assert (facts["branch"], facts["version"]) == ("main", "0.15.10")


def test_the_turns_around_a_message(gemini: Path) -> None:
    with GeminiStore.open(gemini) as store:
        told = next(it for it in of(Message, scanned(store)) if it.sender == PARENT)
        _, reader = store.transcripts(told)
        turns = store.turns(reader)
    assert [(it.speaker.value, it.text) for it in turns if it.is_sought] == [("another session", "INNER-PROMPT look")]
    assert turns[1].tools == ("run_shell_command echo inner", "complete_task inner done")


def test_their_folders_are_recognised_where_they_are_named(gemini: Path, qwen: Path) -> None:
    for home in (gemini, qwen):
        with open_store(home) as store:
            assert store.url == f"gemini-sessions:{home}"
