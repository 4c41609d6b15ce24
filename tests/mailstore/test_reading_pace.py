"""How soon agents read: the median of their latest dated reads, nothing where there are few."""

from __future__ import annotations

from pathlib import Path

import pytest

from mailstore.haak import HaakStore
from mailstore.queries import reading_pace as module
from mailstore.queries.reading_pace import reading_pace
from mailstore.state.mailbox import Mailbox
from tests.mailboxes import NOW, MailFiles

ANN, BOB, CID = "ann-00000001", "bob-00000001", "cid-00000001"


def pace(mail: MailFiles) -> dict[str, float]:
    mailbox = Mailbox()
    with HaakStore.open(mail.data) as store:
        for batch in store.scan():
            mailbox.fold(batch, NOW)
    *_, found = reading_pace(mailbox)
    assert isinstance(found, dict)
    return found


def test_the_median_of_dated_reads_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mail = MailFiles(tmp_path)
    for name in (ANN, BOB, CID):
        mail.agent(name)
    for number, delay in enumerate((60, 600, 120, 30)):
        mail.message(f"m{number}", ANN, [BOB, CID], "Text", ago=5000 - 1000 * number)
        mail.read(f"m{number}", BOB, ago=5000 - 1000 * number - delay)
    mail.read("m0", CID, ago=4000)
    mail.read("m1", CID, ago=9000)
    assert pace(mail) == {BOB: 90.0}, "cid has one read, and one before the message"
    monkeypatch.setattr(module, "MOST_READS", 3)
    assert pace(mail) == {BOB: 120.0}, "the latest"
    monkeypatch.setattr(module, "MOST_MESSAGES", 2)
    assert pace(mail) == {}


def test_an_empty_mailbox_says_nothing(tmp_path: Path) -> None:
    assert pace(MailFiles(tmp_path)) == {}
