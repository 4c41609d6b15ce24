"""Runs of teams: what the program itself wrote, what becomes of it when it is deleted, and what is written there."""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest

from mailstore.conformance.following import of, scanned
from mailstore.errors import DraftRefused, MailboxBusy, StoreError
from mailstore.kinds.omo import journal, source, writer
from mailstore.kinds.omo.store import OmoStore
from mailstore.records.draft import draft
from mailstore.records.events import Event, Reset
from mailstore.records.message import Delivery, Message, Problem, Receipt
from mailstore.records.roster import Agent, Status
from mailstore.registry import open_store, recognised_kind
from mailstore.store import Capability
from tests.kinds.omo.omo_harness import RunFolder
from tests.mailstore.owners import snapshot

REAL = Path(__file__).parents[2] / "fixtures" / "omo"
DOCS, TESTS = "cbe53d92-def9-4c07-975b-de099634710f", "eee3e8ad-8d8d-41d4-9783-e14d7097d791"
UUID = "0b6f9a1e-6a3a-4c11-9f6e-{:012d}"
NAMES = ("lead", "ann", "bob")


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Return a base folder with the runs that the real program wrote."""
    return Path(shutil.copytree(REAL, tmp_path / ".omo"))


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    run = RunFolder(tmp_path / ".omo" / "runtime" / UUID.format(0))
    run.make(*NAMES)
    return run


def message(number: int, sender: str = "lead", to: str = "ann", **more: Any) -> dict[str, Any]:
    known = {"messageId": UUID.format(number), "from": sender, "to": to, "kind": "message", "body": f"No. {number}."}
    return {"version": 1, **known, "timestamp": 1_773_662_400_000 + number, **more}


def changed(store: OmoStore) -> list[Event]:
    return [event for batch in store.news() for event in batch]


def by_subject(events: list[Event]) -> dict[str, Message]:
    return {one.subject: one for one in of(Message, events)}


def test_what_the_program_wrote(base: Path) -> None:
    before = snapshot(base)
    assert recognised_kind(base) == recognised_kind(base.parent) == "omo"
    with OmoStore.open(base / "runtime" / DOCS) as store:
        events = scanned(store)
        mail = by_subject(events)
        assert store.content(mail["The guide"]).endswith("Start with the *install* page.")
        assert json.loads(store.raw(mail["The guide"]))["summary"] == "The guide"
    assert snapshot(base) == before
    assert not of(Problem, events)
    guide, asked, freeze = mail["The guide"], mail["Can you look at src/guide.txt?"], mail["Freeze"]
    assert (guide.sender, guide.recipients) == ("lead", ("writer",))
    assert guide.tags == ("reference:src/guide.txt (where it goes)", "reference:README.md")
    assert mail["The guide is done. @reviewer has seen it."].thread == guide.id
    assert mail["Two typos, else fine."].thread == asked.id
    assert (freeze.recipients, freeze.type, freeze.is_listed) == (("all",), "announcement", True)
    assert {one.recipient for one in of(Delivery, events) if one.message_id == freeze.id} == {"reviewer", "writer"}
    assert mail["Asks to shut down"].type == "shutdown_request"
    assert [(one.message_id, one.reader) for one in of(Receipt, events)] == [(guide.id, "writer")]
    # reserved and handed over, but not acknowledged: delivered
    assert Delivery(asked.id, "reviewer") in events
    agents = {one.session_id: one for one in of(Agent, events)}
    assert (agents["reviewer"].status, agents["writer"].status) == (Status.DEAD, Status.LIVING)
    assert agents["writer"].activity == "running: Writing the guide"


def test_several_runs_are_one_mailbox(base: Path) -> None:
    with open_store(base) as store:
        events = scanned(store)
    assert {one.session_id.partition("@")[2] for one in of(Agent, events)} == {"docs-cbe53d92", "tests-eee3e8ad"}
    assert len(of(Message, events)) == 8


def test_each_copy_that_comes_later_adds_whom_the_message_reaches(run: RunFolder) -> None:
    path = run.send("bob", message(1, to="bob"))
    with OmoStore.open(run.path) as store:
        [first] = of(Message, scanned(store))
        run.process(path)
        run.send("ann", message(1, to="ann"))
        [again] = of(Message, changed(store))
    assert (again.id, again.location) == (first.id, first.location)
    assert (first.recipients, again.recipients) == (("bob",), ("ann", "bob"))


def test_a_message_that_moves_is_read_once(run: RunFolder) -> None:
    path = run.send("ann", message(1), prefix=".delivering-")
    with OmoStore.open(run.path) as store:
        assert len(of(Message, scanned(store))) == 1
        path = path.rename(path.with_name(path.name.removeprefix(".delivering-")))
        assert changed(store) == []
        run.change("ann", pendingInjectedMessageIds=[UUID.format(1)])
        assert of(Delivery, changed(store)) == [Delivery(UUID.format(1), "ann")]
        run.change("ann", pendingInjectedMessageIds=[])
        assert changed(store) == []
        run.process(path)
        assert changed(store) == [Receipt(UUID.format(1), "ann")]
        assert store.content(of(Message, scanned(OmoStore.open(run.path)))[0]) == "No. 1."


def test_what_is_deleted_stays_in_sight(base: Path, tmp_path: Path) -> None:
    with OmoStore.open(base) as store:
        before = by_subject(scanned(store))
        shutil.rmtree(base / "runtime" / TESTS)
        events = changed(store)
        assert not of(Reset, events)
        assert {one.session_id: one.status for one in of(Agent, events)} == {
            f"{name}@tests-eee3e8ad": Status.DEAD for name in ("lead", "writer", "reviewer")
        }
        assert any("has been gone since" in one.reason for one in of(Problem, events))
        shutil.rmtree(base / "runtime" / DOCS)
        changed(store)
        assert store.content(before["The guide"]).startswith("Please write")
    with OmoStore.open(base) as store:
        events = scanned(store)
        assert by_subject(events).keys() == before.keys()
        assert len(of(Receipt, events)) == 2
        with pytest.raises(DraftRefused, match="has been gone since"):
            store.send(draft(sender="user", recipients=("writer@docs-cbe53d92",), content="x"))
    with OmoStore.open(base / "runtime" / DOCS) as store:
        assert "has been gone since" in store.notice
        assert store.title == "docs-cbe53d92 (gone)"
        assert Capability.SEND not in store.capabilities
        assert "The guide" in by_subject(scanned(store))
    kept = [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o600}


def test_the_run_of_a_member_that_is_replaced_starts_with_its_state(run: RunFolder) -> None:
    with OmoStore.open(run.path) as store:
        scanned(store)
        run.change("ann", status="shutdown_approved")
        assert [one.status for one in of(Agent, changed(store))] == [Status.DEAD]
        run.write({**run.state(), "status": "orphaned"})
        assert {one.status for one in of(Agent, changed(store))} == {Status.DEAD}


def test_what_is_written_is_what_the_program_takes(run: RunFolder) -> None:
    with OmoStore.open(run.path) as store:
        scanned(store)
        sent = store.send(draft(sender="user", recipients=("ann", "bob"), content="Hello.", subject="Hi"))
        assert of(Message, changed(store)) == [sent]
        first, second = (run.inboxes / name / f"{sent.id}.json" for name in ("ann", "bob"))
        answer = store.send(draft(sender="human", recipients=("ann",), content="More.", thread=sent.id))
        assert answer.thread == sent.id
    written = json.loads(first.read_text())
    assert written | {"to": "bob"} == json.loads(second.read_text())
    assert {key: type(value) for key, value in written.items()} == {
        "version": int,
        "messageId": str,
        "from": str,
        "to": str,
        "body": str,
        "kind": str,
        "timestamp": int,
        "summary": str,
    }
    assert (written["from"], written["kind"]) == ("human", "message")
    assert not list(run.inboxes.glob("*.lock"))


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"sender": "ann"}, "can't send here"),
        ({"recipients": ("all",)}, "to whom only the lead may"),
        ({"recipients": ("../lead",)}, "not a member"),
        ({"recipients": ("eve",)}, "members: lead, ann, bob"),
        ({"content": "é" * 16_385}, "over 32 KiB"),
        ({"type": "shutdown_request"}, "the program's own"),
        ({"thread": "no-uuid"}, "not a UUID"),
        ({"thread": UUID.format(9)}, "not in this run"),
        ({"thread": "0b6f9a1e-6a3a-0c11-0f6e-000000000001"}, "not a UUID"),
    ],
)
def test_what_the_program_would_not_take_is_refused(run: RunFolder, fields: dict[str, Any], why: str) -> None:
    before = snapshot(run.path)
    with OmoStore.open(run.path) as store, pytest.raises(DraftRefused, match=why):
        store.send(draft(**{"sender": "user", "recipients": ("ann",), "content": "x", **fields}))
    assert snapshot(run.path) == before


def test_a_full_inbox_or_a_closed_run_takes_nothing(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(8):
        run.send("ann", message(number, body="x" * 32_000), prefix=".delivering-" if number % 2 else "")
    with OmoStore.open(run.path) as store:
        with pytest.raises(StoreError, match="the inbox of ann is full"):
            store.send(draft(sender="user", recipients=("bob", "ann"), content="x" * 20_000))
        assert not list((run.inboxes / "bob").iterdir())
        (run.inboxes / "bob.lock").write_text("team-mailbox:bob\n1\n1\n")
        monkeypatch.setattr(writer, "PATIENCE_SECONDS", 0.0)
        with pytest.raises(MailboxBusy):
            store.send(draft(sender="user", recipients=("bob",), content="x"))
        (run.inboxes / "bob.lock").write_text(f"team-mailbox:bob\n{999_999_999}\n1\n")
        store.send(draft(sender="user", recipients=("bob",), content="x"))
        run.write({**run.state(), "status": "deleting"})
        with pytest.raises(DraftRefused, match="being deleted"):
            store.send(draft(sender="user", recipients=("bob",), content="x"))


ODD: list[Any] = [
    message(1) | {"from": 3},
    message(2, body=None),
    message(3, messageId=""),
    message(4, sender=""),
    "text",
    [],
    {"messageId": "x"},
]
STRANGE = [
    message(5, sender="\x1b[2J", summary="\x1b]0;x\x07", kind=7, references="x", timestamp="soon"),
    message(6, messageId="../../etc/passwd", correlationId=UUID.format(6), references=[{"path": 3}, {"path": "\x00"}]),
    message(7, to="*", timestamp=1e400, correlationId="nowhere"),
    message(8, timestamp=-1, correlationId=UUID.format(5)),
]


def test_whatever_is_in_an_inbox_is_read_or_told(run: RunFolder) -> None:
    for number, value in enumerate((*ODD, *STRANGE)):
        (run.inboxes / "ann" / f"odd-{number}.json").write_text(json.dumps(value))
    (run.inboxes / "bob" / "link.json").symlink_to(run.path / "state.json")
    (run.inboxes / "eve").symlink_to(run.inboxes / "ann")
    (run.inboxes / "bob" / "processed").symlink_to(run.inboxes / "ann")
    (run.inboxes / "bob" / "folder.json").mkdir()
    (run.inboxes / "bob" / ".hidden.json").write_text("{")
    with OmoStore.open(run.path) as store:
        events = scanned(store)
        mail = of(Message, events)
        told = {one.file for one in of(Problem, events)}
        assert {"inboxes/eve", "inboxes/bob/processed"} <= told, "mail behind links is not hidden without a word"
        assert len(of(Problem, events)) == len(ODD) + 4
        assert len(mail) == len(STRANGE)
        for one in mail:
            store.content(one)
            json.loads(store.raw(one))
        assert not {one.session_id for one in of(Agent, events)} & {"eve"}


@pytest.mark.parametrize("state", ["", "[]", '{"members": 3}', '{"members": [3, {"name": 7}, {"name": "ann"}]}'])
def test_a_damaged_state_hides_no_mail(run: RunFolder, state: str) -> None:
    run.send("ann", message(1))
    with OmoStore.open(run.path) as store:
        (run.path / "state.json").write_text(state)
        assert [one.subject for one in of(Message, scanned(store))] == ["No. 1."]


def test_every_inbox_is_read(run: RunFolder) -> None:
    for number in range(205):
        run.send(f"m-{number:03}", message(number))
    with OmoStore.open(run.path) as store:
        assert len(of(Message, scanned(store))) == 205


def test_an_inbox_that_can_not_be_listed_is_told(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    run.send("ann", message(1))
    run.send("bob", message(2, to="bob"))

    def look(self: source.Folder, *, closely: bool = False) -> dict[str, Any]:
        if self.path == run.inboxes / "ann":
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(self, closely=closely)

    real = source.Folder.look
    with monkeypatch.context() as patch, OmoStore.open(run.path) as store:
        patch.setattr(source.Folder, "look", look)
        events = scanned(store)
        assert [one.subject for one in of(Message, events)] == ["No. 2."]
        assert [(one.file, one.reason) for one in of(Problem, events)] == [("inboxes/ann", "permission denied")]
        patch.undo()
        assert {one.subject for one in of(Message, changed(store))} == {"No. 1.", "No. 2."}


def test_a_run_whose_state_is_damaged_is_among_the_others(base: Path) -> None:
    state = base / "runtime" / TESTS / "state.json"
    state.write_text('{"teamRunId": "eee3')
    os.utime(state, (1.7e9, 1.7e9))
    with OmoStore.open(base) as store:
        events = scanned(store)
    assert len(of(Message, events)) == 8
    assert [one.reason for one in of(Problem, events)] == ["the state is invalid JSON"]


def test_messages_under_one_name_are_two_if_their_ids_differ(run: RunFolder) -> None:
    for number, folder in enumerate(("", "processed")):
        path = run.inboxes / "ann" / folder / "same.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(message(number)))
    with OmoStore.open(run.path) as store:
        events = scanned(store)
    assert {one.subject for one in of(Message, events)} == {"No. 0.", "No. 1."}
    assert of(Receipt, events) == [Receipt(UUID.format(1), "ann")]


def test_another_text_under_the_id_of_a_message_is_told(run: RunFolder) -> None:
    run.send("ann", message(1, summary="One", body="A"))
    run.send("bob", message(1, summary="One", body="B"))
    with OmoStore.open(run.path) as store:
        events = scanned(store)
    assert len(of(Message, events)) == len(of(Problem, events)) == 1


def test_what_can_not_be_torn_any_more_is_told(run: RunFolder) -> None:
    path = run.inboxes / "ann" / "torn.json"
    path.write_text("{")
    os.utime(path, (2e11, 2e11))
    with OmoStore.open(run.path) as store:
        assert [one.reason for one in of(Problem, scanned(store))] == ["is invalid JSON"]


def test_the_journal_holds_a_message_once_and_tells_of_damage(run: RunFolder, tmp_path: Path) -> None:
    (run.inboxes / "ann" / "x.json").write_bytes(json.dumps(message(1, body="?")).encode().replace(b"?", b"\xff"))
    for _ in range(3):
        with OmoStore.open(run.path) as store:
            assert len(of(Message, scanned(store))) == 1
    [kept] = (tmp_path / "state").rglob("seen.jsonl")
    assert kept.read_bytes().count(b"\n") == 1
    with kept.open("ab") as file:
        file.write(b'{"inbox": "ann", "na\n')
    with OmoStore.open(run.path) as store:
        [told] = of(Problem, scanned(store))
    assert "a line of the journal is damaged" in told.reason


def test_what_the_journal_had_no_room_for_is_stored_later(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    path = run.send("ann", message(1))
    with OmoStore.open(run.path) as store:
        with monkeypatch.context() as patch:
            patch.setattr(journal.RunJournal, "keep", lambda *_: "seen messages can't be stored: no space left")
            assert len(of(Problem, scanned(store))) == 1
        path.unlink()
        run.send("bob", message(2))
        changed(store)
    with OmoStore.open(run.path) as store:
        assert {one.subject for one in of(Message, scanned(store))} == {"No. 1.", "No. 2."}


def test_a_full_disk_leaves_no_lock(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with OmoStore.open(run.path) as store, monkeypatch.context() as patch:
        patch.setattr(os, "write", write)
        with pytest.raises(StoreError, match="no space left on device"):
            store.send(draft(sender="user", recipients=("ann",), content="x"))
    assert not list(run.inboxes.rglob("*.*"))
