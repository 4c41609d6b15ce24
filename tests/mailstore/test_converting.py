"""A copy in another kind: there and back nothing is lost but what the reports name."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from mailstore.errors import StoreError
from mailstore.memory import MemoryStore
from mailstore.records.message import Delivery, Message, Receipt
from mailstore.records.roster import Agent, Status
from mailstore.registry import open_store, store_class
from mailstore.store import Store
from mailstore.transfer.compare import Contents
from mailstore.transfer.convert import ConvertReport, convert, difference
from tests.mailboxes import every_case, tangled

FIXTURES = Path(__file__).parents[1] / "fixtures"
KINDS = ("haak", "channels", "agenties", "agentazall")
MORE_LINES = (
    {"id": "m4", "type": "question", "from": "agent:ag_x2", "to": "role:qa", "subject": "Tests?", "body": "Green?"},
    {"id": "m5", "type": "issue", "from": "user", "to": "orchestrator", "body": "See it.", "issueId": "i7"},
    {"id": "m6", "type": "custom", "from": "orchestrator", "to": "user", "body": "", "agentId": "agent:ag_x1"},
    {"id": "m7", "type": "custom", "from": "agent:ag_x1", "to": "agent:ag_x2", "body": "x", "metadata": {"n": [1]}},
)


def haak(folder: Path) -> str:
    mail, _ = every_case(folder)
    tangled(folder)
    return mail.url


def copied(kind: str) -> Callable[[Path], str]:
    def place(folder: Path) -> str:
        shutil.copytree(FIXTURES / kind, folder)
        return f"{kind}:{folder}"

    return place


def agenties(folder: Path) -> str:
    url = copied("agenties")(folder)
    with (folder / ".agenties/mailbox.jsonl").open("a") as file:
        for number, line in enumerate(MORE_LINES):
            file.write(json.dumps({**line, "read": False, "createdAt": f"2026-05-10T15:00:0{number}.250Z"}) + "\n")
    return url


SOURCES = {"haak": haak, "channels": copied("channels"), "agenties": agenties, "agentazall": copied("agentazall")}


def in_memory() -> MemoryStore:
    """Return a mailbox that ends with the test."""
    store = MemoryStore()
    store.append(
        Agent("ann-00000001", role="librarian", tags=("project:ink",), activity="awake: idle"),
        Agent("bob-00000001", name="Bob", status=Status.FROZEN),
        {"id": "one", "sender": "bob-00000001", "recipient": "ann-00000001", "timestamp": "2026-03-16T12:00:00.125Z"}
        | {"content": "First.\r\nSecond.\n", "subject": "Lines"},
        {"id": "two", "sender": "ann-00000001", "recipient": ["Bob", "user"], "timestamp": "2026-03-16T12:00:01+02:00"}
        | {"content": "Yes.", "thread": "one"},
        {"id": "three", "sender": "user", "recipient": "all", "timestamp": "never", "content": "---\nall\n---\n"},
        Receipt("one", "ann-00000001", 1_773_700_000.0),
        Delivery("three", "ann-00000001"),
    )
    return store


def maker(kind: str, folder: Path) -> Callable[[], Store]:
    return lambda: store_class(kind).create(folder)


def opened(place: str | MemoryStore) -> Store:
    """Open a mailbox of which nothing was read yet."""
    return open_store(place) if isinstance(place, str) else MemoryStore(records=place.records)


def copy(place: str | MemoryStore, kind: str, folder: Path) -> ConvertReport:
    with opened(place) as source:
        return convert(source, maker(kind, folder))


def between(place: str | MemoryStore, other: str) -> ConvertReport:
    with opened(place) as source, opened(other) as target:
        return difference(source, target)


def fields(report: ConvertReport) -> set[str]:
    return {loss.field for loss in report.losses}


def told(place: str | MemoryStore) -> dict[str, tuple[str, float, str]]:
    """Return sender, time and text of each message."""
    with opened(place) as store:
        messages = Contents(store).messages
        return {name: (each.sender, round(each.time, 3), store.content(each)) for name, each in messages.items()}


@pytest.mark.parametrize("there", KINDS)
@pytest.mark.parametrize("here", KINDS)
def test_there_and_back_nothing_is_lost_but_what_was_said(tmp_path: Path, here: str, there: str) -> None:
    url = SOURCES[here](tmp_path / "from")
    before = told(url)
    first = copy(url, there, tmp_path / "there")
    assert told(first.url) == before
    second = copy(first.url, here, tmp_path / "back")
    assert told(second.url) == before
    whole = between(url, second.url)
    assert fields(whole) <= fields(first) | fields(second)
    assert first.messages.copied == whole.messages.copied == len(before)


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_of_the_same_kind_lacks_at_most_what_is_beside_messages(tmp_path: Path, kind: str) -> None:
    report = copy(SOURCES[kind](tmp_path / "from"), kind, tmp_path / "copy")
    assert fields(report) == ({"tags", "attached file", "agent's note"} if kind == "agentazall" else set())


@pytest.mark.parametrize("kind", KINDS)
def test_a_mailbox_in_memory_is_copied(tmp_path: Path, kind: str) -> None:
    source = in_memory()
    report = copy(source, kind, tmp_path / "copy")
    assert told(report.url) == told(source)
    assert ("thread" in fields(report)) is (kind == "agenties")
    assert between(source, report.url).losses == report.losses


def test_what_a_channel_can_hold_is_held(tmp_path: Path) -> None:
    report = copy(in_memory(), "channels", tmp_path / "copy")
    with open_store(report.url) as target:
        found = Contents(target)
    assert found.agents["ann-00000001"].tags == ("project:ink", "project:mail")
    assert found.agents["ann-00000001"].activity == "awake: idle"
    assert found.agents["bob-00000001"].status is Status.FROZEN
    assert found.messages["two"].recipients == ("bob-00000001", "user", "project:mail")
    assert found.messages["three"].recipients == ("project:mail",)
    assert "subject" in fields(report)
    assert not any("Lines" in path.read_text() for path in (tmp_path / "copy").rglob("*.json"))


def test_a_log_has_one_line_for_a_message_and_one_recipient_in_it(tmp_path: Path) -> None:
    report = copy(in_memory(), "agenties", tmp_path / "copy")
    lines = (tmp_path / "copy/.agenties/mailbox.jsonl").read_text().splitlines()
    records = {record["id"]: record for record in map(json.loads, lines)}
    assert len(lines) == 3
    assert {name: record["to"] for name, record in records.items()} == {
        "one": "agent:ann-00000001",
        "two": "agent:bob-00000001",
        "three": "broadcast",
    }
    assert [records[name]["from"] for name in ("two", "three")] == ["agent:ann-00000001", "user"]
    assert [records[name]["read"] for name in ("one", "two")] == [True, False]
    assert "createdAt" not in records["three"]
    assert {"recipients", "thread"} <= fields(report)


def test_a_message_lies_with_its_sender_and_its_audience(tmp_path: Path) -> None:
    report = copy(in_memory(), "agentazall", tmp_path / "copy")
    root = tmp_path / "copy/data/mailboxes"
    places = {path.relative_to(root).as_posix() for path in root.rglob("*.txt") if path.name != "tasks.txt"}
    assert {place.replace("/2026-03-16/", "/") for place in places} == {
        "bob-00000001/sent/one.txt",
        "ann-00000001/inbox/one.txt",
        "ann-00000001/sent/two.txt",
        "bob-00000001/inbox/two.txt",
        "human@localhost/inbox/two.txt",
        "human@localhost/sent/three.txt",
        "ann-00000001/inbox/three.txt",
    }
    [inbox] = root.glob("ann-00000001/*/inbox/one.txt")
    [sent] = root.glob("*/*/sent/one.txt")
    assert b"\nStatus: read\n" in inbox.read_bytes()
    assert b"\nStatus: new\n" in sent.read_bytes()
    assert sent.read_bytes().endswith(b"\n\n---\nFirst.\r\nSecond.\n")
    assert report.deliveries.copied == 1
    assert report.deliveries.others == 3
    with open_store(report.url) as target:
        assert Contents(target).messages["two"].thread == "one"


def test_what_quotes_a_signed_message_keeps_its_text(tmp_path: Path) -> None:
    report = copy(SOURCES["agentazall"](tmp_path / "from"), "agentazall", tmp_path / "copy")
    quoting = {name for name, (_, _, text) in told(report.url).items() if "SIGNED MESSAGE---" in text}
    assert len(quoting) == 6
    with open_store(report.url) as target:
        tags = {name: message.tags for name, message in Contents(target).messages.items()}
    assert {name for name in tags if tags[name] != ("signature:none",)} == quoting


def test_times_are_written_as_each_system_writes_them(tmp_path: Path) -> None:
    source = MemoryStore()
    stamps = ["2026-03-16T12:00:00", "2026-03-16T12:00:00.250+02:00", "2026-03-16T12:00:00Z"]
    for at, stamp in enumerate(stamps):
        source.append({"id": f"m{at}", "sender": "a", "recipient": "b", "content": "", "timestamp": stamp})
    expected = {"m0": "2026-03-16T12:00:00Z", "m1": stamps[1], "m2": stamps[2]}
    for kind in ("haak", "channels", "agenties"):
        report = copy(source, kind, tmp_path / kind)
        assert fields(report).isdisjoint({"time", "message"})
        with open_store(report.url) as target:
            assert {name: each.timestamp for name, each in Contents(target).messages.items()} == expected
    report = copy(source, "agentazall", tmp_path / "agentazall")
    local = datetime.fromtimestamp(1_773_662_400).strftime("%Y-%m-%d %H:%M:%S")
    with open_store(report.url) as target:
        written = {name: each.timestamp for name, each in Contents(target).messages.items()}
    assert written == {"m0": local, "m1": stamps[1], "m2": local}


def test_no_copy_is_made_where_mail_lies(tmp_path: Path) -> None:
    url = agenties(tmp_path / "from")
    with open_store(url) as source, pytest.raises(StoreError, match="already contains mail"):
        convert(source, maker("agenties", tmp_path / "from"))


def test_progress_is_told_of_copying_and_of_comparing(tmp_path: Path) -> None:
    told_of: list[tuple[str, int, int]] = []
    with in_memory() as source:
        convert(source, maker("haak", tmp_path / "copy"), lambda *news: told_of.append(news))
    assert told_of == [(words, at, 3) for words in ("copying", "comparing") for at in (1, 2, 3)]


def test_a_message_whose_text_goes_while_it_is_compared_is_a_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(store: Store, message: Message) -> str:
        raise StoreError("it went away")

    monkeypatch.setattr(store_class("channels"), "content", gone)
    report = copy(in_memory(), "channels", tmp_path / "copy")
    [loss] = [loss for loss in report.losses if loss.field == "text"]
    assert (loss.number, loss.after) == (3, "it went away")
