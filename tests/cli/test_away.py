"""`signalbox away`: what the card of the console tells, as text and as JSON."""

from __future__ import annotations

import time
from pathlib import Path

from tests.cli.conftest import Run
from tests.mailboxes import MailFiles, iso


def test_what_happened_is_told_as_text_and_as_json(run: Run, tmp_path: Path) -> None:
    mail = MailFiles(tmp_path, now=time.time())
    mail.agent("ann-00000001")
    mail.agent("ded-00000001", "dead", ended_at=iso(mail.now - 600))
    mail.message("old", "ann-00000001", "user", "Long ago.", ago=90000, subject="Old")
    mail.message("you", "ann-00000001", "user", "May I?", ago=3000, subject="A wish\x1b[2J", type="question")
    mail.message("lost", "ann-00000001", "ded-00000001", "There?", ago=2000, subject="Lost")
    shown = run("away", "--store", mail.url).out
    assert shown.startswith("2 messages in 2 threads since ")
    for words in ("for you", "open question", "dead letter", "ended", "A wish"):
        assert words in shown
    assert "\x1b" not in shown
    found = run("away", "--json", "--since", "2h", "--store", mail.url).document
    assert (found["messages"], found["for_you"], found["questions"]) == (2, ["you"], ["you"])
    assert found["dead_letters"] == [{"message_id": "lost", "recipient": "ded-00000001"}]
    assert found["ended"] == ["ded-00000001"]
    assert run("away", "--since", "40m", "--store", mail.url).out.startswith("1 message in 1 thread since ")
    assert run("away", "--since", "1m", "--store", mail.url).out.startswith("Nothing happened since ")
    assert run("away", "--since", "tomorrow", "--store", mail.url).status == 2
