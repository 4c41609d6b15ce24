"""Drafts as a list: where each goes, what it says, who can no longer be reached; continued, discarded, restored."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.browser.place import FULL, VARIABLE
from console.state.composer_draft import ComposerDraft
from console.state.personal_state import PersonalState
from mailstore.state.views import View
from tests.console.screen_text import Seat, opened, settle
from tests.kinds.agentazall.agentazall_mail import AgentAZAllMail
from tests.mailboxes import HOUR, NOW, MailFiles, iso


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path)
    mail.agent("ann-00000001", tags=["project:ink"])
    mail.agent("ded-00000001", "dead", ended_at=iso(NOW - HOUR))
    mail.message("m1", "ann-00000001", "user", "The lamp?", ago=900, subject="The lamp")
    mail.message("m2", "ann-00000001", "project:ink", "The needle.", ago=600, subject="The needle")
    state = PersonalState(tmp_path / "state.db")
    for draft in (
        ComposerDraft("thread:m1", "ann-00000001", "Re: The lamp", "A short answer", "m1", "", NOW - 60),
        ComposerDraft("channel:project:ink", "#ink", "", "To the channel\x1b[2J", None, "", NOW - 3 * HOUR),
        ComposerDraft("new", "ded-00000001, zed", "Too late", "Are you there?", None, "", NOW - 30 * HOUR),
    ):
        state.save_draft(f"haak:{mail.mailbox.resolve()}", draft)
    state.close()
    return mail


def body(seat: Seat) -> str:
    return seat.screen.composer.writing.body


async def test_drafts_are_listed_in_the_sidebar_and_continued_in_their_places(mail: MailFiles, tmp_path: Path) -> None:
    async with opened(mail.data, state=tmp_path / "state.db") as seat:
        assert any(line[1:].startswith("Drafts") and " 3" in line[:26] for line in seat.lines)
        await seat.press("1")
        while seat.screen.location.view.kind != "drafts":
            await seat.press("k")
        assert "enter: list your drafts" in seat.text
        await seat.press("enter")
        first, *rows = [line for line in seat.lines if line.startswith("│")][:6]
        assert "ann-00000001" in first
        assert "3 words    1m" in first
        assert "Re: The lamp · A short answer" in rows[0]
        assert "#ink" in rows[1]
        assert "To the channel␛[2J" in rows[2]
        assert "! ded-00000001 has ended, no agent named zed  Too late" in rows[4]
        assert "The lamp" in seat.text, "what it answers stands beside it"
        await seat.press("enter")
        assert (seat.screen.conversation.root, body(seat)) == ("m1", "A short answer")
        assert seat.screen.pane() == "composer"
        await seat.press("escape", "d", "j", "enter")
        assert seat.screen.location.view == View("channel", "project:ink")
        assert body(seat).startswith("To the channel")
        await seat.press(*"!", "escape", "d")
        assert seat.lines[2].startswith("│  #ink"), "the one changed last comes first"
        await seat.press("escape", "1")
        assert seat.screen.pane() == "sidebar"


async def test_drafts_are_discarded_after_asking_and_restored(mail: MailFiles, tmp_path: Path) -> None:
    async with opened(mail.data, state=tmp_path / "state.db") as seat:
        await seat.press("d", "X")
        await seat.sees("Discard this draft?")
        await seat.press("enter", "space", "space", "X")
        await seat.sees("Discard 2 drafts?")
        await seat.press("y")
        assert "ded-00000001" in seat.lines[2]
        await seat.press("escape")
        await seat.open_thread("m1")
        await seat.press("r", *"Another thought", "escape")
        await seat.press("d", "z")
        assert sum(" words " in line for line in seat.lines) == 4, "the place of one has another draft by now"
    async with opened(mail.data, state=tmp_path / "state.db") as seat:
        await seat.press("d")
        for words in ("A short answer", "Another thought", "To the channel", "ded-00000001, zed"):
            assert words in seat.text


async def test_without_drafts_there_is_no_row_and_the_list_says_so(mail: MailFiles) -> None:
    async with opened(mail.data) as seat:
        assert "Drafts" not in seat.text
        await seat.press("d")
        assert "No drafts." in seat.text
        await seat.press("X", "enter")
        assert "No draft selected" in seat.lines[-1]
        await seat.press("escape", "enter", "r", *"Yes.", "escape")
        assert any(line[1:].startswith("Drafts") for line in seat.lines)


async def test_files_stay_with_a_draft_and_are_sent_with_it(tmp_path: Path) -> None:
    mail = AgentAZAllMail(tmp_path)
    mail.agent("ann@localhost")
    files = [tmp_path / "a report.csv", tmp_path / "plot.png"]
    for path in files:
        path.write_bytes(path.name.encode())
    url, state = f"agentazall:{mail.root}", tmp_path / "state.db"
    async with opened(url, state=state) as seat:
        seat.screen.show_view(View("agent", "ann@localhost"))
        await seat.press("c", *"Hi", "ctrl+o", *"'a")
        await seat.press("enter")
        await seat.sees("Close the quotes")
        await seat.press("ctrl+u")
        await seat.paste(f"'{files[0]}' {files[1]}")
        await seat.press("enter")
        await seat.sees("1 word · a report.csv, plot.png")
        await settle(seat.pilot)
    async with opened(url, state=state) as seat:
        seat.screen.show_view(View("agent", "ann@localhost"))
        await seat.press("c")
        await seat.sees("1 word · a report.csv, plot.png")
        files[1].unlink()
        await seat.press("ctrl+s")
        await seat.sees("plot.png, which can't be read")
        await seat.press("ctrl+o", "ctrl+u")
        await seat.paste(f"'{files[0]}'")
        await seat.press("enter", "ctrl+s")
        await seat.until(lambda: list(mail.root.glob("ann@localhost/*/inbox/*/a report.csv")))
        await seat.until(lambda: not seat.screen.composer.writing.attachments)


async def test_where_no_files_are_sent_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mail = MailFiles(tmp_path)
    mail.agent("ann-00000001")
    async with opened(mail.data) as seat:
        seat.screen.show_view(View("agent", "ann-00000001"))
        await seat.press("ctrl+o", "c", "ctrl+o")
        assert "name the path of the file in the text" in seat.notice
        monkeypatch.setenv(VARIABLE, FULL)
        await seat.press("ctrl+o")
        assert "no file of the server's machine is read" in seat.notice
