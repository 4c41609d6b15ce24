"""What is typed at once, as after a moment in which the program was busy, is entered in the order of the keys."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.conftest import Open
from tests.mailboxes import MailFiles

BACK, LEFT, HOME, WORD_BACK = "\x7f", "\x1b[D", "\x1b[H", "\x17"


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path, now=time.time())
    mail.agent("ann-00000001")
    mail.message("ask", "ann-00000001", "user", "Which ink?", ago=90, subject="The ink")
    return mail


def test_corrections_in_a_burst_are_made_where_they_were_typed(mail: MailFiles, open_console: Open) -> None:
    terminal = open_console(mail.url, size=(100, 24))
    terminal.wait_for("Which ink?")
    terminal.press("/")
    terminal.wait_for("search: words")
    terminal.send(f"teh{BACK}{BACK}he nik{BACK}{BACK}{BACK}ink{LEFT}{LEFT}{LEFT}x{HOME}-")
    terminal.wait_for(" -the xink")
    terminal.send(f" y{WORD_BACK}z")
    terminal.wait_for("- zthe xink")
    terminal.press("escape")
    terminal.wait_for(lambda it: "xink" not in it.screen_text())
    terminal.press("r")
    terminal.wait_for("ctrl+s send")
    terminal.send(f"Teh{BACK}{BACK}he bleu{BACK}{BACK}ue one{LEFT}{LEFT}{LEFT}old {HOME}No: \x13")
    terminal.wait_for("unread by ann-00000001")
    assert json.loads(mail.mailbox.read_bytes().splitlines()[-1])["content"] == "No: The blue old one"


def test_what_is_typed_after_a_key_that_leads_to_another_field_is_entered_there(
    mail: MailFiles, open_console: Open
) -> None:
    terminal = open_console(mail.url, size=(100, 24))
    terminal.wait_for("Which ink?")
    terminal.send("/lamp")
    terminal.wait_for(" lamp ")
    terminal.wait_for("esc clear")
    terminal.press("escape")
    terminal.wait_for("c write")  # a letter at once after escape is one key with it
    terminal.send("cann-00000001\tInk\rBlue\x1b[Z\x1b[F and\t one.\x13")
    terminal.wait_for("unread by ann-00000001")
    sent = json.loads(mail.mailbox.read_bytes().splitlines()[-1])
    assert (sent["recipient"], sent["subject"], sent["content"]) == ("ann-00000001", "Ink and", "Blue one.")
