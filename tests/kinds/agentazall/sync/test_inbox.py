"""The inbox: what comes in is checked before it touches the disk, and nothing that was let in can do harm."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from mailstore.kinds.agentazall.attached import attachment_names
from mailstore.kinds.agentazall.ledger import ArrivalState, arrivals_of, ledger_file, turned_away_at
from mailstore.kinds.agentazall.message_file import parse
from mailstore.kinds.agentazall.rules import Filter
from mailstore.kinds.agentazall.store import AgentAZAllStore
from mailstore.kinds.agentazall.transports import transport
from mailstore.kinds.agentazall.transports.transport import IncomingMessage
from tests.kinds.agentazall.agentazall_mail import identity, told
from tests.kinds.agentazall.sync.rig import Machine, Office

ALICE, BOB = "alice@localhost", "bob@localhost"


def incoming(key: str = "k1", body: str = "Hello", **more: object) -> IncomingMessage:
    fields: dict[str, object] = {
        "sender": ALICE,
        "recipients": (BOB,),
        "subject": "A subject",
        "date": "2026-11-20 12:00:00",
        "id": "a" * 12,
        "arrived": time.time(),
        **more,
    }
    return IncomingMessage(key=key, body=body, **fields)  # type: ignore[arg-type]


def received(tmp_path: Path, *mail_items: IncomingMessage, rules: Filter | None = None) -> Machine:
    office = Office()
    machine = Machine(tmp_path, BOB, offices=(office,))
    if rules is not None:
        machine.filter = rules
    for mail_item in mail_items:
        office.put(BOB, mail_item)
    machine.once()
    return machine


@pytest.mark.parametrize("sender", ["Evil@x.org", "Mallory <evil@x.org>", " evil@x.org "])
def test_what_the_filter_blocks_never_touches_the_inbox_and_is_on_record(tmp_path: Path, sender: str) -> None:
    rules = Filter("blacklist", ("evil@*",))
    machine = received(tmp_path, incoming(sender=sender, attachments=(("x.bin", b"x"),)), rules=rules)
    assert not list(machine.root.rglob("inbox/*"))
    (away,) = turned_away_at(machine.root)
    assert (away.owner, away.sender, away.state) == (BOB, sender.strip(), ArrivalState.TURNED_AWAY)
    assert away.reason.startswith("the address filter blocks ")
    assert any("was turned away" in line for line in machine.said)


def test_a_whitelist_lets_in_only_whom_it_names(tmp_path: Path) -> None:
    rules = Filter("whitelist", (), (ALICE,))
    machine = received(tmp_path, incoming("k1"), incoming("k2", sender="eve@localhost", id="b" * 12), rules=rules)
    assert len(machine.files(BOB, "inbox")) == 1


def test_what_a_filter_blocked_is_on_record_and_comes_once_the_filter_is_lifted(tmp_path: Path) -> None:
    office = Office()
    machine = Machine(tmp_path, BOB, offices=(office,))
    machine.filter = Filter("blacklist", ("alice@*",))
    office.put(BOB, incoming("k1", "Words " * 2000))
    for _ in range(2):
        machine.once()
    [away] = turned_away_at(machine.root)
    assert (away.sender, away.reason) == (ALICE, f"the address filter blocks {ALICE}")
    with closing(sqlite3.connect(ledger_file(machine.root))) as db:
        assert db.execute("SELECT excerpt FROM arrivals").fetchall() == [(("Words " * 2000)[:4096].encode(),)]
    machine.filter = Filter()
    assert [machine.once().received for _ in range(2)] == [1, 0]
    assert turned_away_at(machine.root) == ()


def test_a_header_can_hold_no_line_end_and_no_escape(tmp_path: Path) -> None:
    machine = received(
        tmp_path,
        incoming(
            sender="alice@localhost\nFrom: boss@localhost",
            subject="hello\r\n---\nforged \x1b[31m\u2028red",
            thread="x\nStatus: read",
            recipients=("bob@localhost\nTo: eve",),
        ),
    )
    (text,) = machine.files(BOB, "inbox").values()
    head, _, body = text.partition("\n---\n")
    mail_item = parse(text.encode())
    assert body == "Hello"
    assert mail_item.get("Subject") == "hello  --- forged  [31m red"
    assert mail_item.get("From") == "alice@localhost From: boss@localhost"
    assert mail_item.get("Status") == "new"
    assert not set(head) & {"\x1b", "\r", "\u2028"}


NAMES = [
    "../../up.txt",
    "/etc/passwd",
    "..",
    ".hidden",
    "a\x00b",
    "C:\\x\\y.doc",
    "",
    "a, b.txt",
    "same",
    "same",
    "\u202egpj.exe",
]


def test_attachments_get_safe_names_each_its_own(tmp_path: Path) -> None:
    files = tuple((name, name.encode() + b"!") for name in NAMES)
    machine = received(tmp_path, incoming(attachments=files))
    (mail_item,) = machine.root.rglob("inbox/*.txt")
    folder = mail_item.with_suffix("")
    found = {path.name for path in folder.iterdir()}
    assert len(found) == len(NAMES)
    assert {"up.txt", "passwd", "y.doc", "same", "same-2", "a, b.txt"} <= found
    assert not [name for name in found if name.startswith(".") or not name.isprintable()]
    assert not list(tmp_path.rglob("up.txt.*"))
    assert all(not path.stat().st_mode & 0o137 for path in folder.iterdir())


def test_a_message_that_is_too_large_is_turned_away_and_the_rest_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mailstore.kinds.agentazall.sync.inbox.MOST_BYTES", 100)
    assert transport.MOST_BYTES == 64 << 20
    machine = received(tmp_path, incoming("k1", attachments=(("x", b"x" * 100),)), incoming("k2", id="b" * 12))
    assert list(machine.files(BOB, "inbox")) == [f"{time.strftime('%Y-%m-%d')}/{'b' * 12}"]
    assert "larger than" in turned_away_at(machine.root)[0].reason


@pytest.mark.parametrize(
    ("date", "kept"),
    [
        ("2026-11-20 12:00:00", "2026-11-20 12:00:00"),
        ("2026-11-20T20:49:16.845840", "2026-11-20T20:49:16.845840"),
        ("Fri, 20 Nov 2026 20:49:59 +0000", None),
        ("nonsense", None),
        ("", None),
    ],
)
def test_a_date_is_kept_or_replaced_by_one_that_can_be_read(tmp_path: Path, date: str, kept: str | None) -> None:
    machine = received(tmp_path, incoming(date=date))
    (text,) = machine.files(BOB, "inbox").values()
    found = parse(text.encode()).get("Date")
    assert found == kept if kept else found.startswith("20")


@pytest.mark.parametrize("arrived", [None, 7_258_118_400.0, -1.0])
def test_a_date_in_the_far_future_does_not_name_the_day(tmp_path: Path, arrived: float | None) -> None:
    machine = received(tmp_path, incoming(date="2200-01-01 00:00:00", arrived=arrived))
    assert list(machine.files(BOB, "inbox")) == [f"{time.strftime('%Y-%m-%d')}/{'a' * 12}"]


def test_another_message_with_a_known_id_does_not_hide_the_first_or_get_lost(tmp_path: Path) -> None:
    machine = received(
        tmp_path, incoming("k1", "real"), incoming("k2", "forged"), incoming("k3", "real", sender="eve@x")
    )
    assert machine.bodies(BOB) == ["forged", "real", "real"]
    messages, _ = told(machine.root)
    assert len(messages) == 3


def test_an_id_that_is_a_path_names_no_file(tmp_path: Path) -> None:
    machine = received(
        tmp_path, incoming(id="../../../evil"), incoming("k2", "2", id="x" * 3000), incoming("k3", "3", id="a/b")
    )
    assert len(machine.files(BOB, "inbox")) == 3
    assert not list(tmp_path.rglob("*evil*"))


def test_the_verdict_on_a_signature_and_a_changed_key_are_told(tmp_path: Path) -> None:
    first, other = identity(1), identity(2)
    broken = first.signed("signed").replace("signed", "changed")
    machine = received(
        tmp_path,
        incoming("k1", first.signed("one"), id="1" * 12),
        incoming("k2", other.signed("two"), id="2" * 12),
        incoming("k3", broken, id="3" * 12),
    )
    assert len(machine.files(BOB, "inbox")) == 3
    assert any("the key of alice@localhost has changed" in line for line in machine.said)
    assert any(".keyring.json knows it with" in line for line in machine.said)
    assert arrivals_of(machine.root, "3" * 12)[0].reason == "its signature is INVALID"
    ring = json.loads((machine.root / BOB / ".keyring.json").read_text())
    assert {entry["addresses"][0] for entry in ring.values()} == {ALICE}
    assert all(fingerprint == entry["fingerprint"] for fingerprint, entry in ring.items())


@pytest.mark.parametrize("broken", ["{not json", '{"a":' + "[" * 100_000], ids=["text", "deep"])
def test_a_pinned_key_is_never_replaced_and_a_broken_keyring_is_left_alone(tmp_path: Path, broken: str) -> None:
    machine = Machine(tmp_path, BOB, offices=(Office(),))
    ring = machine.root / BOB / ".keyring.json"
    ring.write_text(broken)
    machine.offices[0].put(BOB, incoming(body=identity(1).signed("x")))
    machine.once()
    assert ring.read_text() == broken
    assert any("can't be read: the key of" in line for line in machine.said)
    assert len(machine.files(BOB, "inbox")) == 1


def test_a_relays_message_without_an_id_and_its_copy_with_one_are_one(tmp_path: Path) -> None:
    lossy, other = Office("lossy"), Office("other")
    machine = Machine(tmp_path, BOB, offices=(lossy, other))
    now = time.time()
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(now - 3600))
    signed = identity(1).signed("the same")
    lossy.put(BOB, incoming("k1", signed, id="", date=time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))))
    other.put(BOB, incoming("k2", signed, date=stamp))
    machine.once()
    assert len(machine.files(BOB, "inbox")) == 1, "clocks that differ by an hour"


def test_unsigned_messages_an_hour_apart_stay_two(tmp_path: Path) -> None:
    lossy, other = Office("lossy"), Office("other")
    machine = Machine(tmp_path, BOB, offices=(lossy, other))
    lossy.put(BOB, incoming("k1", id="", date="2026-11-20T10:00:00"))
    other.put(BOB, incoming("k2", date="2026-11-20T11:00:00+00:00"))
    machine.once()
    assert len(machine.files(BOB, "inbox")) == 2


def test_what_the_original_program_received_is_not_received_again(tmp_path: Path) -> None:
    machine = Machine(tmp_path, BOB, offices=(Office(),))
    box = machine.root / BOB / "2026-11-20" / "inbox"
    box.mkdir(parents=True)
    date = "Fri, 20 Nov 2026 20:49:59 +0000"
    head = f"From: {ALICE}\nTo: {BOB}\nSubject: A subject\nDate: {date}\nMessage-ID: 123456789abc\nStatus: read\n"
    text = f"{head}\n---\nHello"
    (box / "123456789abc.txt").write_text(text)
    (machine.root / BOB / ".seen_ids").write_text("17")
    machine.offices[0].put(BOB, incoming(id="", date=date))
    machine.once()
    assert list(machine.files(BOB, "inbox").values()) == [text]
    assert (machine.root / BOB / ".seen_ids").read_text() == "17"


def test_addresses_that_differ_there_are_translated_both_ways(tmp_path: Path) -> None:
    office = Office()
    alice, bob = (
        Machine(tmp_path / "a", ALICE, offices=(office,)),
        Machine(tmp_path / "b", "b.agenttalk", offices=(office,)),
    )
    alice.addresses = {BOB: "b.agenttalk"}
    alice.write(ALICE, BOB)
    alice.once()
    bob.once()
    assert len(bob.files("b.agenttalk", "inbox")) == 1
    bob.write("b.agenttalk", ALICE, "Back")
    bob.once()
    alice.once()
    (text,) = alice.files(ALICE, "inbox").values()
    assert f"From: {BOB}\n" in text


def test_the_store_shows_what_came_with_its_facts(tmp_path: Path) -> None:
    machine = received(
        tmp_path, incoming(body=identity(1).signed("Look"), attachments=(("r.csv", b"1"),), thread="b" * 12)
    )
    messages, _ = told(machine.root)
    (message,) = messages.values()
    assert {"signature:valid", "attachment:r.csv"} <= {*message.tags}
    assert message.thread == "b" * 12
    with AgentAZAllStore.open(machine.root) as store:
        assert store.content(message) == "Look"


def test_a_link_in_place_of_a_box_is_not_followed(tmp_path: Path) -> None:
    office = Office()
    machine = Machine(tmp_path / "m", BOB, offices=(office,))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    box = machine.root / BOB / time.strftime("%Y-%m-%d") / "inbox"
    box.rmdir()
    box.symlink_to(elsewhere)
    office.put(BOB, incoming())
    report = machine.once()
    assert report.troubles
    assert not list(elsewhere.iterdir())
    box.unlink()
    assert machine.once().received == 1


def test_a_message_of_long_ago_that_comes_again_is_recognised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mailstore.kinds.agentazall.sync.inbox_index.NEWEST_DAYS", 1)
    office = Office()
    machine = Machine(tmp_path, BOB, offices=(office,))
    office.put(BOB, incoming("k1", arrived=time.time() - 40 * 86_400))
    machine.once()
    office.put(BOB, incoming("k2"))
    office.put(BOB, incoming("k3", "another text"))
    machine.once()
    assert machine.bodies(BOB) == ["Hello", "another text"]


def test_an_id_that_names_another_messages_file_takes_nothing_away(tmp_path: Path) -> None:
    hostile = incoming("k2", "Eve's", id="abc123.txt", attachments=(("x.bin", b"x"),))
    machine = received(tmp_path, incoming("k1", "Alice's", id="abc123"), hostile)
    mail_items = {path.name: path.read_text() for path in machine.root.rglob("inbox/*.txt")}
    assert sorted(text.partition("\n---\n")[2] for text in mail_items.values()) == ["Alice's", "Eve's"]
    assert mail_items["abc123.txt"].endswith("Alice's")
    (attached,) = machine.root.rglob("x.bin")
    assert f"{attached.parent.name}.txt" in mail_items


def test_many_attachments_of_one_name_take_no_time() -> None:
    names = attachment_names(["a.txt"] * 20_000)
    assert names[:3] == ["a.txt", "a-2.txt", "a-3.txt"]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("date", "arrived"),
    [
        ("Fri, 31 Dec 9999 23:59:59 -1200", None),
        ("9999-12-31 23:59:59", None),
        ("never", -6e10),
        ("never", 1e300),
        ("never", float("nan")),
    ],
)
def test_a_message_of_another_age_stops_no_other(tmp_path: Path, date: str, arrived: float | None) -> None:
    machine = received(tmp_path, incoming("k1", date=date, arrived=arrived), incoming("k2", id="b" * 12, body="Next"))
    today = time.strftime("%Y-%m-%d")
    assert sorted(machine.files(BOB, "inbox")) == [f"{today}/{'a' * 12}", f"{today}/{'b' * 12}"]


def test_what_lies_on_the_desk_and_is_none_of_ours_stops_nothing(tmp_path: Path) -> None:
    machine = Machine(tmp_path, BOB, offices=(Office(),))
    desk = machine.root / BOB / ".signalbox"
    (desk / "placing-folder").mkdir(parents=True)
    os.mkfifo(desk / "placing-pipe")
    (desk / "placing-link").symlink_to("/dev/zero")
    (desk / "new-link").symlink_to(tmp_path)
    machine.offices[0].put(BOB, incoming())
    assert machine.once().received == 1
    assert sorted(path.name for path in desk.iterdir()) == ["lock"]
    assert tmp_path.is_dir()
