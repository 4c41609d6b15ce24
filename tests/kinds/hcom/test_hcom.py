"""hcom's log: what its own program wrote, what positions mean, and what is sent by the program."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mailstore.conformance.following import of
from mailstore.conformance.following import scanned as read_all
from mailstore.errors import ContentGone, DraftRefused, MailboxMissing, StoreError
from mailstore.kinds.hcom import feed
from mailstore.kinds.hcom.store import HcomStore
from mailstore.kit import own_program
from mailstore.records.draft import draft
from mailstore.records.events import Event, Gone, Reset
from mailstore.records.message import Delivery, Message, Problem, Receipt
from mailstore.records.roster import Agent, Status
from mailstore.registry import recognised_kind
from mailstore.store import Capability
from tests.mailstore.owners import snapshot
from tests.servers.hcom_program import HcomLog, install

INSTALLED = shutil.which("hcom")
REAL = Path(__file__).parents[2] / "fixtures" / "hcom" / "hcom.db"


@pytest.fixture
def log(tmp_path: Path) -> Iterator[HcomLog]:
    log = HcomLog(tmp_path / ".hcom" / "hcom.db")
    log.make()
    for name in ("luna", "nova"):
        log.start(name)
    yield log
    log.close()


def numbered(event: Event) -> Event:
    """Return an event with the numbers alone of the ids in it."""
    if isinstance(event, Message):
        thread = event.thread.partition("-")[0] if event.thread else None
        return msgspec.structs.replace(event, id=event.id.partition("-")[0], thread=thread)
    if isinstance(event, (Delivery, Receipt)):
        return msgspec.structs.replace(event, message_id=event.message_id.partition("-")[0])
    return event


def scanned(store: HcomStore) -> list[Event]:
    return [numbered(event) for event in read_all(store)]


def changed(store: HcomStore) -> list[Event]:
    return [numbered(event) for batch in store.news() for event in batch]


def read(events: list[Event]) -> set[tuple[str, str]]:
    return {(one.message_id, one.reader) for one in of(Receipt, events)}


def test_what_the_program_wrote(tmp_path: Path) -> None:
    shutil.copy(REAL, tmp_path / "hcom.db")
    before = snapshot(tmp_path)
    with HcomStore.open(tmp_path) as store:
        events = scanned(store)
        mail = {one.id: one for one in of(Message, events)}
        assert store.content(mail["12"]) == "Done: two findings."
        raw = json.loads(store.raw(mail["21"]))
    assert snapshot(tmp_path) == before
    assert not of(Problem, events)
    assert (mail["12"].thread, mail["12"].type, mail["12"].recipients) == ("6", "ack", ("luna",))
    assert [mail[each].thread for each in ("13", "14", "18")] == [None, "13", "13"]
    assert (mail["13"].sender, mail["13"].tags) == ("ci", ("thread:build", "external"))
    assert (mail["8"].recipients, mail["8"].is_listed) == (("all",), True)
    assert {one.recipient for one in of(Delivery, events) if one.message_id == "8"} == {"nova", "mera", "beni"}
    assert (mail["28"].recipients, mail["28"].is_tracked) == (("user",), False)
    assert (mail["29"].sender, mail["29"].thread) == ("user", "28")
    assert mail["21"].tags == (raw["bundle"]["bundle_id"],)
    assert raw["bundle"]["refs"]["files"] == ["parser.py"]
    once = {("6", "nova"), ("8", "nova"), ("8", "mera"), ("13", "mera"), ("14", "mera"), ("21", "mera")}
    assert read(events) == {*once, ("12", "luna"), ("21", "luna"), ("23", "luna")}
    assert all(one.time is not None for one in of(Receipt, events))
    agents = {one.session_id: one for one in of(Agent, events)}
    assert (agents["mera"].name, agents["mera"].tags) == ("api-mera", ("api",))
    assert (agents["nova"].status, agents["luna"].status) == (Status.DEAD, Status.LIVING)


def test_only_what_is_new_is_told(log: HcomLog) -> None:
    first = log.message("luna", ["nova"], "One.")
    with HcomStore.open(log.path) as store:
        scanned(store)
        log.listen("nova")
        assert read(changed(store)) == {(str(first), "nova")}
        second = log.message("nova", ["all"], "Two.", reply_to=str(first), reply_to_local=first)
        assert [(one.id, one.thread) for one in of(Message, changed(store))] == [(str(second), str(first))]
        log.stop("nova")
        assert [one.status for one in of(Agent, changed(store))] == [Status.DEAD]
        assert changed(store) == []


def test_a_position_counts_from_where_its_agent_began(log: HcomLog) -> None:
    missed = log.message("luna", ["nova"], "Nobody reads this.")
    log.stop("nova")
    log.start("nova")
    read_later = log.message("luna", ["nova"], "The next one does.")
    log.listen("nova")
    with HcomStore.open(log.path) as store:
        assert read(scanned(store)) == {(str(read_later), "nova")}
    log.stop("nova")
    log.event("life", "nova", {"action": "created"})
    log.event("status", "nova", {"position": missed - 1})
    log.event("status", "nova", {"position": read_later})
    with HcomStore.open(log.path) as store:
        assert (str(missed), "nova") in read(scanned(store))


def test_a_row_alone_tells_that_something_was_read(log: HcomLog) -> None:
    number = log.message("luna", ["nova"], "One.")
    log.start("nova", last_event_id=number)
    with HcomStore.open(log.path) as store:
        assert of(Receipt, scanned(store)) == [Receipt(str(number), "nova", None)]


def test_pages_make_no_difference(log: HcomLog, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(12):
        log.message("luna", ["nova"], f"No. {number}.", thread="long" if number % 3 == 0 else None)
        if number in (4, 9):
            log.listen("nova")

    def found() -> tuple[dict[str, Message], set[tuple[str, str]]]:
        with HcomStore.open(log.path) as store:
            events = scanned(store)
            return {one.id: one for one in of(Message, events)}, read(events)

    whole = found()
    monkeypatch.setattr(feed, "FIRST_PAGE", 3)
    monkeypatch.setattr(feed, "PAGE", 4)
    assert found() == whole
    assert len(whole[1]) == 10


def test_after_a_reset_the_same_numbers_are_other_messages(log: HcomLog) -> None:
    log.event("message", "luna", {"from": "luna", "text": "Before."}, "2026-03-16T12:00:00Z")
    log.do("UPDATE events SET timestamp = '2026-03-15T12:00:00Z'")
    with HcomStore.open(log.path) as store:
        [before] = of(Message, read_all(store))
        log.do("DELETE FROM events")
        log.do("DELETE FROM sqlite_sequence")
        for number in range(5):
            log.event("message", "luna", {"from": "luna", "text": f"After {number}."}, "2026-03-16T12:00:00Z")
        after = [event for batch in store.news() for event in batch]
        assert isinstance(after[0], Reset)
        assert len(of(Message, after)) == 5
        assert before.id not in {message.id for message in of(Message, after)}
        with pytest.raises(ContentGone, match="was it reset"):
            store.content(before)


def test_a_reset_begins_anew_and_the_archive_opens(log: HcomLog) -> None:
    log.message("luna", ["nova"], "Before.")
    with HcomStore.open(log.path) as store:
        scanned(store)
        log.close()
        archived = log.path.parent / "archive" / "session-2026-11-22_204925"
        archived.mkdir(parents=True)
        log.path.replace(archived / "hcom.db")
        log.make()
        events = changed(store)
        assert isinstance(events[0], Reset)
        assert not of(Message, events)
    with HcomStore.open(archived) as store:
        assert [one.subject for one in of(Message, scanned(store))] == ["Before."]
        assert "reset" in store.capabilities.why_not(Capability.SEND)


HOSTILE: list[Any] = [
    '{"from": "ann", "text"',
    "[]",
    {"from": "luna"},
    {"from": 3, "text": "x"},
    {"from": "", "text": "x"},
    {"text": "x"},
]
ODD: list[dict[str, Any]] = [
    {"from": "luna", "text": "x", "delivered_to": {"a": 1}, "mentions": "all", "reply_to": [1], "thread": 7},
    {"from": "luna", "text": "x", "delivered_to": ["nova", "nova", 3, ""], "reply_to_local": "9" * 30},
    {"from": "\x1b[2J", "text": "\x1b]0;x\x07", "delivered_to": ["../../x", "\x00"], "intent": "\n", "thread": "\r"},
    {"from": "luna", "text": "", "scope": "broadcast", "delivered_to": None, "reply_to": "42:BOXE"},
]


def test_whatever_is_in_the_log_is_read_or_told(log: HcomLog) -> None:
    for data in (*HOSTILE, *ODD):
        log.event("message", "luna", data)
    for data in (
        "{",
        '{"position": 99999999999999999999}',
        '{"position": "7"}',
        '{"action": "stopped", "snapshot": 3}',
    ):
        log.event("status", "luna", data)
        log.event("life", "luna", data)
    log.do("INSERT INTO events (timestamp, type, instance, data) VALUES (7, 'message', x'ff', x'7b22ff')")
    own = log.message("luna", ["nova"], "To itself.", reply_to_local=1 << 40)
    with HcomStore.open(log.path) as store:
        events = scanned(store)
        mail = of(Message, events)
        assert {one.offset for one in of(Problem, events)} == {0}
        assert len(of(Problem, events)) == len(HOSTILE) + 1
        assert len(mail) == len(ODD) + 1
        assert str(own) in {one.id for one in mail}
        raws = {store.raw_problem(one) for one in of(Problem, events)}
        assert raws >= {b'{"from": "ann", "text"', b"[]", b'{"text": "x"}', b'{"\xff'}
        for one in mail:
            store.content(one)
            json.loads(store.raw(one))


def test_another_database_is_not_taken_for_it(tmp_path: Path, log: HcomLog) -> None:
    assert recognised_kind(log.path.parent.parent) == "hcom"
    other = HcomLog(tmp_path / "other.db")
    other.do("CREATE TABLE events (id, timestamp, type, instance, data)")
    other.close()
    assert recognised_kind(other.path) == ""
    with pytest.raises(MailboxMissing):
        HcomStore.open(tmp_path / "nowhere")


INSTANCES = "CREATE TABLE instances (name, last_event_id);"
COUNTING = "WITH RECURSIVE c (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM c) SELECT id, 1, 2, 3, 4 FROM c"


@pytest.mark.parametrize(
    "made",
    [
        f"CREATE VIEW events (id, timestamp, type, instance, data) AS {COUNTING}; {INSTANCES}",
        f"CREATE TABLE events (id TEXT, timestamp, type, instance, data); {INSTANCES}",
    ],
)
def test_a_view_without_end_or_events_without_numbers_are_not_hcom(tmp_path: Path, made: str) -> None:
    with closing(sqlite3.connect(tmp_path / "hcom.db")) as database:
        database.executescript(made)
    assert recognised_kind(tmp_path) == ""


def test_the_last_number_that_there_is_is_no_obstacle(log: HcomLog) -> None:
    with HcomStore.open(log.path) as store:
        scanned(store)
        data = json.dumps({"from": "luna", "text": "The last."})
        log.do("INSERT INTO events VALUES (?, 't', 'message', 'luna', ?)", (1 << 63) - 1, data)
        for found in (changed(store), scanned(HcomStore.open(log.path))):
            assert [store.content(message) for message in of(Message, found)] == ["The last."]


def test_a_pipe_in_the_place_of_the_log_stops_nothing(log: HcomLog) -> None:
    with HcomStore.open(log.path) as store:
        scanned(store)
        log.close()
        log.path.unlink()
        os.mkfifo(log.path)
        assert [type(event) for event in changed(store)] == [Gone]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HCOM_PROCESS_ID", "an agent's")


@pytest.mark.usefixtures("program")
def test_its_program_sends(log: HcomLog) -> None:
    log.start("mera", "api")
    asked = log.message("luna", ["bigboss"], "May I?", intent="request", thread="merge")
    with HcomStore.open(log.path) as store:
        scanned(store)
        body = "Yes, @nova.\n\n--json é\n"
        fields = {"recipients": ("luna", "api-mera"), "thread": str(asked), "type": "ack"}
        [sent] = of(Message, [numbered(store.send(draft(sender="user", content=body, **fields)))])
        assert (sent.sender, sent.recipients, sent.thread, sent.type) == ("user", ("luna", "mera"), str(asked), "ack")
        assert sent.tags == ("thread:merge",)
        assert store.content(sent) == body
        assert of(Message, changed(store)) == [sent]
        to_all = store.send(draft(sender="human", recipients=("all",), content="Noon, @luna."))
        assert set(to_all.recipients) == {"luna", "nova", "mera"}
        with pytest.raises(StoreError, match=r"hcom refused the message: Message contains control characters"):
            store.send(draft(sender="user", recipients=("luna",), content="\x1b[2J"))


@pytest.mark.usefixtures("program")
@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"sender": "luna"}, "not the user"),
        ({"recipients": ("--help",)}, "not connected"),
        ({"recipients": ("nobody",)}, "connected agents: luna, nova"),
        ({"recipients": ("user",)}, "names yourself"),
        ({"type": "shout"}, "not an intent"),
        ({"type": "ack"}, "acknowledges a message"),
        ({"thread": "99"}, "not in the log"),
        ({"thread": "-1"}, "not in the log"),
        ({"thread": "9" * 5000}, "not in the log"),
        ({"thread": "1-000000"}, "not in the log"),
    ],
)
def test_what_it_can_not_send_is_refused(log: HcomLog, fields: dict[str, Any], why: str) -> None:
    with HcomStore.open(log.path) as store, pytest.raises(DraftRefused, match=why):
        store.send(draft(**{"sender": "user", "recipients": ("luna",), "content": "x", **fields}))
    assert log.rows("SELECT count(*) FROM events WHERE type = 'message'") == [(0,)]


def test_without_the_program_it_is_read_only(log: HcomLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with HcomStore.open(log.path) as store:
        assert "not installed" in store.capabilities.why_not(Capability.SEND)
        assert Capability.REPLY not in store.capabilities


def put(folder: Path, does: str) -> None:
    """Put a program `hcom` into a folder."""
    folder.mkdir(exist_ok=True)
    (folder / "hcom").write_text(f"#!/bin/sh\n{does}\n")
    (folder / "hcom").chmod(0o755)


@pytest.mark.parametrize("said", ["", "not JSON", '{"event_id": 77}', f'{{"event_id": {1 << 70}}}', '{"event_id": -1}'])
def test_a_program_that_answers_oddly_is_not_believed(log: HcomLog, tmp_path: Path, said: str) -> None:
    folder = tmp_path / "odd"
    put(folder, f"echo '{said}'")
    with pytest.MonkeyPatch.context() as patch, HcomStore.open(log.path) as store:
        patch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        with pytest.raises(StoreError, match=r"look whether it is there|can't be read back"):
            store.send(draft(sender="user", recipients=("luna",), content="x"))


@pytest.mark.parametrize(
    ("does", "why"),
    [
        ("while :; do :; done", "did not answer within 0.1"),
        ("""much=$(printf '%4096s' x); while :; do echo "$much"; done""", "printed more than 1 MiB"),
    ],
)
def test_a_program_without_end_is_ended(
    log: HcomLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str, why: str
) -> None:
    put(tmp_path / "odd", does)
    monkeypatch.setenv("PATH", f"{tmp_path / 'odd'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(own_program, "PATIENCE_SECONDS", 0.1 if "0.1" in why else 30.0)
    with HcomStore.open(log.path) as store, pytest.raises(StoreError, match=why):
        store.send(draft(sender="user", recipients=("luna",), content="x"))


def test_a_program_in_the_mailbox_is_not_run(log: HcomLog, monkeypatch: pytest.MonkeyPatch) -> None:
    put(log.path.parent, "touch was-run")
    monkeypatch.chdir(log.path.parent)
    monkeypatch.setenv("PATH", f"{os.curdir}{os.pathsep}{os.environ['PATH']}")
    with HcomStore.open(log.path) as store, pytest.raises(StoreError, match="not installed"):
        store.send(draft(sender="user", recipients=("luna",), content="x"))
    assert not (log.path.parent / "was-run").exists()


@pytest.mark.skipif(INSTALLED is None, reason="hcom is not installed")
def test_the_real_program_sends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "home" / ".hcom"
    monkeypatch.setenv("PATH", str(Path(INSTALLED or "").parent))
    for words in (["start", "--as", "luna"], ["send", "-b", "--quiet", "@luna", "--", "First."]):
        subprocess.run(["hcom", *words], env={**os.environ, "HCOM_DIR": str(folder)}, capture_output=True, check=True)
    with HcomStore.open(folder) as store:
        [first] = of(Message, scanned(store))
        answer = draft(sender="user", recipients=("luna",), content="Hello.\n", thread=first.id, type="inform")
        [sent] = of(Message, [numbered(store.send(answer))])
        assert (sent.thread, sent.recipients, store.content(sent)) == (first.id, ("luna",), "Hello.\n")
        assert of(Message, changed(store)) == [sent]
