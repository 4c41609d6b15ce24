"""Records of other mailboxes taken into one that programs use: each once, as it is, under the kind's locks."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from mailstore.errors import MailboxBusy, StoreError
from mailstore.files import append
from mailstore.haak import HaakStore
from mailstore.haak.archive.archiver import Archival
from mailstore.haak.places import find
from mailstore.kinds.nats.store import NatsStore
from mailstore.memory import MemoryStore
from mailstore.records.adopted import Adopted, AdoptedMessage
from mailstore.records.message import Delivery, Intervention, Message, Receipt
from mailstore.records.roster import Agent, Status
from mailstore.rules.archive_plan import ArchivePlan
from mailstore.store import Store
from mailstore.transfer.compare import Contents

Opened = Callable[[], Store]
NOON = 1_773_662_400.0


def mail_item(name: str, content: str = "A text.", at: float = 0, *, archived: bool = False) -> AdoptedMessage:
    message = Message(
        name,
        "bob-00000001",
        ("ann-00000001",),
        "",
        NOON + at,
        "",
        thread="m0",
        ttl_hours=5,
        type="x",
        archived=archived,
    )
    return AdoptedMessage(message, content, {"n": [1]}, {"odd": True})


def everything() -> list[Adopted]:
    return [
        Agent("ann-00000001", role="librarian", updated=NOON, extra='{"model": "large"}'),
        Agent("ann-00000001", role="", status=Status.FROZEN, updated=NOON + 9.5),
        Delivery("m1", "ann-00000001", NOON),
        mail_item("m1", "Ünïcödé\n\u2713"),
        mail_item("m2", at=1),
        Receipt("m1", "ann-00000001", NOON + 2),
        Intervention("i1", "user", "acknowledge", NOON + 3, "m2", "seen", {"recipient": "ann-00000001"}),
    ]


@pytest.fixture(params=["lines", "document", "memory", "nats"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    if request.param == "nats":
        location = request.getfixturevalue("nats_location")
        NatsStore.create(location).close()
        return lambda: NatsStore.open(location)
    if request.param == "memory":
        records = MemoryStore().records
        return lambda: MemoryStore(records=records)
    (tmp_path / "data").mkdir()
    (tmp_path / "data/agent-mailbox.jsonl").touch()
    (tmp_path / ("data/agent-roster.jsonl" if request.param == "lines" else "data/agent-roster.json")).touch()
    return lambda: HaakStore.open(tmp_path)


def merged(opened: Opened, *records: Adopted) -> int:
    """Merge into a mailbox opened anew; return how many records were written."""
    with opened() as store:
        assert store.can_merge
        found = store.merge(records)
    return len(records) - len(found.present) - len(found.refused)


def contents(opened: Opened) -> Contents:
    with opened() as store:
        return Contents(store)


def test_what_is_merged_is_read_as_it_was(opened: Opened) -> None:
    assert merged(opened, *everything()) == len(everything())
    with opened() as store:
        found = Contents(store)
        assert [store.content(found.messages[name]) for name in ("m1", "m2")] == ["Ünïcödé\n\u2713", "A text."]
        record = json.loads(store.raw(found.messages["m1"]))
    assert (record["metadata"], record["odd"]) == ({"n": [1]}, True)
    message = found.messages["m1"]
    assert (message.sender, message.time, message.thread, message.ttl_hours) == ("bob-00000001", NOON, "m0", 5)
    agent = found.agents["ann-00000001"]
    assert (agent.status, agent.role, agent.updated) == (Status.FROZEN, "", NOON + 9.5)
    assert list(found.receipts.values()) == [Receipt("m1", "ann-00000001", NOON + 2)]
    assert list(found.deliveries.values()) == [Delivery("m1", "ann-00000001", NOON)]
    assert [each.details for each in found.interventions.values()] == [{"recipient": "ann-00000001"}]
    assert not found.problems


def test_the_same_again_writes_nothing(opened: Opened) -> None:
    merged(opened, *everything())
    assert merged(opened, *everything()) == 0
    assert merged(opened, mail_item("m1", "Another text."), mail_item("m3")) == 1
    found = contents(opened)
    assert sorted(found.messages) == ["m1", "m2", "m3"]
    assert not found.twins


def test_a_line_of_an_agent_that_was_superseded_counts_again(opened: Opened) -> None:
    first, second = Agent("a", role="x", updated=NOON), Agent("a", role="y", updated=NOON + 1)
    merged(opened, first, second)
    assert merged(opened, first) == 1
    assert contents(opened).agents["a"].role == "x"
    assert merged(opened, second, first) == 0


def test_what_has_no_sender_is_turned_away(opened: Opened) -> None:
    with opened() as store:
        assert store.can_merge
        nobody = AdoptedMessage(Message("m1", " ", ("x",), "", NOON, ""), "A text.")
        found = store.merge([nobody, Receipt("m1", ""), mail_item("m2")])
    assert [each.record for each in found.refused] == [nobody, Receipt("m1", "")]
    assert list(contents(opened).messages) == ["m2"]


def test_many_at_once_write_each_record_once(opened: Opened) -> None:
    messages = [mail_item(f"m{at}", at=at) for at in range(60)]
    stores = [opened() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:

        def work(store: Store) -> None:
            assert store.can_merge
            for at in range(0, 60, 7):
                store.merge([*messages[at : at + 7], Receipt(f"m{at}", "ann-00000001")])

        list(pool.map(work, stores))
    found = contents(opened)
    assert len(found.messages) == 60
    assert not found.twins
    assert len(found.receipts) == len(range(0, 60, 7))
    for store in stores:
        store.close()


def test_archived_mail_goes_to_the_month_it_is_of(tmp_path: Path) -> None:
    HaakStore.create(tmp_path).close()
    with HaakStore.open(tmp_path) as store:
        store.merge([mail_item("m1", archived=True), mail_item("m2")])
        assert not store.merge([mail_item("m1"), mail_item("m2", archived=True)]).refused
    month = tmp_path / "data/agent-mailbox-archive/2026-03.jsonl"
    assert [json.loads(line)["id"] for line in month.read_text().splitlines()] == ["m1"]
    found = contents(lambda: HaakStore.open(tmp_path))
    assert {name: each.archived for name, each in found.messages.items()} == {"m1": True, "m2": False}


def test_archived_mail_waits_for_an_archival_that_is_running(tmp_path: Path) -> None:
    HaakStore.create(tmp_path).close()
    with HaakStore.open(tmp_path) as store:
        store.merge([mail_item("m0")])
        places = find(tmp_path)
        assert places is not None
        steps = Archival(places, ArchivePlan((("m0",),), (), {"2026-03": 1}, 0)).steps()
        with closing(steps):
            assert "copied" in steps
            with pytest.raises(MailboxBusy, match="archival"):
                store.merge([mail_item("m1", archived=True)])
            assert not store.merge([mail_item("m2")]).present
            assert "changed over" in steps
            assert store.merge([mail_item("m0"), mail_item("m2")]).present
        store.merge([mail_item("m1", archived=True)])
    found = contents(lambda: HaakStore.open(tmp_path))
    assert {name: each.archived for name, each in found.messages.items()} == {"m0": True, "m1": True, "m2": False}
    assert not found.twins


def test_a_full_disk_leaves_nothing_torn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    HaakStore.create(tmp_path).close()
    path = tmp_path / "data/agent-mailbox.jsonl"
    with HaakStore.open(tmp_path) as store:
        store.merge([mail_item("m0"), Delivery("m0", "ann-00000001")])
        before = {each: each.read_bytes() for each in path.parent.iterdir()}
        real = os.write

        def write(fd: int, data: bytes) -> int:
            return real(fd, data[:20]) if b"m1" in data and b"content" in data else real(fd, data)

        monkeypatch.setattr(append.os, "write", write)
        with pytest.raises(StoreError, match="disk"):
            store.merge([Delivery("m1", "ann-00000001"), mail_item("m1")])
        assert {each: each.read_bytes() for each in path.parent.iterdir()} == before
        monkeypatch.undo()
        assert not store.merge([Delivery("m1", "ann-00000001"), mail_item("m1")]).present
    assert len(contents(lambda: HaakStore.open(tmp_path)).messages) == 2
