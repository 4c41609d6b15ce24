"""A message's text given to a command of the person's."""

from __future__ import annotations

from pathlib import Path

from tests.console.screen_text import opened
from tests.mailboxes import MailFiles

TEXT = "b; rm -rf $HOME `id`\na\x1b[2J[/]"


def write_mail(folder: Path) -> MailFiles:
    mail = MailFiles(folder)
    mail.message("m", "ann-00000001", "bob-00000001", TEXT, ago=60, subject="Lines")
    return mail


async def test_the_output_is_shown_and_obeyed_by_nobody(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press("vertical_line")
        await seat.press(*"sort", "enter")
        await seat.sees("─ sort ─")
        text = seat.text
        assert text.index("a␛[2J[/]") < text.index("b; rm -rf $HOME `id`")


async def test_a_command_that_fails_or_is_not_there_is_told(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press("vertical_line")
        await seat.press(*"test -f 'no", "enter")
        assert "Can't read it" in seat.text
        await seat.press(*"thing'", "enter")
        await seat.sees("status 1")
        assert "(no output)" in seat.text
        await seat.press("escape", "vertical_line", *["backspace"] * 20)
        await seat.press(*"nowhere-to-be-found", "enter")
        await seat.sees("Can't run nowhere-to-be-found")
