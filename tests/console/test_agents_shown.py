"""What agents are doing, and since when, as a person sees it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from mailstore.state.views import View
from tests.console.screen_text import opened
from tests.mailboxes import NOW, MailFiles, iso

ANN, BOB, CAT, DAN, EVE = (f"{name}-00000001" for name in ("ann", "bob", "cat", "dan", "eve"))


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path)

    def beats(session_id: str, *told: tuple[str, float], **more: Any) -> None:
        start = iso(NOW - 7200)
        mail.agent(session_id, started_at=start, updated=start, last_seen=start, **more)
        for activity, ago in told:
            mail.agent(session_id, activity=activity, updated=iso(NOW - ago), last_seen=iso(NOW - ago), **more)

    beats(ANN, ("idle", 900), ("working: leaf 12", 300), ("working: leaf 13", 60), role="architect")
    beats(BOB, ("waiting: Bash", 120), role="clerk")
    beats(CAT, ("idle", 600))
    beats(DAN, ("working", 3600))
    mail.agent(EVE, "frozen", activity="working")
    mail.message("one", ANN, "user", ago=60)
    return mail


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 12)])
async def test_each_state_has_its_sign_and_its_time(mail: MailFiles, size: tuple[int, int]) -> None:
    async with opened(mail.data, size=size) as seat:
        await seat.press("1", "G")
        for row in (f"► {ANN}.* 5m", f"! {BOB}.* 2m", f"‖ {CAT} 10m", f"◌ {DAN} 1h", f"◐ {EVE}"):
            assert re.search(row, seat.text), row
        if size[0] > 40:
            assert "1 waiting" in seat.lines[0]


async def test_the_title_says_what_an_agent_is_doing_and_the_past_what_it_did(mail: MailFiles) -> None:
    async with opened(mail.data, size=(200, 40)) as seat:
        for agent, words in (
            (ANN, r"architect · working since \d\d:\d\d · leaf 13"),
            (BOB, r"clerk · waiting for a permission since \d\d:\d\d · Bash"),
            (CAT, r"idle since \d\d:\d\d ─"),
            (DAN, r"stale, seen 1h ago · was working"),
        ):
            seat.screen.show_view(View("agent", agent))
            await seat.sees(agent)
            assert re.search(rf"─ {agent} · {words}", seat.text)
