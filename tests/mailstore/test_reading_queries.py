"""How far the members of a channel have read it, and how soon agents read: by their latest dated reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from mailstore.haak import HaakStore
from mailstore.queries import reading
from mailstore.queries.reading import Frontiers, read_frontiers, reading_pace
from mailstore.state.mailbox import Mailbox
from tests.mailboxes import NOW, MailFiles, iso

ANN, BOB, CID, DED = "ann-00000001", "bob-00000001", "cid-00000001", "ded-00000001"
TAG = "project:ink"


def found(mail: MailFiles) -> Frontiers:
    mailbox = Mailbox()
    with HaakStore.open(mail.data) as store:
        for batch in store.scan():
            mailbox.fold(batch, NOW)
    *_, last = read_frontiers(mailbox, TAG, NOW)
    assert last is not None
    return last


def read_by_name(mail: MailFiles) -> dict[str, tuple[str | None, int, str | None]]:
    return {
        it.name: (
            it.newest_read.id if it.newest_read else None,
            it.unread,
            it.oldest_unread.id if it.oldest_unread else None,
        )
        for it in found(mail).members
    }


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path)
    for name in (ANN, BOB, CID):
        mail.agent(name, tags=[TAG])
    mail.agent(DED, "dead", tags=[TAG], ended_at=iso(NOW - 250))
    mail.agent("other-00000001")
    for number in range(5):
        mail.message(f"m{number}", ANN, TAG, f"Part {number}", ago=500 - 100 * number)
    mail.message("aside", ANN, "other-00000001", "Not here", ago=50)
    return mail


def test_each_member_has_the_newest_it_read_and_the_oldest_it_did_not(mail: MailFiles) -> None:
    for number in (0, 1, 3):
        mail.read(f"m{number}", BOB, ago=40)
    mail.read("m0", DED, ago=300)
    assert read_by_name(mail) == {
        ANN: (None, 0, None),
        BOB: ("m3", 2, "m2"),
        CID: (None, 5, "m0"),
        DED: ("m0", 2, "m1"),
    }
    assert [it.name for it in found(mail).members] == [CID, DED, BOB, ANN], "the furthest behind first"


def test_a_long_channel_is_looked_at_from_its_end(mail: MailFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (found(mail).messages, found(mail).is_all) == (5, True)
    monkeypatch.setattr(reading, "MOST_MESSAGES", 2)
    assert (found(mail).messages, found(mail).is_all) == (2, False)
    assert read_by_name(mail)[BOB] == (None, 2, "m3")


def test_a_channel_without_mail_has_its_members(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent(BOB, tags=[TAG])
    assert read_by_name(mail) == {BOB: (None, 0, None)}


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
    monkeypatch.setattr(reading, "MOST_READS", 3)
    assert pace(mail) == {BOB: 120.0}, "the latest"
    monkeypatch.setattr(reading, "MOST_MESSAGES", 2)
    assert pace(mail) == {}


def test_an_empty_mailbox_says_nothing(tmp_path: Path) -> None:
    assert pace(MailFiles(tmp_path)) == {}
