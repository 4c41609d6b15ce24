"""`signalbox attention`: concerns as text and as JSON, limits as settings."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tests.cli.conftest import Run
from tests.mailboxes import MailFiles


def write_mail(folder: Path) -> MailFiles:
    mail = MailFiles(folder, now=time.time())
    mail.agent("ann-00000001")
    mail.agent("bob-00000001")
    mail.message("ask", "ann-00000001", "bob-00000001", "Well?\x1b[2J", ago=45 * 60, type="question")
    return mail


def test_each_concern_has_a_reason_and_a_message(run: Run, tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    (row,) = run("attention", "--json", "--store", mail.url).document
    assert (row["trouble"], row["who"], row["message_id"]) == ("question", "ann-00000001", "ask")
    assert "asked bob-00000001 and was not answered  ask" in run("attention", "--store", mail.url).out


def test_a_limit_can_be_set_and_a_wrong_one_is_told(run: Run, tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    settings = Path(os.environ["XDG_CONFIG_HOME"]) / "signalbox" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("[attention]\nquestion_minutes = 60\nunread_minutes = -1\nloop_mesages = 3\n")
    done = run("attention", "--store", mail.url)
    assert done.out == "Nothing needs attention\n"
    assert "[attention]: unread_minutes must be a number above 0" in done.err
    assert 'unknown setting "loop_mesages"; did you mean "loop_messages"?' in done.err
