"""The files of AgentAZAll's messages: listed with what is missing, opened, and nothing beside them."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from mailstore.conformance.following import scanned
from mailstore.delegating import ReadOnly
from mailstore.errors import ContentGone
from mailstore.kinds.agentazall.store import AgentAZAllStore
from mailstore.records.details import AttachedFile
from mailstore.records.message import Location, Message
from mailstore.records.scope import url_of
from mailstore.registry import open_store
from mailstore.store import Store
from tests.kinds.agentazall.agentazall_mail import DAY, ROOT, AgentAZAllMail


def message_in(store: Store, message_id: str) -> Message:
    return next(event for event in scanned(store) if isinstance(event, Message) and event.id == message_id)


def test_the_files_that_the_program_attached_are_listed_and_opened() -> None:
    with AgentAZAllStore.open(ROOT) as store:
        message = message_in(store, "639f15837132")
        found = store.attachments(message)
        assert [(file.name, bool(file.size), file.problem) for file in found] == [
            ("att_blob.bin", True, ""),
            ("att_report.csv", True, ""),
        ]
        for file in found:
            with store.open_attachment(message, file.name) as opened:
                assert len(opened.read()) == file.size
        assert not store.attachments(message_in(AgentAZAllStore.open(ROOT), "4d15c1f79f99"))


def test_stores_that_stand_for_others_pass_them_on() -> None:
    with open_store(url_of({"lab": f"agentazall:{ROOT}", "memory": "memory:"})) as store:
        message = message_in(store, "lab/639f15837132")
        for asked in (store, ReadOnly(store, "read-only")):
            assert [file.name for file in asked.attachments(message)] == ["att_blob.bin", "att_report.csv"]
            with asked.open_attachment(message, "att_report.csv") as file:
                assert file.read()
    with open_store("memory:") as store:
        assert not store.attachments(message)
        with pytest.raises(ContentGone):
            store.open_attachment(message, "att_report.csv")


def test_what_is_no_file_is_listed_with_the_reason_and_never_opened(tmp_path: Path) -> None:
    mail = AgentAZAllMail(tmp_path)
    secret = tmp_path / "secret"
    secret.write_text("mine")
    mail.message("ann@localhost/inbox", "m", Attachments="good.txt, late.txt")
    beside = mail.root / "ann@localhost" / DAY / "inbox" / "m"
    (beside / "folder").mkdir(parents=True)
    (beside / "good.txt").write_text("Good.")
    (beside / "link").symlink_to(secret)
    os.mkfifo(beside / "pipe")
    with AgentAZAllStore.open(mail.root) as store:
        # a scan waits a moment for what is missing
        place = Location(f"ann@localhost/{DAY}/inbox/m.txt", 0, 0)
        message = Message("m", "bob@localhost", ("ann@localhost",), "", 0.0, "", location=place)
        assert store.attachments(message) == [
            AttachedFile("folder", None, "not a regular file"),
            AttachedFile("good.txt", 5),
            AttachedFile("late.txt", None, "named in the header, and not there"),
            AttachedFile("link", None, "symbolic link: links are not followed"),
            AttachedFile("pipe", None, "not a regular file"),
        ]
        for name in ("folder", "link", "pipe", "late.txt", "../m.txt", "..", "", "/etc/hostname", "good.txt\0"):
            with pytest.raises(ContentGone):
                store.open_attachment(message, name)
        (beside / "late.txt").write_text("At last.")
        with store.open_attachment(message, "late.txt") as file:
            assert file.read() == b"At last."


def test_a_folder_of_files_that_is_a_link_holds_nothing(tmp_path: Path) -> None:
    mail = AgentAZAllMail(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "x.txt").write_text("x")
    path = mail.message("ann@localhost/inbox", "m")
    path.with_suffix("").symlink_to(tmp_path / "elsewhere")
    with AgentAZAllStore.open(mail.root) as store:
        message = message_in(store, "m")
        assert not store.attachments(message)
        with pytest.raises(ContentGone):
            store.open_attachment(message, "x.txt")


def test_what_one_copy_lacks_another_has(tmp_path: Path) -> None:
    mail = AgentAZAllMail(tmp_path)
    mail.message("ann@localhost/inbox", "m", Attachments="a.txt")
    mail.message("bob@localhost/sent", "m", Attachments="a.txt")
    beside = mail.root / "bob@localhost" / DAY / "sent" / "m"
    beside.mkdir()
    (beside / "a.txt").write_text("A.")
    with AgentAZAllStore.open(mail.root) as store:
        message = message_in(store, "m")
        assert store.attachments(message) == [AttachedFile("a.txt", 2)]
        with store.open_attachment(message, "a.txt") as file:
            assert file.read() == b"A."


def test_a_copy_with_another_id_has_its_files_too(tmp_path: Path) -> None:
    mail = AgentAZAllMail(tmp_path)
    mail.message("ann@localhost/inbox", "m")
    mail.message("ann@localhost/inbox", "1763_bob_0a1b2c3d", Attachments="r.txt")
    beside = mail.root / "ann@localhost" / DAY / "inbox" / "1763_bob_0a1b2c3d"
    beside.mkdir()
    (beside / "r.txt").write_text("By relay.")
    with AgentAZAllStore.open(mail.root) as store:
        message = message_in(store, "m")
        assert not store.attachments(message)
        place = f"ann@localhost/{DAY}/inbox/1763_bob_0a1b2c3d.txt"
        assert [file.name for file in store.attachments(message, [place, "../../x", "a/b/../c.txt"])] == ["r.txt"]


def test_a_message_without_its_files_is_shown_though_a_clock_was_a_year_ahead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail = AgentAZAllMail(tmp_path)
    mail.message("ann@localhost/inbox", "m", Attachments="late.txt")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now - 31_536_000)
    with AgentAZAllStore.open(mail.root) as store:
        events = [event for batch in store.scan() for event in batch]
    assert [event.id for event in events if isinstance(event, Message)] == ["m"]
