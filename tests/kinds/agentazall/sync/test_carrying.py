"""Messages go out by every way and come in once, and what can't be sent is kept and says why."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from mailstore.errors import DraftRefused
from mailstore.kinds.agentazall.block import unwrapped
from mailstore.kinds.agentazall.ledger import LedgerWay, SendState, accounts_of, arrivals_of, ledger_file, way_in
from mailstore.kinds.agentazall.message_file import parse
from mailstore.kinds.agentazall.store import AgentAZAllStore
from mailstore.kinds.agentazall.sync.engine import SyncEngine
from mailstore.kinds.agentazall.sync.ledger_writer import LedgerWriter
from mailstore.kinds.agentazall.sync.plan import AccountPlan
from mailstore.kinds.agentazall.sync.sending import Outbox
from mailstore.records.draft import Draft
from tests.kinds.agentazall.sync.rig import DAY, Machine, Office
from tests.mailboxes import damage_page

ALICE, BOB, CAROL = "alice@localhost", "bob@localhost", "carol@localhost"
HUMAN, REMOTE = "human@localhost", "ann.agenttalk"


def two(tmp_path: Path, *offices: Office) -> tuple[Machine, Machine]:
    return Machine(tmp_path / "a", ALICE, offices=offices), Machine(tmp_path / "b", BOB, offices=offices)


def test_a_message_for_an_agent_of_the_same_tree_is_copied_with_its_attachments(tmp_path: Path) -> None:
    machine = Machine(tmp_path, ALICE, BOB)
    message = machine.write(ALICE, BOB, "Look at this", name="a" * 12, Attachments="r.csv", X_Own="kept")
    machine.attach(message, "r.csv", b"1,2\n")
    assert machine.once().sent == 1
    text = machine.files(BOB, "inbox")[f"{DAY}/{'a' * 12}"]
    assert text == machine.files(ALICE, "sent")[f"{DAY}/{'a' * 12}"]
    assert "X-Own: kept" in text
    for agent, box in ((ALICE, "sent"), (BOB, "inbox")):
        assert (machine.root / agent / DAY / box / ("a" * 12) / "r.csv").read_bytes() == b"1,2\n"
    assert not list((machine.root / ALICE / DAY / "outbox").iterdir())
    assert [(way.transport, way.state) for way in machine.ways("a" * 12)] == [("local", SendState.DELIVERED)]


def test_a_message_goes_by_every_account_and_is_kept_once(tmp_path: Path) -> None:
    offices = Office("one"), Office("two"), Office("three", loses_ids=True)
    alice, bob = two(tmp_path, *offices)
    alice.identify(ALICE, 1)
    alice.write(ALICE, BOB, "Once is enough", name="b" * 12)
    alice.write(ALICE, BOB, "And another", name="c" * 12)
    assert alice.once().sent == 2
    assert [len(office.boxes[BOB]) for office in offices] == [2, 2, 2], "one way alone was enough for sent/"
    assert {way.state for name in "bc" for way in alice.ways(name * 12)} == {SendState.DELIVERED}
    assert bob.once().received == 2
    found = [parse(text.encode()) for text in bob.files(BOB, "inbox").values()]
    assert sorted(unwrapped(each.body) for each in found) == ["And another", "Once is enough"]
    assert bob.once().received == 0
    for message in found:
        states = sorted(str(each.state) for each in arrivals_of(bob.root, message.get("Message-ID")))
        assert states == ["duplicate", "duplicate", "kept"]


def test_equal_messages_that_were_both_meant_stay_two(tmp_path: Path) -> None:
    offices = Office("one", loses_ids=True), Office("two", loses_ids=True)
    alice, bob = two(tmp_path, *offices)
    alice.identify(ALICE, 1)
    for name in ("1" * 12, "2" * 12):
        alice.write(ALICE, BOB, "ok", name=name)
    alice.once()
    bob.once()
    assert len(bob.files(BOB, "inbox")) == 2


def test_a_message_is_sent_when_one_of_its_ways_is_up_and_the_other_follows_later(tmp_path: Path) -> None:
    up, down = Office("up"), Office("down")
    down.down = "down can't be reached (connection refused)"
    alice, _ = two(tmp_path, up, down)
    alice.write(ALICE, BOB, name="c" * 12)
    report = alice.once()
    assert (report.sent, report.waiting, len(report.troubles)) == (1, 0, 1)
    ways = {way.transport: way for way in alice.ways("c" * 12)}
    assert ways[f"post {ALICE}@up"].state is SendState.DELIVERED
    waits = ways[f"post {ALICE}@down"]
    assert (waits.state, waits.tries, waits.reason) == (SendState.WAITING, 1, down.down)
    assert waits.next is not None
    assert waits.last is not None
    assert waits.next > waits.last
    state = {each.transport: each for each in accounts_of(alice.root)}
    assert not state[f"post {ALICE}@down"].is_up
    since = state[f"post {ALICE}@down"].since
    alice.once()
    assert {each.transport: each.since for each in accounts_of(alice.root)}[f"post {ALICE}@down"] == since
    down.down = ""
    assert alice.once().sent == 0
    assert len(down.boxes[BOB]) == 1
    assert {way.state for way in alice.ways("c" * 12)} == {SendState.DELIVERED}
    assert up.sent == 1


def test_a_message_is_sent_once_its_account_is_set_again(tmp_path: Path) -> None:
    office = Office()
    office.down = "office can't be reached"
    alice, _ = two(tmp_path, office)
    alice.write(ALICE, BOB, name="d" * 12)
    assert alice.once().waiting == 1
    alice.offices = ()
    assert alice.once().waiting == 1
    alice.offices, office.down = (office,), ""
    assert alice.once().sent == 1
    assert len(office.boxes[BOB]) == 1


def test_a_message_that_every_account_left_refuses_counts_as_refused(tmp_path: Path) -> None:
    old, new = Office("old"), Office("new")
    old.down, new.refuses = "old can't be reached", {BOB}
    alice, _ = two(tmp_path, old)
    alice.write(ALICE, BOB)
    alice.once()
    alice.offices = (new,)
    report = alice.once()
    assert (report.waiting, report.refused) == (0, 1)


def test_a_message_that_no_way_takes_stays_in_the_outbox(tmp_path: Path) -> None:
    office = Office()
    office.down = "office can't be reached"
    alice, bob = two(tmp_path, office)
    alice.write(ALICE, BOB, name="d" * 12)
    for _ in range(3):
        report = alice.once()
    assert (report.sent, report.waiting) == (0, 1)
    assert alice.ways("d" * 12)[0].tries == 3
    assert list(alice.files(ALICE, "outbox"))
    office.down = ""
    assert alice.once().sent == 1
    assert bob.once().received == 1


def test_a_refusal_is_final_and_shown_and_the_message_stays(tmp_path: Path) -> None:
    office = Office()
    office.refuses = {BOB}
    alice, _ = two(tmp_path, office)
    alice.write(ALICE, BOB, name="e" * 12)
    for _ in range(2):
        alice.once()
    (way,) = alice.ways("e" * 12)
    assert (way.state, way.tries, way.reason, way.next) == (SendState.REFUSED, 1, f"office knows no {BOB}", None)
    assert list(alice.files(ALICE, "outbox"))
    assert any("office knows no" in line for line in alice.said)


def test_of_two_recipients_one_that_is_refused_everywhere_does_not_hold_the_message(tmp_path: Path) -> None:
    office = Office()
    office.refuses = {CAROL}
    alice, _ = two(tmp_path, office)
    alice.write(ALICE, f"{BOB}, {CAROL}", name="f" * 12)
    assert alice.once().sent == 1


def test_of_two_recipients_one_that_waits_holds_the_message_and_the_other_gets_it_once(tmp_path: Path) -> None:
    office, other = Office("office"), Office("other")
    office.refuses, other.down = {CAROL}, "other can't be reached"
    alice, _ = two(tmp_path, office, other)
    alice.write(ALICE, f"{BOB}, {CAROL}", name="f" * 12)
    assert alice.once().waiting == 1
    assert alice.once().waiting == 1
    assert len(office.boxes[BOB]) == 1
    other.down = ""
    assert alice.once().sent == 1


def test_a_message_that_arrived_though_its_sender_could_not_know_is_kept_once(tmp_path: Path) -> None:
    office = Office()
    office.ends_after_taking = True
    alice, bob = two(tmp_path, office)
    alice.write(ALICE, BOB, name="a1" * 6)
    alice.once()
    office.ends_after_taking = False
    alice.once()
    assert len(office.boxes[BOB]) == 2
    bob.once()
    assert len(bob.files(BOB, "inbox")) == 1


def test_nobody_is_asked_where_no_account_is_set_and_the_message_waits(tmp_path: Path) -> None:
    alice, _ = two(tmp_path)
    alice.write(ALICE, "zoe@example.org", name="a2" * 6)
    assert alice.once().waiting == 1
    (way,) = alice.ways("a2" * 6)
    assert way.reason == "no account to send by is set, and the recipient has no folder here"


@pytest.mark.parametrize("to", ["../../victim", "/tmp/victim", "bob@localhost/2026-01-01", "..", ".", "shared"])
def test_a_recipient_is_never_a_path(tmp_path: Path, to: str) -> None:
    machine = Machine(tmp_path / "m", ALICE, BOB)
    machine.write(ALICE, to, name="a3" * 6)

    def folders() -> set[Path]:
        return {path for path in tmp_path.rglob("*") if not {".signalbox", "home", "index.txt"} & {*path.parts}}

    before = folders()
    assert machine.once().sent == 0
    assert folders() == before


def test_a_message_is_signed_with_the_agents_key_before_it_goes(tmp_path: Path) -> None:
    machine = Machine(tmp_path, ALICE, BOB)
    identity = machine.identify(ALICE, 7)
    machine.write(ALICE, BOB, "Signed?\n\n", name="a4" * 6)
    machine.once()
    (body,) = machine.bodies(BOB)
    assert body == identity.signed("Signed?")


def test_what_another_pretends_to_have_written_is_not_sent(tmp_path: Path) -> None:
    machine = Machine(tmp_path, ALICE, BOB)
    machine.write(ALICE, BOB, name="a5" * 6, From=CAROL)
    assert machine.once().sent == 0
    assert any(f"From is {CAROL}, which is not this agent" in line for line in machine.said)


def test_two_messages_of_one_id_are_not_mixed_up(tmp_path: Path) -> None:
    machine = Machine(tmp_path, ALICE, BOB)
    machine.write(ALICE, BOB, "first", name="a6" * 6)
    machine.once()
    machine.write(ALICE, BOB, "second", name="a6" * 6)
    machine.once()
    assert machine.bodies(BOB) == ["first", "second"]
    assert machine.bodies(ALICE, "sent") == ["first", "second"]


def test_what_was_refused_is_tried_again_when_that_is_asked_for(tmp_path: Path) -> None:
    office = Office()
    office.refuses = {BOB}
    alice, _ = two(tmp_path, office)
    alice.write(ALICE, BOB, name="e" * 12)
    assert alice.once().refused == 1
    office.refuses = set()
    assert alice.once().refused == 1
    with SyncEngine(alice.plan(), alice.tell) as engine:
        engine.try_again()
        assert engine.once().sent == 1


@pytest.mark.parametrize("harm", ["removed", "damaged"])
def test_without_its_ledger_a_sync_doubles_nothing(tmp_path: Path, harm: str) -> None:
    offices = Office("one"), Office("two")
    alice, bob = two(tmp_path, *offices)
    for name in ("1" * 12, "2" * 12):
        alice.write(ALICE, BOB, "ok", name=name)
    alice.once()
    bob.once()
    path = ledger_file(bob.root)
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    path.unlink() if harm == "removed" else path.write_bytes(b"no database" * 1000)
    bob.once()
    assert len(bob.files(BOB, "inbox")) == 2
    assert any("was damaged: renamed" in line for line in bob.said) == (harm == "damaged")


def test_what_can_be_read_of_a_ledger_that_is_damaged_in_part_is_kept(tmp_path: Path) -> None:
    (tmp_path / "box").mkdir()
    ledger = LedgerWriter(tmp_path / "box")
    for number in range(700):
        ledger.note_message("alice", f"message {number:03}", "digest", f"file {number}", 1.0)
    ledger.close()
    damage_page(ledger.path, b"message ")
    again = LedgerWriter(tmp_path / "box")
    assert "damaged: renamed" in again.problem
    assert not again.note_message("alice", "message 000", "digest", "file 0", 1.0)
    assert not again.note_message("alice", "message 699", "digest", "file 699", 1.0)
    again.close()


def test_an_account_that_is_no_longer_set_waits_for_nothing(tmp_path: Path) -> None:
    up, down = Office("up"), Office("down")
    down.down = "down can't be reached"
    alice, _ = two(tmp_path, up, down)
    alice.write(ALICE, BOB, name="e" * 12)
    alice.once()
    alice.offices = (up,)
    alice.once()
    assert {way.state for way in alice.ways("e" * 12)} == {SendState.DELIVERED, SendState.GIVEN_UP}
    assert [each.transport for each in accounts_of(alice.root)] == [f"post {ALICE}@up"]


def test_a_message_that_is_still_being_written_is_left_alone(tmp_path: Path) -> None:
    office = Office()
    alice, _ = two(tmp_path, office)
    path = alice.write(ALICE, BOB, "", name="e" * 12)
    path.write_bytes(path.read_bytes() + b"Half of i")
    with SyncEngine(alice.plan(), alice.tell) as engine:
        engine._look()
        assert engine.report().sent == engine.report().waiting == 0
    path.write_bytes(path.read_bytes() + b"t, and the rest")
    os.utime(path, (time.time() - 10, time.time() - 10))
    assert alice.once().sent == 1
    assert office.boxes[BOB][0].body == "Half of it, and the rest"


def test_a_message_waits_for_attachments_that_its_header_lists(tmp_path: Path) -> None:
    machine = Machine(tmp_path, ALICE, BOB)
    path = machine.write(ALICE, BOB, Attachments="r.csv")
    os.utime(path, (time.time() - 10, time.time() - 10))
    with SyncEngine(machine.plan(), machine.tell) as engine:
        engine._look()
        assert engine.report().sent == 0
    machine.attach(path, "r.csv", b"1")
    assert machine.once().sent == 1
    assert [each.name for each in (machine.root / BOB).rglob("*.csv")] == ["r.csv"]


def test_the_person_can_write_to_other_machines_once_a_sync_carries_that_mail(tmp_path: Path) -> None:
    office = Office()
    here, there = (
        Machine(tmp_path / "a", HUMAN, ALICE, offices=(office,)),
        Machine(tmp_path / "b", REMOTE, offices=(office,)),
    )
    draft = Draft(sender="user", recipients=(REMOTE, ALICE), content="Hello from the console", subject="Far away")
    with AgentAZAllStore.open(here.root) as store:
        with pytest.raises(DraftRefused, match="has no folder here"):
            store.write_message(draft)
        here.once()
        written = store.write_message(draft)
        assert here.once().sent == 1
        assert there.once().received == 1
        assert store.content(written) == "Hello from the console"
    (body,) = there.bodies(REMOTE)
    assert unwrapped(body) == "Hello from the console"
    assert [unwrapped(each) for each in here.bodies(ALICE)] == ["Hello from the console"]
    with AgentAZAllStore.open(here.root) as store, pytest.raises(DraftRefused, match="has no folder here"):
        store.write_message(Draft(sender="user", recipients=("typo@localhost",), content="Hello"))


def test_a_clock_that_was_an_hour_ahead_delays_nothing(tmp_path: Path) -> None:
    machine = Machine(tmp_path, ALICE, offices=(Office(),))
    machine.write(ALICE, BOB, name="e" * 12)
    label = f"post {ALICE}@office"
    now = time.time()
    with SyncEngine(machine.plan(), machine.tell) as engine:
        engine._look()
        (work,) = engine._agents
        for after, due in ((now + 60, 0), (now + 3600, 1), (now - 1, 1)):
            work.outbox.note(LedgerWay(ALICE, "e" * 12, BOB, label, SendState.WAITING, 1, now, "down", after))
            assert len(work.outbox.handovers(label, now)) == due
        assert engine.once().sent == 1, "a single run waits for no time"


def test_a_message_whose_file_has_no_valid_name_stops_no_other(tmp_path: Path) -> None:
    machine = Machine(tmp_path, ALICE, offices=(Office(),))
    strange = machine.write(ALICE, BOB).rename(machine.root / ALICE / DAY / "outbox" / os.fsdecode(b"\xff.txt"))
    machine.write(ALICE, BOB, name="fine")
    assert machine.once().sent == 1
    assert [f"{strange} is not sent: its name is not valid UTF-8"] == machine.said


def test_a_mistake_with_one_agents_mail_stops_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(tmp_path, ALICE, BOB, offices=(Office(),))
    machine.write(BOB, CAROL)
    look = Outbox.look

    def failing(outbox: Outbox, accounts: Iterable[str]) -> None:
        if outbox._agent == ALICE:
            raise KeyError("a mistake of ours")
        look(outbox, accounts)

    monkeypatch.delenv("SIGNALBOX_DEBUG", raising=False)
    monkeypatch.setattr(Outbox, "look", failing)
    assert machine.once().sent == 1
    assert machine.said == [f"{ALICE}: internal error (KeyError)"]


def test_the_work_for_each_recipient_does_not_grow_with_their_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    office, others = Office(), [f"to{number}@localhost" for number in range(80)]
    office.refuses = set(others[:3])
    machine = Machine(tmp_path, ALICE, offices=(office,))
    machine.write(ALICE, ", ".join(others), name="a" * 12)
    work: Counter[str] = Counter()

    def row(found: tuple[object, ...]) -> LedgerWay:
        work["rows"] += 1
        return way_in(found)

    def called(self: AccountPlan, address: str) -> str:
        work["names"] += 1
        return address

    monkeypatch.setattr("mailstore.kinds.agentazall.sync.ledger_writer.way_in", row)
    monkeypatch.setattr(AccountPlan, "called", called)
    with SyncEngine(machine.plan(), machine.tell) as engine:
        engine._ledger._db.set_trace_callback(lambda statement: work.update({"statements": 1}))
        report = engine.once()
    assert (office.sent, report.sent, len(machine.files(ALICE, "sent"))) == (77, 1, 1)
    assert {way.tries for way in machine.ways("a" * 12)} == {1}
    assert work["rows"] <= 8 * len(others), work
    assert work["names"] <= 4 * len(others), work
    assert work["statements"] <= 6 * len(others), work
