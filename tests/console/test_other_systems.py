"""Other systems' mailboxes in the console: what their files hold, and why something can't be done there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from console.hooks.orders import orders_in, place_of
from mailstore.state.views import View
from tests.console.screen_text import opened
from tests.hooked import hooked
from tests.hostile.samples import SAMPLES

FIXTURES = Path(__file__).parents[1] / "fixtures"
LATER = 1_795_300_000.0


def copied(kind: str, tmp_path: Path) -> str:
    """Copy a system's files, or make them anew; return what opens them."""
    if not (FIXTURES / kind).is_dir():
        return SAMPLES[kind](tmp_path)
    place = tmp_path / kind
    shutil.copytree(FIXTURES / kind, place)
    for path in (place, *place.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return f"{kind}:{place}"


def contents(url: str) -> dict[str, tuple[bytes, int]]:
    folder = Path(url.partition(":")[2])
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


SEEN = {
    "channels": ["#agent-os-paper", "codex", "Please review the NATS section", "not recorded"],
    "agenties": ["orchestrator", "ag_x1"],
    "claude-teams": ["team-lead", "Task #1 done: task system analysis written"],
    "neo": ["@neo-opus-ada", "Design dialogue: receipts"],
    "agent-mail": ["GreenLake", "Review request: receipts"],
    "omo": ["lead@docs-cbe53d92", "Can you look at src/guide.txt?"],
    "hcom": ["luna", "The build is red."],
    "agentazall": ["alice@localhost"],
    "codex-threads": ["Ohm@5d84", "codex-queue"],
    "claude-sessions": ["bypass@801f", "lost: it ended"],
    "beads": ["gastown/Toast", "Build more", "#alerts"],
}


@pytest.mark.parametrize("kind", SEEN)
async def test_what_its_files_hold_is_seen_and_they_stay_as_they_are(kind: str, tmp_path: Path) -> None:
    url = copied(kind, tmp_path)
    before = contents(url)
    async with opened(url, state=tmp_path / "state.db", now=LATER, size=(160, 50)) as seat:
        for words in SEEN[kind]:
            await seat.sees(words)
        await seat.press("2", "enter")
        await seat.press("j", "i")
        await seat.press("escape", "k")
        await seat.press("D", "escape", "p", "escape")
    assert contents(url) == before


@pytest.mark.parametrize(
    ("kind", "agent", "reason"),
    [
        ("agenties", "ag_x1", "reads this file only when it starts"),
        ("agent-mail", "GreenLake", "only its server writes there"),
        ("beads", "gastown/Toast", "Gas Town sends by"),
    ],
)
async def test_where_nothing_can_be_sent_the_reason_is_said(kind: str, agent: str, reason: str, tmp_path: Path) -> None:
    async with opened(copied(kind, tmp_path), state=tmp_path / "state.db", now=LATER, size=(200, 130)) as seat:
        seat.screen.show_view(View("agent", agent))
        await seat.press("c")
        await seat.sees("Can't write here: ")
        assert reason.split()[0] in seat.text
        assert not seat.screen.composer.is_open
        await seat.press("question_mark")
        await seat.sees("unavailable: ")
        await seat.press("escape", "colon", *"step in")
        await seat.sees("unavailable: ")
        await seat.press("escape", "a")
        await seat.sees("Can't archive here: ")


async def test_the_composer_says_what_a_channel_can_not_hold_and_whom_a_text_wakes(tmp_path: Path) -> None:
    url = copied("channels", tmp_path)
    async with opened(url, state=tmp_path / "state.db", now=LATER, size=(160, 50)) as seat:
        seat.screen.show_view(View("channel", "project:agent-os-paper"))
        await seat.press("c", "shift+tab")
        await seat.sees("its messages have no subject")
        seat.screen.composer.query_one("#body").focus()
        await seat.type("Ask codex.")
        await seat.sees("↯ woken by a mention: codex")
        assert "never" in seat.text
        assert "expires in" not in seat.text
        await seat.press("ctrl+s")
        await seat.until(lambda: seat.notice == "Sent")
    [sent] = [path for path in (tmp_path / "channels").rglob("msg-*.json") if b"Ask codex." in path.read_bytes()]
    assert b'"from": "human"' in sent.read_bytes()


async def test_who_was_held_is_in_the_journal_beside_a_mailbox_that_has_none(tmp_path: Path) -> None:
    url = copied("neo", tmp_path)
    before, agent = contents(url), "@neo-opus-ada"
    state = hooked(url, agent, doing="working", since=LATER, last_run=LATER, options="--gate")
    for _ in range(2):
        async with opened(url, state=tmp_path / "state.db", now=LATER, size=(120, 40)) as seat:
            await seat.until(lambda seat=seat: agent in seat.app.session.hooked.live)
            seat.screen.show_view(View("agent", agent))
            await seat.press("L")
            if "held" not in seat.text:
                await seat.press("q", "H")
                await seat.sees("hold all agents")
                await seat.press("h", *"Wait", "enter")
                await seat.until(lambda: orders_in(place_of(str(Path(state).parent))))
                await seat.press("L")
            await seat.sees("held")
            assert "Wait" in seat.text
    assert contents(url) == before
