"""Where a HAAK mailbox lies, and where a new one belongs."""

from __future__ import annotations

from pathlib import Path

import pytest

from mailstore.conformance.following import ids, scanned
from mailstore.errors import MailboxMissing, StoreError
from mailstore.haak import HaakStore
from mailstore.records.roster import Agent
from tests.mailboxes import MailFiles


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path)
    mail.message("m", "bob", "ann")
    return mail


def everything(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


# Recognising


def test_a_mailbox_is_found_by_its_project_its_folder_and_its_file(mail: MailFiles) -> None:
    for path in (mail.data.parent, mail.data, mail.mailbox):
        assert HaakStore.recognise(path)
        with HaakStore.open(path) as store:
            assert store.url == f"haak:{mail.mailbox.resolve()}"
            assert store.title == "data/agent-mailbox.jsonl"
            assert ids(scanned(store)) == {"m": 1}


def test_an_empty_mailbox_file_is_a_mailbox(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    assert HaakStore.recognise(mail.mailbox)


@pytest.mark.parametrize(
    ("contents", "is_mail"),
    [
        (b'{"id": "m", "from": "a", "to": "b", "body": "x"}\n', True),
        (b"\nno json\n" + b'{"id": "m", "from": "a", "to": "b", "body": "x"}', True),
        (b'{"message_id": "m", "reader_session_id": "a"}\n' * 5, False),
        (b"", False),
        (b"\x00" * 5_000_000, False),
    ],
    ids=["mail", "mail-after-damage", "reads", "empty", "zeros"],
)
def test_a_file_of_another_name_is_a_mailbox_if_its_first_lines_are_mail(
    tmp_path: Path, contents: bytes, is_mail: bool
) -> None:
    path = tmp_path / "letters.jsonl"
    path.write_bytes(contents)
    assert HaakStore.recognise(path) == is_mail


def test_the_files_beside_a_mailbox_have_its_name(mail: MailFiles) -> None:
    path = mail.data / "letters.jsonl"
    mail.mailbox.rename(path)
    mail.line({"message_id": "m", "reader": "ann", "ts": "2026-01-01T00:00:00Z"}, mail.data / "letters-reads.jsonl")
    with HaakStore.open(path) as store:
        assert len(scanned(store)) > 2
        assert store.mark_read("ann", ["m", "n"]) == 1
        store.update_agent(Agent("ann"))
    assert everything(mail.data) == {"letters.jsonl", "letters-reads.jsonl", "agent-roster.jsonl"}


@pytest.mark.parametrize("name", ["nowhere", "data/agent-roster.json", "data", "file.txt"])
def test_what_is_no_mailbox_is_not_recognised(tmp_path: Path, name: str) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "agent-roster.json").write_text("[]")
    (tmp_path / "file.txt").write_text("x")
    assert not HaakStore.recognise(tmp_path / name)
    with pytest.raises(MailboxMissing):
        HaakStore.open(tmp_path / name)


def test_a_link_to_a_mailbox_is_the_mailbox_it_stands_beside(mail: MailFiles, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "agent-mailbox.jsonl").symlink_to(mail.mailbox)
    (tmp_path / "linked").symlink_to(mail.data)
    with HaakStore.open(folder) as store:
        assert store.url == f"haak:{folder / 'agent-mailbox.jsonl'}"
    with HaakStore.open(tmp_path / "linked") as store:
        assert store.url == f"haak:{mail.mailbox}"


# Creating


@pytest.mark.parametrize(
    ("there", "path", "made"),
    [
        ([], "project", {"project/data/agent-mailbox.jsonl", "project/data/agent-roster.jsonl"}),
        ([], "a/b/data", {"a/b/data/agent-mailbox.jsonl", "a/b/data/agent-roster.jsonl"}),
        (["p/agent-roster.json"], "p", {"p/agent-roster.json", "p/agent-mailbox.jsonl"}),
        (["p/agent-roster.jsonl"], "p", {"p/agent-roster.jsonl", "p/agent-mailbox.jsonl"}),
        (["p/other.json"], "p", {"p/other.json", "p/data/agent-mailbox.jsonl", "p/data/agent-roster.jsonl"}),
        ([], "p/letters.jsonl", {"p/letters.jsonl", "p/agent-roster.jsonl"}),
    ],
)
def test_a_new_mailbox_lies_where_it_belongs(tmp_path: Path, there: list[str], path: str, made: set[str]) -> None:
    for name in there:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("[]")
    with HaakStore.create(tmp_path / path) as store:
        assert not ids(scanned(store))
    assert everything(tmp_path) == made
    assert all((tmp_path / name).read_text() == "[]" for name in there)
    assert HaakStore.open(tmp_path / path).url == store.url


def test_a_mailbox_that_is_there_is_opened_and_left_as_it_is(mail: MailFiles) -> None:
    before = {path: path.read_bytes() for path in mail.data.iterdir()}
    with HaakStore.create(mail.data.parent) as store:
        assert ids(scanned(store)) == {"m": 1}
    assert {path: path.read_bytes() for path in mail.data.iterdir()} == before


def test_where_no_mailbox_can_be_made_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "roster.jsonl").write_text('{"session_id": "ann"}\n')
    for name in ("file", "file/below", "roster.jsonl"):
        with pytest.raises(StoreError) as refused:
            HaakStore.create(tmp_path / name)
        assert refused.value.remedy
    assert everything(tmp_path) == {"file", "roster.jsonl"}
