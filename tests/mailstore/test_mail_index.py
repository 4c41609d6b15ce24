"""The index of a long mailbox tells the same as reading all of it, or is not used."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mailstore.folding import fold_store
from mailstore.haak import HaakStore, store
from mailstore.haak.quick import mail_index
from mailstore.haak.quick.mail_index import kept_index
from mailstore.haak.quick.quick_unread import Unusual, quick_unread
from tests.mailboxes import HOUR, NOW, MailFiles
from tests.mailstore.indexes import note

ANN, BOB = "ann-00000001", "bob-00000001"


@pytest.fixture
def mail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MailFiles:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    mail = MailFiles(tmp_path)
    mail.agent(ANN, role="clerk")
    mail.agent(BOB)
    for number, to in enumerate((ANN, BOB, "clerk", "all", ANN)):
        mail.message(f"m{number}", BOB, to, f"Text {number} @{ANN}", ago=60)
    mail.read("m0", ANN)
    return mail


def unread(mail: MailFiles, reader: str = ANN, now: float = NOW) -> list[str]:
    return [message.id for message in quick_unread(str(mail.mailbox), reader, now)]


def is_indexed(mail: MailFiles) -> bool:
    return kept_index(str(mail.mailbox), str(mail.reads), NOW) is not None


def test_what_was_noted_is_not_read_again(mail: MailFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    before = unread(mail)
    note(mail)
    mail.read("m4", ANN)
    mail.message("m5", BOB, ANN, ago=30)
    read: list[int] = []
    original = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, size, at: [read.append(at), original(fd, size, at)][1])
    assert unread(mail) == [*(each for each in before if each != "m4"), "m5"]
    assert is_indexed(mail)
    assert 0 not in read, "the message that was read before"


def test_an_expired_broadcast_is_left_out_unless_its_recipient_was_frozen(mail: MailFiles) -> None:
    later = NOW + 5 * HOUR
    note(mail)
    assert "m3" in unread(mail)
    assert "m3" not in unread(mail, BOB, later)
    mail.agent(ANN, role="clerk", status="frozen")
    mail.agent(ANN, role="clerk")
    assert "m3" in unread(mail, ANN, later), "nobody knows for how long it was frozen"


def rewrite(mail: MailFiles) -> None:
    data = mail.mailbox.read_bytes().replace(b"Text", b"text")
    mail.mailbox.write_bytes(data)


def replace(mail: MailFiles) -> None:
    new = mail.mailbox.with_name("new")
    new.write_bytes(mail.mailbox.read_bytes())
    new.replace(mail.mailbox)


def shorten(mail: MailFiles) -> None:
    mail.mailbox.write_bytes(b"".join(mail.mailbox.read_bytes().splitlines(keepends=True)[:3]))


def lengthen_reads(mail: MailFiles) -> None:
    mail.reads.write_bytes(b"\n" + mail.reads.read_bytes())


def index_of(mail: MailFiles) -> Path:
    (path,) = (mail.data.parent / "cache/signalbox/folded").glob("*.index")
    return path


def damage(mail: MailFiles) -> None:
    path = index_of(mail)
    path.write_bytes(path.read_bytes()[:-8])


def empty(mail: MailFiles) -> None:
    index_of(mail).write_bytes(b"")


@pytest.mark.parametrize("change", [rewrite, replace, shorten, lengthen_reads, damage, empty])
def test_an_index_that_does_not_hold_is_not_used(
    change: Callable[[MailFiles], None], mail: MailFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    note(mail)
    assert is_indexed(mail)
    change(mail)
    assert not is_indexed(mail)
    assert unread(mail)
    monkeypatch.setattr(mail_index, "LONG", 1)
    with pytest.raises(Unusual, match="a long mailbox"):
        unread(mail)


def test_a_mailbox_that_has_grown_much_is_noted_anew(mail: MailFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "LONG", 1)
    for module in (store, mail_index):
        monkeypatch.setattr(module, "FAR", 1000)

    def fold() -> None:
        with HaakStore.open(mail.data) as opened:
            fold_store(opened, "user", NOW)

    fold()
    assert is_indexed(mail)
    mail.message("long", BOB, ANN, "word " * 400, ago=20)
    assert not is_indexed(mail)
    fold()
    assert is_indexed(mail)
    assert "long" in unread(mail)


def test_an_id_that_was_noted_is_not_used_twice(mail: MailFiles) -> None:
    note(mail)
    mail.message("m1", BOB, ANN, ago=10)
    with pytest.raises(Unusual, match="twice"):
        unread(mail)


def test_a_read_record_may_come_before_its_message(mail: MailFiles) -> None:
    mail.read("late", ANN)
    note(mail)
    mail.message("late", BOB, ANN, ago=10)
    mail.message("later", BOB, ANN, ago=10)
    assert [each for each in unread(mail) if each.startswith("late")] == ["later"]


def test_duplicates_are_not_noted(mail: MailFiles) -> None:
    mail.message("m1", BOB, ANN, ago=10)
    note(mail)
    assert not is_indexed(mail)
