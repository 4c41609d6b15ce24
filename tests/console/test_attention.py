"""The list of what needs attention: reasons, and the way to each message."""

from __future__ import annotations

from pathlib import Path

from tests.console.screen_text import opened
from tests.mailboxes import MailFiles


async def test_concerns_are_listed_with_reasons_and_enter_goes_there(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent("ann-00000001")
    mail.agent("bob-00000001")
    mail.message("ask", "ann-00000001", "user", "Which colour?", ago=45 * 60, subject="Colour", type="question")
    mail.message("left", "ann-00000001", "bob-00000001", "Read me.", ago=90 * 60, subject="Unread")
    async with opened(mail.data, size=(160, 50)) as seat:
        await seat.press("p")
        assert "? ann-00000001" in seat.lines[2]
        assert "asked user and was not answered" in seat.lines[3]
        assert "◐ bob-00000001" in seat.lines[4]
        assert "Which colour?" in seat.text
        await seat.press("j", "enter")
        assert seat.screen.conversation.cursor_key == "left"


async def test_a_quiet_mailbox_says_so(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent("ann-00000001")
    async with opened(mail.data) as seat:
        await seat.press("p")
        assert "Nothing needs attention." in seat.text
