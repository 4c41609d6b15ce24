"""What is written to a HAAK mailbox: whole lines in the dialect of its files (docs/formats/haak.md#writing)."""

from __future__ import annotations

import fcntl
import json
import re
import resource
from pathlib import Path
from typing import Any

import pytest

from mailstore.conformance.following import of, scanned
from mailstore.errors import MailboxBusy, StoreError
from mailstore.files import append
from mailstore.files.lines import LineFile
from mailstore.haak import HaakStore
from mailstore.haak.write import writer
from mailstore.records.draft import Draft, draft
from mailstore.records.message import Delivery, Intervention, Message, Receipt
from mailstore.records.roster import Agent, Status
from mailstore.store import Store
from tests.mailboxes import DIALECTS, NOW, STATES, Dialect, MailFiles, iso

ANN, BOB, EVE = "ann-00000001", "bob-00000001", "eve-00000001"
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
TABLE = ["id", "sender", "recipient", "timestamp", "subject", "content", "thread", "ttl_hours", "read_by"]
AMENDMENT = ["id", "from", "to", "ts", "subject", "body", "in_reply_to", "ttl", "read_by"]


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    return MailFiles(tmp_path)


def message(**more: Any) -> Draft:
    return draft(**{"sender": "user", "recipients": (ANN,), "content": "The text.", "subject": "About", **more})


def send(mail: MailFiles, **more: Any) -> Message:
    with HaakStore.open(mail.data) as store:
        return store.send(message(**more))


def last(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_bytes().splitlines()[-1]))


# Messages (1, 2, 3, 10, 12, 14)


def test_a_new_mailbox_speaks_as_the_table_does(mail: MailFiles) -> None:
    sent = send(mail)
    record = last(mail.mailbox)
    assert list(record) == TABLE
    assert record == {
        "id": sent.id,
        "sender": "user",
        "recipient": ANN,
        "timestamp": sent.timestamp,
        "subject": "About",
        "content": "The text.",
        "thread": None,
        "ttl_hours": None,
        "read_by": [],
    }
    assert UUID4.fullmatch(sent.id)
    assert STAMP.fullmatch(sent.timestamp)


@pytest.mark.parametrize(("table", "amendment", "names"), [(60, 39, TABLE), (39, 60, AMENDMENT), (100, 51, AMENDMENT)])
def test_a_message_is_written_in_the_words_of_most_of_the_last_hundred_lines(
    mail: MailFiles, table: int, amendment: int, names: list[str]
) -> None:
    for dialect, count in (("table", table), ("amendment", amendment)):
        mail.dialect = "table" if dialect == "table" else "amendment"
        for number in range(count):
            mail.message(f"{dialect}{number}", BOB, ANN, "x" * 2000, thread="root", ttl_hours=1)
    send(mail)
    assert list(last(mail.mailbox)) == names


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_is_sent_is_read_as_it_was_meant(tmp_path: Path, dialect: Dialect) -> None:
    mail = MailFiles(tmp_path, dialect=dialect)
    mail.message("root", BOB, ANN)
    sent = send(
        mail,
        recipients=("project:ink", "concern:rules"),
        content="Line one.\r\nLine \u2028two \x00 “é” 😀 @" + EVE,
        thread="root",
        ttl_hours=36,
        type="question",
    )
    with HaakStore.open(mail.data) as store:
        found = next(one for one in of(Message, scanned(store)) if one.id == sent.id)
        assert found == sent
        assert store.content(found) == "Line one.\r\nLine \u2028two \x00 “é” 😀 @" + EVE
    assert (found.recipients, found.thread, found.ttl_hours) == (("project:ink", "concern:rules"), "root", 36)
    assert (found.type, found.mentions) == ("question", (EVE,))
    assert mail.mailbox.read_bytes().count(b"\n") == 2


def test_a_message_without_a_subject_is_written_without_one(mail: MailFiles) -> None:
    assert send(mail, subject="").subject == "The text."
    assert "subject" not in last(mail.mailbox)


