"""The journal: what the person did, each record with what came of it, and the way to it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.console.screen_text import opened
from tests.mailboxes import NOW, MailFiles, iso

HOSTILE = "\x1b[2J[/]a note"


def write_mail(folder: Path) -> MailFiles:
    mail = MailFiles(folder)
    mail.agent("ann-00000001")
    mail.message("talk", "ann-00000001", "ann-00000002", "A word.", ago=900, subject="The talk")
    mail.message("mine", "user", "ann-00000001", "Stop that.", ago=300, thread="talk")
    return mail


def note(mail: MailFiles, key: str, action: str, ago: float, **more: object) -> None:
    record = {"id": key, "actor": "user", "action": action, "timestamp": iso(NOW - ago), **more}
    with (mail.data / "agent-mailbox-oversight.jsonl").open("a") as file:
        file.write(json.dumps(record) + "\n")


async def test_deeds_are_listed_the_newest_first_and_enter_goes_to_what_came_of_them(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    note(mail, "one", "acknowledge", 800, message_id="talk", note=HOSTILE, details={"recipient": "ann-00000002"})
    note(mail, "two", "intervene", 300, message_id="mine", details={})
    async with opened(mail.data, size=(160, 50)) as seat:
        await seat.press("L")
        assert "Journal" in seat.lines[1]
        assert "stepped in" in seat.lines[2]
        assert "acknowledged" in seat.lines[4]
        assert "a note" in seat.lines[5]
        assert "␛[2J[/]a note" in seat.text
        await seat.press("j")
        assert "ann-00000002" in "\n".join(line[95:] for line in seat.lines)
        await seat.press("k", "enter")
        assert seat.screen.pane() == "conversation"
        assert seat.screen.conversation.cursor_key == "mine"


async def test_an_empty_journal_says_what_it_is_for_and_escape_goes_back(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press("L")
        assert "No interventions yet." in seat.text
        await seat.press("enter")
        assert "No message to go to" in seat.lines[-1]
        await seat.press("escape")
        assert seat.screen.pane() == "threads"
        assert seat.app.screen is seat.screen


async def test_a_deed_that_another_program_notes_comes_in_without_moving_the_cursor(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    note(mail, "one", "intervene", 300, message_id="mine", details={})
    async with opened(mail.data) as seat:
        await seat.press("L")
        note(mail, "two", "acknowledge", 10, message_id="talk", details={})
        await seat.sees("acknowledged")
        assert "stepped in" in seat.lines[4]
        await seat.press("enter")
        assert seat.screen.conversation.cursor_key == "mine"
