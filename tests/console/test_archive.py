"""The archive's screen: the plan, the yes, what is told of it, and refusing where nothing may be written."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Event

import pytest

from console.screens.archive import Archive as ArchiveSheet
from console.settings.config import ArchiveSettings, Config
from tests.console.screen_text import opened
from tests.mailboxes import HOUR, MailFiles

CONFIG = Config(archive=ArchiveSettings(keep=2))


def write_mail(folder: Path) -> MailFiles:
    mail = MailFiles(folder)
    mail.agent("ann-00000001")
    for number in range(6):
        subject = "\x1b[2J[/]hostile" if number == 0 else f"About {number}"
        mail.message(f"m{number}", "bob", "all", ago=(100 - 10 * number) * 24 * HOUR, subject=subject)
    mail.message("open", "bob", "user", ago=90 * 24 * HOUR)
    return mail


async def test_the_plan_is_shown_and_y_archives(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    async with opened(mail.data, config=CONFIG, size=(140, 30)) as seat:
        await seat.press("a")
        assert "Archive 4 messages?" in seat.lines[1]
        assert "archive agent-mailbox-archive/2025-12.jsonl" in seat.lines[2]
        assert "keep    among the newest 2" in seat.text
        assert "keep    unread: user 1" in seat.text
        assert "␛[2J[/]hostile" in seat.text
        await seat.press("y")
        await seat.sees("4 messages archived to agent-mailbox-archive/2025-12.jsonl, ")
        assert "─ Archive ─" in seat.lines[1]
        await seat.press("y")
        assert "Nothing can be archived now" in seat.lines[-1]
        await seat.sees("3 messages")
        await seat.press("escape")
        assert seat.app.screen is seat.screen
        await seat.until(lambda: seat.app.session.mailbox.counts().archived == 4)  # a month's file is read by itself
    live = [json.loads(line)["id"] for line in mail.mailbox.read_bytes().splitlines()]
    assert live == ["m4", "m5", "open"]


async def test_observing_shows_the_plan_and_archives_nothing(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    before = {path: path.read_bytes() for path in mail.data.iterdir()}
    async with opened(mail.data, config=CONFIG, observe=True) as seat:
        await seat.press("a")
        assert "Archive 4 messages?" in seat.lines[1]
        await seat.press("y")
        assert "Can't archive here: observing: nothing is written" in seat.lines[-1]
    assert {path: path.read_bytes() for path in mail.data.glob("agent-*")} == before


async def test_archiving_is_offered_where_there_is_much_mail_and_can_be_done(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    config = Config(archive=ArchiveSettings(keep=2, offer_past=6))
    async with opened(mail.data, config=config) as seat:
        assert "The mailbox has 7 messages · a: review what can be archived" in seat.lines[-1]
        await seat.press("j")
        mail.message("new", "bob", "all", ago=0)
        await seat.sees("8 messages")
        assert "review what can be archived" not in seat.text
    for more in ({"observe": True}, {"config": Config(archive=ArchiveSettings(offer_past=0))}):
        async with opened(mail.data, **{"config": config, **more}) as seat:
            assert "review what can be archived" not in seat.text


async def test_escape_cancels_and_the_files_stay_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    has_begun, may_go_on = Event(), Event()

    def wait(sheet: ArchiveSheet, words: str, done: int, total: int) -> None:
        has_begun.set()
        may_go_on.wait(10)

    monkeypatch.setattr(ArchiveSheet, "_note_progress", wait)
    mail = write_mail(tmp_path)
    before = mail.mailbox.read_bytes()
    async with opened(mail.data, config=CONFIG) as seat:
        await seat.press("a")
        await seat.pilot.press("y")
        await seat.until(has_begun.is_set)
        await seat.pilot.press("escape")
        await seat.until(lambda: "Cancelling" in seat.text)
        may_go_on.set()
        await seat.sees("Cancelled: nothing was archived")
        await seat.press("escape")
        assert seat.app.screen is seat.screen
    assert mail.mailbox.read_bytes() == before
    assert not any(path.is_file() for path in (mail.data / "agent-mailbox-archive").rglob("*"))
