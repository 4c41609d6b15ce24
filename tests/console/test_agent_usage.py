"""What agents have used: in their rows, on their pages, in the overview, and where it needs attention."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from console import feed
from console.state.agent_usage import UsageReader
from console.words.agent_words import cost_words, token_words, usage_facts, usage_words
from mailstore.records.details import AgentUsage
from mailstore.registry import mailbox_for, open_store
from tests.console.screen_text import opened
from tests.hooked import hooked
from tests.hostile.copied_samples import FIXTURES
from tests.kinds.copilot_sessions.copilot_sessions_harness import event
from tests.mailboxes import MailFiles, iso

SESSION = "51e8974e-c875-4602-9dac-4fa56f820720"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder in which Copilot has a session that has nearly filled its context."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "own"))
    monkeypatch.setenv("HOME", str(tmp_path))
    shutil.copytree(FIXTURES / "copilot-home", tmp_path / ".copilot")
    events = tmp_path / ".copilot" / "session-state" / SESSION / "events.jsonl"
    events.write_bytes(events.read_bytes().replace(b"2026-11-28T", b"2025-11-28T"))  # whenever the tests run
    fill(tmp_path, 119_000)
    return tmp_path


def fill(home: Path, context: int) -> None:
    now = time.time()
    metrics = {"context_token_limit": 128_000.0, "context_current_tokens": float(context)}
    lines = event("tool.execution_complete", iso(now), {"toolTelemetry": {"metrics": metrics}})
    for number, ago in enumerate((3 * 3600, 1)):
        usage = {"model": "gpt", "inputTokens": 600_000, "outputTokens": 1_000, "cost": 0.5, "apiCallId": f"{number}"}
        lines += event("session.usage_record", iso(now - ago), {"usage": usage})
    with (home / ".copilot" / "session-state" / SESSION / "events.jsonl").open("ab") as file:
        file.write(lines)


async def test_how_full_a_context_is_stands_in_the_row_on_the_page_in_the_overview_and_under_attention(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "USAGE_SECONDS", 0.05)
    url = f"copilot-sessions:{home / '.copilot'}"
    async with opened(url, state=home / "state.db", now=time.time(), size=(150, 45)) as seat:
        await seat.sees("92%")  # in the row
        await seat.sees("2 need attention")
        await seat.press("p")
        await seat.sees("Agents whose context is nearly full")
        await seat.sees("has filled 92 % of its context")
        await seat.press("escape", "O")
        await seat.sees("1.2M tokens in 24 h")
        await seat.sees("24 hours")
        await seat.press("q")
        fill(home, 12_800)  # it was compacted
        await seat.sees("repo@0720 10%")
        await seat.sees("1 needs attention")


def test_agents_with_hooks_are_found_by_their_programs_own_session(home: Path) -> None:
    with open_store(MailFiles(home / "box").data) as store:
        reader = UsageReader(store)
        found = reader.read({"lib-7": SESSION, "ink-1": "another"})
        assert {name: used.context for name, used in found.items()} == {"lib-7": 119_000}
        assert reader.read({}) == {}


async def test_an_agent_with_hooks_in_any_mailbox_has_it_in_its_row(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "USAGE_SECONDS", 0.05)
    now = time.time()
    mail = MailFiles(home / "box", now=now)
    mail.agent("lib-7")
    mail.message("m", "lib-7", "user", "Hello.", ago=60)
    hooked(mail.url, "lib-7", tool="copilot", session_id=SESSION, last_run=now, doing="idle", since=now)
    async with opened(mail.data, state=home / "state.db", now=now, size=(120, 30)) as seat:
        await seat.sees("92%")
        await seat.press("p")
        await seat.sees("lib-7 has filled 92 % of its context")


def test_commands_say_what_agents_have_used(home: Path) -> None:
    url = f"copilot-sessions:{home / '.copilot'}"

    def printed(*words: str) -> str:
        command = [sys.executable, "-m", "console", *words, "--store", url]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    rows = {row["session_id"]: row for row in json.loads(printed("agents", "--json"))}
    usage = rows["repo@0720"]["usage"]
    assert (usage["context"], usage["context_window"], usage["cost"]) == (119_000, 128_000, None)
    assert usage["tokens_by_hour"][20] == 601_000
    assert "context nearly full: 119,000 of 128,000 (92 %)" in printed("agents")
    assert "$" not in printed("agents", "repo@0720"), "its cost counts requests"
    assert "Agents whose context is nearly full (1)" in printed("attention")
    assert "1.2M" in printed("overview")
    overview = json.loads(printed("overview", "--json"))
    assert any(it["usage"] and it["usage"]["context"] == 119_000 for it in overview["agents"])


def test_each_home_of_a_kind_is_a_mailbox_of_its_own(home: Path) -> None:
    shutil.rmtree(home / ".copilot")
    shutil.copytree(FIXTURES / "gemini-home", home / ".gemini")
    shutil.copytree(FIXTURES / "qwen-home", home / ".qwen")
    (home / "project").mkdir()
    with open_store(mailbox_for(home / "project")) as store:
        agents = {it.session_id for batch in store.scan() for it in batch if hasattr(it, "session_id")}
    assert {"gemini/repo@0495", "gemini/repo@43c6", "qwen/repo@22e6"} <= agents


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "0"), (999, "999"), (1_000, "1.0K"), (9_999, "10.0K"), (54_321, "54K"), (1_234_567, "1.2M"), (10**10, "10G")],
)
def test_tokens_are_written_in_few_cells(number: int, words: str) -> None:
    assert token_words(number) == words


def test_what_is_not_said_is_not_shown() -> None:
    assert usage_words(AgentUsage()) == []
    assert usage_facts(AgentUsage(), 90) == []
    known = AgentUsage(context=152_000, given=5_000, written=5, is_whole=False)
    assert usage_words(known) == ["ctx 152K 5.0K tok", "ctx 152K"]
    assert [(it.name, it.value) for it in usage_facts(known, 90)] == [
        ("context", "152,000 tokens at its last answer"),
        ("last 24 h", "at least 5,000 tokens given, 5 written"),
    ]
    [cost] = usage_facts(AgentUsage(cost=1.25), 90)
    assert (cost.name, cost.value) == ("cost", "$1.25, as the program said")
    assert (cost_words(0.0), cost_words(0.004), cost_words(1234.5)) == ("$0.00", "$0.0040", "$1,234.50")


def test_a_home_folder_is_all_that_programs_have_there(home: Path) -> None:
    shutil.copytree(FIXTURES / "codex-home", home / ".codex")
    with open_store(home) as store:
        agents = {it.session_id for batch in store.scan() for it in batch if hasattr(it, "session_id")}
    assert {"codex-threads/repo@21b9", "copilot-sessions/repo@0720"} <= agents
    shutil.rmtree(home / ".codex")
    with open_store(home) as store:
        assert store.url == f"copilot-sessions:{home / '.copilot'}"
