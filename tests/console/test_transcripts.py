"""From a message to the session that sent or read it: the turn in its transcript, and the command that resumes it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.console.screen_text import opened
from tests.hostile.copied_samples import FIXTURES

LATER = 1_795_900_000.0


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "own"))


def sessions(tmp_path: Path, story: str) -> str:
    claude = tmp_path / ".claude"
    shutil.copytree(FIXTURES / "session-mail" / story, claude)
    (claude / "sessions").mkdir(exist_ok=True)
    return f"claude-sessions:{claude / 'projects'}"


async def test_the_turn_that_sent_a_message_and_the_one_that_read_it(tmp_path: Path) -> None:
    url = sessions(tmp_path, "delivered")
    async with opened(url, state=tmp_path / "state.db", now=LATER, size=(120, 40)) as seat:
        await seat.press("2", "g", "j", "j", "enter")
        await seat.sees("MARK-busy from alpha")
        await seat.press("<")
        await seat.sees("Which session?")
        await seat.sees("alpha@aaaa sent it")
        await seat.press("1")
        await seat.sees("▸ SendMessage beta")
        await seat.sees("tell beta while busy")
        await seat.press("y")
        wanted = "cd /srv/me/repo && claude --resume aaaaaaaa-2222-4333-8444-5555abcdef12"
        assert seat.app.clipboard == wanted
        await seat.press("escape", "<", "2")
        await seat.sees("beta@bbbb read it")
        await seat.sees("session Another Claude session sent a message")
    years = 400 * 24 * 3600
    async with opened(url, state=tmp_path / "state.db", now=LATER + years, size=(120, 40)) as seat:
        await seat.press("2", "g", "j", "j", "enter", "<", "2")
        await seat.sees("2026-11-28 session Another Claude session sent a message")


async def test_a_mailbox_without_transcripts_says_so(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "agenties", tmp_path / "agenties")
    async with opened(f"agenties:{tmp_path / 'agenties'}", state=tmp_path / "state.db", now=LATER) as seat:
        await seat.press("2", "enter", "<")
        await seat.sees("No transcript of a session that sent or read it is here")


async def test_what_became_of_messages_is_on_the_screen(tmp_path: Path) -> None:
    url = sessions(tmp_path, "refused")
    async with opened(url, state=tmp_path / "state.db", now=LATER, size=(150, 50)) as seat:
        await seat.sees("5 dead letters")
        await seat.press("D")
        for words in ("denied by its user", "refused: it takes no", "not sent: No agent named"):
            await seat.sees(words)
        await seat.press("escape", "2", "G", "enter", "i")
        await seat.sees("⊗ refuse@cd6a: undelivered  since 10:06  refused: it takes no messages of sessions")


async def test_the_terminal_of_a_session_without_hooks_is_looked_for_by_its_process(tmp_path: Path) -> None:
    url = sessions(tmp_path, "delivered")
    said = {"pid": os.getpid(), "sessionId": "aaaaaaaa-2222-4333-8444-5555abcdef12", "name": "alpha", "startedAt": 1}
    (tmp_path / ".claude" / "sessions" / f"{os.getpid()}.json").write_text(json.dumps(said))
    async with opened(url, state=tmp_path / "state.db", now=LATER, size=(120, 40)) as seat:
        await seat.press("2", "g", "j", "j", "enter")
        await seat.sees("MARK-busy from alpha")
        await seat.press("<", "1")
        await seat.sees("▸ SendMessage beta")
        await seat.press("p")
        await seat.sees("alpha@aaaa")
        await seat.until(lambda: "terminal" in seat.notice or "runs at" in seat.notice)
        assert "No hook runs" not in seat.notice
