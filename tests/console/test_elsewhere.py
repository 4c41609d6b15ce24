"""The console in a terminal on a system without inotify, /proc and the rest of what Linux alone has."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from tests.bare import ROOT
from tests.conftest import Start
from tests.mailboxes import MailFiles


def test_it_shows_mail_as_it_comes_and_sends(tmp_path: Path, terminal: Start) -> None:
    mail = MailFiles(tmp_path, now=time.time())
    mail.agent("ann-00000001", role="architect", tags=["project:ink"])
    mail.message("m-1", "ann-00000001", "user", "Is it there?", ago=60, subject="A question")
    program = [sys.executable, "-m", "tests.elsewhere.program", "macos", "open", mail.url]
    shown = terminal(program, size=(80, 24), PYTHONPATH=str(ROOT))
    shown.wait_for("A question")
    mail.message("m-2", "ann-00000001", "user", "It came.", ago=0, subject="News")
    shown.wait_for("News")
    shown.press("r")
    shown.wait_for("reaches ann-00000001")
    shown.send("It is here.")
    shown.wait_for("It is here.")
    shown.press("ctrl+s")
    shown.wait_for(lambda _: '"It is here."' in mail.mailbox.read_text())
    shown.wait_gone("reaches ann-00000001")
    shown.press("q")
    assert shown.wait_exit() == 0