def test_for_whom_a_message_is_at_this_moment_is_written_beside_it(mail: MailFiles) -> None:
    sent = send(mail, recipients=("all",), audience=(ANN, BOB))
    with HaakStore.open(mail.data) as store:
        found = of(Delivery, scanned(store))
    assert [(one.message_id, one.recipient) for one in found] == [(sent.id, ANN), (sent.id, BOB)]


def test_a_file_that_an_archival_puts_in_place_meanwhile_is_looked_at_anew(
    mail: MailFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Overtaken(LineFile):
        times = 0

        def part(self, size: int) -> LineFile:
            found = super().part(size)
            if not Overtaken.times:
                new = self.path.with_name("new")
                new.write_bytes(self.path.read_bytes())
                new.replace(self.path)
            Overtaken.times += 1
            return found

    monkeypatch.setattr(writer, "LineFile", Overtaken)
    mail.message("m", "ann-00000001", "bob-00000001")
    with HaakStore.open(mail.data) as store:
        assert store.send(draft(sender="user", recipients=("bob-00000001",), content="Hello.")).id
    assert Overtaken.times == 2


def test_what_stands_in_a_mailbox_is_never_touched(mail: MailFiles) -> None:
    mail.line(b'no record\r\n\x00\x00{"torn": ')
    before = mail.mailbox.read_bytes()
    sent = send(mail)
    after = mail.mailbox.read_bytes()
    assert after.startswith(before + b"\n")
    assert sent.location is not None
    assert after[sent.location.offset :][: sent.location.length] == after.splitlines()[-1]


def test_a_field_that_is_no_text_is_refused_and_nothing_written(mail: MailFiles) -> None:
    with HaakStore.open(mail.data) as store:
        with pytest.raises(StoreError, match="not valid Unicode"):
            store.update_agent(Agent(ANN, role="half a pair: \ud83d"))
        with pytest.raises(StoreError, match="not valid Unicode"):
            store.mark_read(ANN, ["m", "\ud83d"])
    assert [path.name for path in mail.data.iterdir() if path.stat().st_size] == []


# Reads (4, 5)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_read_is_written_to_the_file_of_reads_alone(tmp_path: Path, dialect: Dialect) -> None:
    mail = MailFiles(tmp_path, dialect=dialect)
    mail.message("m", BOB, ANN)
    before = mail.mailbox.read_bytes()
    with HaakStore.open(mail.data) as store:
        assert store.mark_read(ANN, ["m", "m"]) == 1
    record = last(mail.reads)
    assert list(record) == ["message_id", "reader_session_id", "timestamp"]
    assert (record["message_id"], record["reader_session_id"]) == ("m", ANN)
    assert STAMP.fullmatch(record["timestamp"])
    assert mail.mailbox.read_bytes() == before


def test_what_a_reader_has_read_already_is_not_written_again(mail: MailFiles) -> None:
    mail.read("old", ANN)
    mail.line({"msg_id": "odd", "by": ANN}, mail.reads)
    mail.read("other", BOB)
    with HaakStore.open(mail.data) as store:
        assert store.mark_read(ANN, ["old", "odd", "other", "new"]) == 2
        assert store.mark_read(ANN, ["old", "odd", "other", "new"]) == 0
        found = [one.message_id for one in of(Receipt, scanned(store)) if one.reader == ANN]
    assert sorted(found) == ["new", "odd", "old", "other"]


# The roster (17)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_roster_of_lines_gets_one_more_in_its_own_words(tmp_path: Path, dialect: Dialect) -> None:
    mail = MailFiles(tmp_path, dialect=dialect)
    for number in range(3):
        mail.agent(f"agent-{number:08}", "frozen", started_at=iso(NOW), flavour=number)
    before = mail.roster.read_bytes()
    with HaakStore.open(mail.data) as store:
        store.update_agent(Agent("agent-00000001", role="clerk", status=Status.FROZEN, started_at=NOW))
    record = last(mail.roster)
    status, started = ("status", "started_at") if dialect == "table" else ("state", "registered")
    assert mail.roster.read_bytes().startswith(before)
    assert (record["role"], record["flavour"], record[started]) == ("clerk", 1, iso(NOW))
    assert record[status] == (STATES["frozen"] if dialect == "amendment" else "frozen")
    assert STAMP.fullmatch(record["updated"])


def test_a_roster_that_is_a_document_is_replaced_at_once(mail: MailFiles) -> None:
    document = mail.data / "agent-roster.json"
    document.write_text(json.dumps({"version": 3, "agents": [{"session_id": ANN, "state": "live", "model": "x"}]}))
    document.chmod(0o640)
    before = document.read_text()
    with document.open() as old, HaakStore.open(mail.data) as store:
        store.update_agent(Agent(ANN, status=Status.DEAD, ended_at=NOW))
        assert old.read() == before
        store.update_agent(Agent(BOB, role="clerk"))
    written = json.loads(document.read_text())
    assert written["version"] == 3
    assert [(one["session_id"], one["state"]) for one in written["agents"]] == [(ANN, "dead"), (BOB, "live")]
    assert written["agents"][0]["model"] == "x"
    assert document.stat().st_mode & 0o777 == 0o640
    assert not mail.roster.exists()
    assert [path.name for path in mail.data.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("text", ['{"agents": [', "17"])
def test_a_roster_document_that_is_none_is_left_as_it_is(mail: MailFiles, text: str) -> None:
    document = mail.data / "agent-roster.json"
    document.write_text(text)
    with HaakStore.open(mail.data) as store, pytest.raises(StoreError, match="agent-roster"):
        store.update_agent(Agent(ANN))
    assert document.read_text() == text


# The journal


def test_what_the_person_did_is_written_to_the_journal(mail: MailFiles) -> None:
    done = Intervention("i", "user", "forward", NOW, "m", "because", {"to": [ANN]})
    with HaakStore.open(mail.data) as store:
        store.record(done)
        assert of(Intervention, scanned(store)) == [done]


# What is refused


def commands(store: Store) -> list[Any]:
    return [
        lambda: store.send(message(audience=(ANN,))),
        lambda: store.mark_read(ANN, ["m"]),
        lambda: store.update_agent(Agent(ANN)),
        lambda: store.record(Intervention("i", "user", "note", NOW)),
    ]


@pytest.mark.parametrize("command", range(4))
def test_while_another_program_holds_the_lock_a_writer_gives_up_in_time(
    mail: MailFiles, command: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(append, "PATIENCE_SECONDS", 0.01)
    files = [mail.mailbox, mail.reads, mail.roster, mail.data / "agent-mailbox-oversight.jsonl"]
    with files[command].open("ab") as held, HaakStore.open(mail.data) as store:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(MailboxBusy, match=files[command].name):
            commands(store)[command]()
    assert not [path for path in mail.data.iterdir() if path.stat().st_size]


@pytest.mark.parametrize("command", range(4))
def test_a_file_that_is_a_folder_is_refused_and_nothing_written(mail: MailFiles, command: int) -> None:
    store = HaakStore.open(mail.data)
    mail.mailbox.unlink()
    for path in (mail.mailbox, mail.reads, mail.roster, mail.data / "agent-mailbox-oversight.jsonl"):
        path.mkdir()
    with pytest.raises(StoreError):
        commands(store)[command]()
    assert not [path for path in mail.data.iterdir() if path.is_file() and path.stat().st_size]


def test_on_a_full_disk_nothing_is_kept_of_a_message(mail: MailFiles) -> None:
    (mail.data / "agent-mailbox-deliveries.jsonl").symlink_to("/dev/full")
    with HaakStore.open(mail.data) as store, pytest.raises(StoreError, match="disk"):
        store.send(message(audience=(ANN,)))
    assert mail.mailbox.read_bytes() == b""


@pytest.mark.parametrize("room", [0, 1, 50])
def test_where_only_a_part_of_a_message_fits_nothing_is_kept_of_it(mail: MailFiles, room: int) -> None:
    mail.message("m", BOB, ANN)
    before = mail.mailbox.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with HaakStore.open(mail.data) as store:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + room, hard))
        try:
            with pytest.raises(StoreError):
                store.send(message(content="x" * 2000, audience=(ANN,)))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert mail.mailbox.read_bytes() == before
        assert not (mail.data / "agent-mailbox-deliveries.jsonl").read_bytes()
