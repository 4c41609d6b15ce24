"""Several mailboxes in one console."""

from __future__ import annotations

from pathlib import Path

import pytest

from mailstore.records.scope import url_of
from mailstore.state.views import View
from mailstore.store import Capability
from tests.conftest import Open
from tests.console.screen_text import opened
from tests.mailboxes import MailFiles


@pytest.fixture
def desk(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path / "desk")
    mail.agent("ann-00000001", role="librarian")
    mail.message("m", "ann-00000001", "user", "May I?", ago=60, subject="A question at the desk")
    return mail


@pytest.fixture
def lab(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path / "lab")
    mail.agent("ann-00000001", role="smith")
    mail.agent("bob-00000001")
    mail.message("m", "ann-00000001", "bob-00000001", "Hot.", ago=50, subject="Iron in the lab")
    return mail


async def test_all_are_seen_and_one_can_be_chosen(desk: MailFiles, lab: MailFiles, tmp_path: Path) -> None:
    url = url_of({"desk": desk.url, "lab": lab.url, "lost": f"haak:{tmp_path / 'nowhere'}"})
    async with opened(url, state=tmp_path / "state.db") as seat:
        await seat.sees("A question at the desk")
        assert "Iron in the lab" in seat.text
        assert "Agents · desk" in seat.text
        assert "desk  ann-00000001, user" in seat.text
        assert "lost ✕" in seat.text
        seat.screen.show_view(View("store", "lab"))
        await seat.sees("─ lab ─")
        await seat.sees(" 1 thread ")
        assert "A question at the desk" not in seat.text
        seat.screen.show_view(View("store", "lost"))
        await seat.sees("This mailbox can't be read.")
        assert "no agent-mailbox.jsonl" in seat.text
        lab.message("n", "bob-00000001", "ann-00000001", "Cold.", ago=0, subject="Water in the lab")
        seat.screen.show_view(View("all"))
        await seat.sees("Water in the lab")
        await seat.press("backslash", *"desk/ann", "enter")
        await seat.sees(" 1 thread ")


async def test_unreadable_lines_are_counted_for_all_and_for_one(
    desk: MailFiles, lab: MailFiles, tmp_path: Path
) -> None:
    for mail, number in ((desk, 1), (lab, 2)):
        with mail.mailbox.open("a") as file:
            file.write("damaged\n" * number)
    url = url_of({"desk": desk.url, "lab": lab.url})
    async with opened(url, state=tmp_path / "state.db") as seat:
        await seat.sees("2 threads · 3 lines unreadable")
        assert "!1 1" in seat.text
        assert "!2 1" in seat.text
        for label, number in (("desk", 1), ("lab", 2)):
            seat.screen.show_view(View("store", label))
            await seat.sees(f" 1 thread · {number} line{'s' * (number > 1)} unreadable ")
        faults = seat.screen.session.mailbox.contents.problems.of("lab")
        assert [(it.file, it.line) for it in faults] == [("lab/agent-mailbox.jsonl", 2), ("lab/agent-mailbox.jsonl", 3)]


async def test_an_answer_goes_to_the_mailbox_of_its_thread(desk: MailFiles, lab: MailFiles, tmp_path: Path) -> None:
    before = desk.mailbox.read_bytes()
    async with opened(url_of({"desk": desk.url, "lab": lab.url}), state=tmp_path / "state.db") as seat:
        await seat.open_thread("lab/m")
        await seat.sees("─ lab · Iron in the lab ─")
        await seat.sees("ann-00000001 → bob-00000001")
        await seat.sees("unread by bob-00000001")
        await seat.press("r")
        await seat.sees("lab/ann-00000001")
        await seat.type("Go on.")
        await seat.press("ctrl+s")
        await seat.sees("Go on.")
    assert b"Go on." in lab.mailbox.read_bytes()
    assert b"lab/" not in lab.mailbox.read_bytes()
    assert desk.mailbox.read_bytes() == before


async def test_what_was_seen_in_one_console_was_seen_in_the_other(
    desk: MailFiles, lab: MailFiles, tmp_path: Path
) -> None:
    both, state = url_of({"desk": desk.url, "lab": lab.url}), tmp_path / "state.db"
    async with opened(both, state=state) as seat:
        assert seat.app.session.mailbox.counts().unseen == 2
        await seat.open_thread("lab/m")
        await seat.until(lambda: seat.app.session.mailbox.counts().unseen == 1)
    async with opened(f"haak:{lab.mailbox}", state=state) as seat:
        assert seat.app.session.mailbox.counts().unseen == 0
    async with opened(both, state=state) as seat:
        assert seat.app.session.mailbox.counts().unseen == 1
        assert seat.app.session.mailbox.unseen_by_mailbox()["desk"] == 1


async def test_what_one_mailbox_can_not_do_is_said_there(desk: MailFiles, tmp_path: Path) -> None:
    url = url_of({"desk": desk.url, "lost": f"haak:{tmp_path / 'nowhere'}"})
    async with opened(url, state=tmp_path / "state.db") as seat:
        assert not seat.app.session.why_not(Capability.SEND)
        assert not seat.app.session.why_not(Capability.SEND, "desk/m")
        seat.screen.show_view(View("agent", "lost/ann"))
        await seat.press("c")
        await seat.sees("Can't write here: no agent-mailbox.jsonl")


def test_several_are_opened_by_name(desk: MailFiles, lab: MailFiles, open_console: Open) -> None:
    terminal = open_console(f"office={desk.url}", str(lab.data))
    for words in ("Signalbox  office haak", "Iron in the lab", "A question at the desk", "Mailboxes"):
        terminal.wait_for(words)
    terminal.press("q")
    assert terminal.wait_exit() == 0
