"""What led to a message: answers, and the reads before what begins a thread."""

from __future__ import annotations

from pathlib import Path

import pytest

from mailstore.haak import HaakStore
from mailstore.queries import causes as module
from mailstore.queries.causes import Because, causes
from mailstore.state.mailbox import Mailbox
from tests.mailboxes import HOUR, NOW, MailFiles

ANN, BOB, CID = "ann-00000001", "bob-00000001", "cid-00000001"


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path)
    for name in (ANN, BOB, CID):
        mail.agent(name, tags=["project:x"])
    return mail


def chain(mail: MailFiles, message_id: str) -> list[tuple[str, Because | None, float | None]]:
    mailbox = Mailbox()
    with HaakStore.open(mail.data) as store:
        for batch in store.scan():
            mailbox.fold(batch, NOW)
    message = mailbox.message(message_id)
    assert message is not None
    *_, found = causes(mailbox, message)
    assert isinstance(found, list)
    return [(it.message.id, it.because, None if it.read is None else NOW - it.read) for it in found]


def test_an_answer_leads_back_and_a_new_thread_to_what_its_sender_read_last(mail: MailFiles) -> None:
    mail.message("order", "user", ANN, "Clean up.", ago=2000)
    mail.read("order", ANN, ago=1900)
    mail.message("done", ANN, "user", "Which?", ago=1800, thread="order")
    mail.message("task", ANN, BOB, "Delete the old ones.", ago=1700)
    mail.message("talk", CID, "project:x", "Lunch?", ago=1650)
    mail.read("task", BOB, ago=1600)
    mail.read("talk", BOB, ago=1550)
    mail.message("delete", BOB, CID, "Please delete.", ago=1500)
    mail.read("delete", CID, ago=1400)
    mail.read("order", CID, ago=1000)
    mail.message("gone", CID, BOB, "Deleted.", ago=1300, thread="delete")
    assert chain(mail, "gone") == [
        ("order", None, None),
        ("task", Because.READ, 1900),
        ("delete", Because.READ, 1600),
        ("gone", Because.ANSWERS, 1400),
    ], "mail by name before the channel's, though that was read later"
    assert chain(mail, "order") == [("order", None, None)]


def test_what_was_read_too_long_before_or_afterwards_or_at_no_time_led_to_nothing(mail: MailFiles) -> None:
    mail.message("early", CID, BOB, "Long ago.", ago=5 * HOUR)
    mail.read("early", BOB, ago=4 * HOUR)
    mail.message("late", CID, BOB, "Read later.", ago=2 * HOUR)
    mail.message("undated", CID, BOB, "Read at some time.", ago=2 * HOUR, read_by=[BOB])
    mail.message("own", BOB, CID, "Mine.", ago=1.5 * HOUR)
    mail.read("late", BOB, ago=HOUR)
    assert chain(mail, "own") == [("own", None, None)]
    mail.message("channel", CID, "project:x", "Only this.", ago=1.8 * HOUR)
    mail.read("channel", BOB, ago=1.7 * HOUR)
    assert chain(mail, "own") == [("channel", None, None), ("own", Because.READ, 1.7 * HOUR)]


def test_a_circle_of_answers_and_a_long_chain_end(mail: MailFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    mail.message("a", ANN, BOB, "One.", ago=300, thread="c")
    mail.message("b", BOB, ANN, "Two.", ago=200, thread="a")
    mail.message("c", ANN, BOB, "Three.", ago=100, thread="b")
    assert [each[0] for each in chain(mail, "c")] == ["a", "b", "c"]
    mail.message("lost", ANN, BOB, "To nothing.", ago=90, thread="absent")
    assert [each[0] for each in chain(mail, "lost")] == ["lost"]
    monkeypatch.setattr(module, "LONGEST", 2)
    assert [each[0] for each in chain(mail, "c")] == ["b", "c"]
