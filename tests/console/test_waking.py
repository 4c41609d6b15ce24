"""Waking an agent from the console: shown who sleeps on what, asked, and told what came of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from console.settings.config import Config, DeliverSettings, WakeSettings
from mailstore.state.views import View
from tests.console.screen_text import opened
from tests.hooked import fake_codex, hooked
from tests.mailboxes import NOW, MailFiles, iso

ANN, BOB = "ann-00000001", "bob-00000001"


async def test_an_agent_that_sleeps_on_mail_is_woken_after_asking(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent(ANN, "frozen", role="clerk")
    mail.agent(BOB)
    mail.message("one", BOB, ANN, ago=60, type="question")
    mail.message("two", BOB, ANN, ago=50, type="status")
    out = tmp_path / "out"
    command = ["sh", "-c", 'printf "%s" "$SIGNALBOX_AGENT $SIGNALBOX_IDS" > "$1"', "sh", str(out)]
    async with opened(mail.data, config=Config(wake=WakeSettings(command=command))) as seat:
        assert re.search(f"◐ {ANN}.*↯1 2 │", seat.text)
        await seat.pilot.press("W")  # ann has not read what is selected
        await seat.sees(f"Wake {ANN}?")
        await seat.press("n")
        seat.screen.show_view(View("agent", BOB))
        await seat.press("W")
        assert "has no unread mail that would wake it" in seat.notice
        seat.screen.show_view(View("agent", ANN))
        await seat.pilot.press("W")
        await seat.sees(f"Wake {ANN}?")
        await seat.press("n")
        assert not out.exists()
        await seat.pilot.press("W")
        await seat.sees(f"Wake {ANN}?")
        await seat.press("y")
        await seat.sees(f"{ANN} woken")
        assert out.read_text() == f'{ANN} ["one"]'
    async with opened(mail.data) as seat:
        seat.screen.show_view(View("agent", ANN))
        await seat.press("W")
        assert "No wake command" in seat.notice


async def test_an_agent_with_a_hook_is_woken_through_its_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = fake_codex(tmp_path, monkeypatch)
    mail = MailFiles(tmp_path)
    for name in (ANN, BOB):
        mail.agent(name, last_seen=iso(NOW))
    mail.message("one", BOB, ANN, ago=60, type="question")
    mail.message("two", BOB, ANN, ago=50, type="status")
    given = {"tool": "codex", "session_id": "s-1", "since": NOW, "last_run": NOW, "can_wake": True}
    hooked(mail.url, ANN, doing="idle", **given)
    async with opened(mail.data) as seat:
        await seat.sees("↯1 2 │")
        seat.screen.show_view(View("agent", ANN))
        await seat.pilot.press("W")
        await seat.sees("2 messages, by codex queue: starts a turn of codex")
        await seat.press("n")
        assert calls() == []
        await seat.pilot.press("W")
        await seat.sees("2 messages, by codex queue: starts a turn of codex")
        await seat.press("y")
        await seat.sees(f"{ANN} woken")
        assert "2 new messages" in calls()[0][-1]
        hooked(mail.url, ANN, doing="working", **given)
        await seat.sees(f"► {ANN}")
        await seat.press("W")
        assert "will hear of its mail within a turn" in seat.notice
        assert len(calls()) == 1


async def test_a_message_of_the_person_wakes_whom_it_is_addressed_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = fake_codex(tmp_path, monkeypatch)
    mail = MailFiles(tmp_path)
    mail.agent(ANN, last_seen=iso(NOW))
    mail.message("one", ANN, "user", ago=60)
    hooked(mail.url, ANN, tool="codex", session_id="s-1", doing="idle", since=NOW, last_run=NOW, can_wake=True)
    async with opened(mail.data) as seat:
        await seat.sees(f"‖ {ANN}")
        await seat.press("r")
        await seat.paste("Go on")
        await seat.sees("will be woken")
        await seat.press("ctrl+s")
        await seat.sees(f"Sent · {ANN} will be woken")
        await seat.until(calls)
        fake_codex(tmp_path, monkeypatch, "sys.exit('Error: no such thread')")
        await seat.press("r")
        await seat.paste("And on")
        await seat.press("ctrl+s")
        await seat.sees("Not woken")
        assert "no such thread" in seat.text


async def test_what_the_user_writes_is_given_to_codex_as_its_users_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = fake_codex(tmp_path, monkeypatch)
    mail = MailFiles(tmp_path)
    for name in (ANN, BOB):
        mail.agent(name, last_seen=iso(NOW))
    mail.message("one", ANN, "user", ago=60)
    hooked(mail.url, ANN, tool="codex", session_id="s-1", doing="idle", since=NOW, last_run=NOW)
    hooked(mail.url, BOB, tool="gemini", session_id="s-2", doing="idle", since=NOW, last_run=NOW)
    async with opened(mail.data, config=Config(deliver=DeliverSettings(mine=True))) as seat:
        await seat.until(lambda: len(seat.app.session.hooked.live) == 2)
        await seat.press("r")
        await seat.paste(f"Go on, and tell @{BOB}")
        await seat.sees(f"as a user prompt: {ANN}")
        await seat.press("ctrl+s")
        await seat.sees(f"Sent · {ANN} gets it as a user prompt")
        await seat.until(calls)
        [[_, _, session, text]] = calls()
        assert session == "s-1"
        assert f"\n\nGo on, and tell @{BOB}\n\n(Message " in text
        await seat.press("L")
        await seat.sees("given as a prompt")
