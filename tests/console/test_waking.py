"""Waking an agent from the console: shown who sleeps on what, asked, and told what came of it."""

from __future__ import annotations

import re
from pathlib import Path

from console.config import Config, WakeSettings
from mailstore.state.views import View
from tests.console.screen_text import opened
from tests.mailboxes import MailFiles

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
        await seat.press("W")
        assert seat.notice == "Select an agent first"
        seat.screen.show_view(View("agent", BOB))
        await seat.press("W")
        assert "has no unread mail that would wake it" in seat.notice
        seat.screen.show_view(View("agent", ANN))
        await seat.press("W", "n")
        assert not out.exists()
        await seat.pilot.press("W", "y")
        await seat.sees(f"{ANN} woken")
        assert out.read_text() == f'{ANN} ["one"]'
    async with opened(mail.data) as seat:
        seat.screen.show_view(View("agent", ANN))
        await seat.press("W")
        assert "No wake command" in seat.notice
