"""Two mailboxes that are mirrored: what comes where, what does not, and what is said about it."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mailstore.conformance.following import scanned
from mailstore.errors import ContentGone, MailboxBusy, MailboxMissing, MailError, StoreError
from mailstore.haak import HaakStore
from mailstore.kinds.agentazall.store import AgentAZAllStore
from mailstore.kinds.channels.store import ChannelsStore
from mailstore.kinds.claude_teams.store import ClaudeTeamsStore
from mailstore.memory import MemoryStore
from mailstore.mirroring.agent_lines import AgentLines, is_ahead
from mailstore.mirroring.copying import copy_offers
from mailstore.mirroring.exchange import Exchange
from mailstore.mirroring.mirror import compare_pairs
from mailstore.mirroring.mirror_report import MirrorEnd, MirrorLosses
from mailstore.mirroring.mirror_state import MirrorState, mirrors_folder, statuses_of
from mailstore.mirroring.side import Side
from mailstore.records.adopted import Adopted, AdoptedMessage, Merged
from mailstore.records.draft import draft
from mailstore.records.events import Event
from mailstore.records.message import Delivery, Intervention, Message, Receipt
from mailstore.records.roster import Agent, Status
from mailstore.transfer.compare import Contents
from tests.kinds.agentazall.agentazall_mail import AgentAZAllMail
from tests.kinds.claude_teams.teams import entry, team, write
from tests.mailboxes import damage_page
from tests.mailstore.mirrors import Opened, contents, following, message_record, mirrored, until

ANN, BOB = "ann-00000001", "bob-00000001"
HOUR = 3600.0


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def host(folder: Path) -> Opened:
    """Make a HAAK mailbox; return what opens it."""
    HaakStore.create(folder).close()
    return lambda: HaakStore.open(folder)


def hub(name: str = "hub") -> tuple[MemoryStore, Opened]:
    """Make a mailbox in memory; return it, and what opens it."""
    store = MemoryStore(Path(f"/{name}"))
    return store, lambda: MemoryStore(Path(f"/{name}"), store.records)


def append(folder: Path, *lines: dict[str, object], name: str = "agent-mailbox.jsonl") -> None:
    with (folder / "data" / name).open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def test_what_is_new_comes_once_with_all_that_it_has(tmp_path: Path) -> None:
    ours = host(tmp_path / "a")
    store, theirs = hub()
    append(
        tmp_path / "a", message_record("m1", "A text.\nMore.", metadata={"n": 1}, odd="field", thread="m0", ttl_hours=4)
    )
    store.append(
        message_record("m2"), Receipt("m1", ANN, 9.0), Agent(ANN, role="x", updated=5.0), Delivery("m2", ANN, 3.0)
    )
    store.append(Intervention("i1", "user", "acknowledge", 4.0, "m2"), Intervention("i2", "user", "archive", 4.0))
    status = mirrored(ours, theirs)
    assert [end.run.words() for end in status.ends] == [
        "1 message, 1 read, 1 delivery, 1 roster line, 1 journal record",
        "1 message",
    ]
    assert status.equal_at is not None
    assert not status.losses
    assert not status.conflicts
    for opened in (ours, theirs):
        found, texts = contents(opened)
        assert texts == {"m1": "A text.\nMore.", "m2": "A text."}
        assert list(found.agents) == [ANN]
        assert list(found.receipts) == [("m1", ANN)]
    with theirs() as there:
        record = json.loads(there.raw(contents(theirs)[0].messages["m1"]))
    assert (record["metadata"], record["odd"], record["ttl_hours"]) == ({"n": 1}, "field", 4)
    before = {path: path.read_bytes() for path in (tmp_path / "a").rglob("*.jsonl")}
    assert not any(end.run for end in mirrored(ours, theirs).ends)
    assert {path: path.read_bytes() for path in (tmp_path / "a").rglob("*.jsonl")} == before


def test_a_message_of_which_the_record_can_not_be_read_now_is_copied_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = host(tmp_path / "a")
    _, theirs = hub()
    append(tmp_path / "a", message_record("m1", metadata={"n": 1}), message_record("m2"))
    raw = HaakStore.raw

    def fails(store: HaakStore, message: Message) -> bytes:
        if message.id == "m1":
            raise ContentGone("the record can't be fetched", "try again later", "E414")
        return raw(store, message)

    with monkeypatch.context() as now:
        now.setattr(HaakStore, "raw", fails)
        with pytest.raises(ContentGone, match="the record can't be fetched"):
            mirrored(ours, theirs)
    assert list(contents(theirs)[1]) == ["m2"]
    assert not mirrored(ours, theirs).losses
    with theirs() as there:
        assert json.loads(there.raw(contents(theirs)[0].messages["m1"]))["metadata"] == {"n": 1}


def test_one_way_writes_nothing_into_the_first(tmp_path: Path) -> None:
    ours = host(tmp_path / "a")
    store, theirs = hub()
    append(tmp_path / "a", message_record("m1"))
    store.append(message_record("m2"), Agent(ANN, updated=5.0))
    status = mirrored(ours, theirs, is_both=False)
    assert list(contents(ours)[1]) == ["m1"]
    assert sorted(contents(theirs)[1]) == ["m1", "m2"]
    assert [end.written.messages for end in status.ends] == [0, 1]


def test_an_id_of_two_messages_is_reported_and_nothing_is_overwritten(tmp_path: Path) -> None:
    ours = host(tmp_path / "a")
    store, theirs = hub()
    append(tmp_path / "a", message_record("m1", "Ours."), message_record("m2", "Equal."))
    store.append(message_record("m1", "Theirs."), message_record("m2", "Equal."), Receipt("m1", ANN))
    status = mirrored(ours, theirs)
    assert [(each.id, each.first[-5:], each.second[-7:]) for each in status.conflicts] == [("m1", "Ours.", "Theirs.")]
    assert (contents(ours)[1]["m1"], contents(theirs)[1]["m1"]) == ("Ours.", "Theirs.")
    assert not contents(ours)[0].receipts, "it was another message that was read"
    assert mirrored(ours, theirs).conflict_number == 1


def test_damage_and_duplicates_stay_where_they_are_and_are_told(tmp_path: Path) -> None:
    ours = host(tmp_path / "a")
    _, theirs = hub()
    append(tmp_path / "a", message_record("m1", "First."), message_record("m1", "Second."))
    with (tmp_path / "a/data/agent-mailbox.jsonl").open("a") as file:
        file.write("{torn\n" + json.dumps(message_record("m2")) + "\n")
    losses = {loss.what: loss for loss in mirrored(ours, theirs).losses}
    assert contents(theirs)[1] == {"m1": "First.", "m2": "A text."}
    assert losses["damaged record"].examples == ("agent-mailbox.jsonl:3",)
    assert losses["duplicate id"].examples == ("m1",)


def test_what_the_copy_lost_is_found_by_reading_it(tmp_path: Path) -> None:
    ours = host(tmp_path / "a")
    _, theirs = hub()
    months = tmp_path / "a/data/agent-mailbox-archive"
    months.mkdir()
    (months / "2026-03.jsonl").write_text(json.dumps(message_record("m1")) + "\n")
    (loss,) = mirrored(ours, theirs).losses
    assert (loss.what, loss.examples, loss.before, loss.after) == ("archived", ("m1",), "yes", "no")


@pytest.mark.parametrize("skew", [0.0, HOUR, -HOUR])
def test_an_agent_is_taken_from_where_it_was_changed_last_whatever_the_clocks_say(tmp_path: Path, skew: float) -> None:
    ours = host(tmp_path / "a")
    store, theirs = hub()
    store.append(Agent(ANN, role="x", updated=10 * HOUR))
    mirrored(ours, theirs)
    with ours() as one:
        one.merge([Agent(ANN, role="y", updated=10 * HOUR + 1 + skew)])  # type: ignore[attr-defined]
    mirrored(ours, theirs)
    assert contents(theirs)[0].agents[ANN].role == "y"
    store.append(Agent(ANN, role="z", status=Status.FROZEN, updated=10 * HOUR + 2))
    mirrored(ours, theirs)
    assert {contents(each)[0].agents[ANN].role for each in (ours, theirs)} == {"z"}


def test_of_two_lines_written_without_each_other_the_later_counts() -> None:
    first, second = AgentLines(), AgentLines()
    first.put(Agent(ANN, role="x", updated=5.0))
    second.put(Agent(ANN, role="y", updated=6.0))
    assert (is_ahead(first, second, None), is_ahead(second, first, None)) == (False, True)
    assert is_ahead(first, second, second.digest), "it was changed since both agreed"
    for each in (Agent(ANN, role="y", updated=6.0), Agent(ANN, role="x", updated=5.0)):
        first.put(each)
    second.put(Agent(ANN, role="x", updated=5.0))
    second.put(Agent(ANN, role="y", updated=6.0))
    assert is_ahead(first, second, second.digest), "it said so before, and again since both agreed"
    assert not is_ahead(second, first, second.digest)
    first.put(second.last)
    first.put(Agent(ANN, role="z", updated=1.0))
    assert is_ahead(first, second, None)
    assert [agent.role for agent in first.since(second.digest)] == ["z"]


def test_another_mirror_of_the_same_two_is_refused_and_the_state_shown(tmp_path: Path) -> None:
    ours = host(tmp_path / "a")
    _, theirs = hub()
    mirrored(ours, theirs)
    with ours() as store:
        url = store.url
    ((status, is_running),) = statuses_of(url)
    assert (status.phase, is_running) == ("stopped", False)
    with MirrorState.held(url, theirs().url):
        assert statuses_of(url)[0][1]
        with (
            pytest.raises(MailboxBusy, match=r"process \d+ mirrors these two already"),
            MirrorState.held(theirs().url, url),
        ):
            pass


def test_a_damaged_or_deleted_state_costs_nothing(tmp_path: Path) -> None:
    ours = host(tmp_path / "a")
    _, theirs = hub()
    append(tmp_path / "a", message_record("m1"), message_record("m2"))
    mirrored(ours, theirs)
    for path in mirrors_folder().iterdir():
        path.write_bytes(b"no state" * 100)
    assert not any(end.run for end in mirrored(ours, theirs).ends)
    append(tmp_path / "a", *(message_record(f"number {number}") for number in range(700)))
    mirrored(ours, theirs)
    (database,) = mirrors_folder().glob("*.db")
    damage_page(database, b"number ")
    assert not any(end.run for end in mirrored(ours, theirs).ends)
    assert len(list(mirrors_folder().glob("*.db.damaged-2"))) == 1
    shutil.rmtree(mirrors_folder())
    assert not any(end.run for end in mirrored(ours, theirs).ends)


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are Unicode")
def test_any_path_and_any_id_can_be_mirrored(tmp_path: Path) -> None:
    ours = host(tmp_path / "a \udcff")
    _, theirs = hub()
    append(tmp_path / "a \udcff", message_record("odd \ud800"), message_record("m1"))
    for _ in range(2):
        mirrored(ours, theirs)
        assert contents(ours)[1] == contents(theirs)[1] != {}
    with ours() as store:
        ((status, _),) = statuses_of(store.url)
    assert not any(end.run for end in status.ends)


def test_texts_that_were_compared_are_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = host(tmp_path / "a")
    _, theirs = hub()
    append(tmp_path / "a", message_record("m1"))
    mirrored(ours, theirs)

    def fails(self: MemoryStore, message: object) -> str:
        raise ContentGone("not now", "later")

    monkeypatch.setattr(MemoryStore, "content", fails)
    mirrored(ours, theirs)
    append(tmp_path / "a", message_record("m2"))
    with pytest.raises(MailError, match="not now"):
        mirrored(ours, theirs)


def test_a_mailbox_that_is_missing_at_the_start_is_said(tmp_path: Path) -> None:
    ours = host(tmp_path / "a")
    theirs = host(tmp_path / "b")
    with ours() as one, theirs() as other:
        urls = one.url, other.url
    shutil.rmtree(tmp_path / "b")
    with pytest.raises(MailboxMissing):
        mirrored(ours, theirs, urls=urls)


def test_any_kind_can_be_followed(tmp_path: Path) -> None:
    (tmp_path / "collab").mkdir()
    ChannelsStore.create(tmp_path / "collab").close()
    channels: Opened = lambda: ChannelsStore.open(tmp_path / "collab")  # noqa: E731
    ours = host(tmp_path / "a")
    with channels() as store:
        sent = store.send(draft(sender="user", recipients=("project:general",), content="A text."))
    status = mirrored(channels, ours, is_both=False)
    assert contents(ours)[1] == {sent.id: "A text."}
    assert "reads recorded" in {loss.what for loss in status.losses}
    assert not any(end.run for end in mirrored(channels, ours, is_both=False).ends)


def test_copies_are_mirrored_as_the_message_that_they_are(tmp_path: Path) -> None:
    mail, theirs = AgentAZAllMail(tmp_path), hub()[1]
    azall: Opened = lambda: AgentAZAllStore.open(mail.root)  # noqa: E731

    def copied(where: str, name: str) -> None:
        mail.message(where, name, Date="2026-11-20T12:00:01", From="bob.agenttalk", To="ann.agenttalk", Subject="S")

    copied("ann.agenttalk/inbox", "relayed-1")
    mirrored(azall, theirs, is_both=False)
    assert list(contents(theirs)[1]) == ["relayed-1"]
    copied("bob.agenttalk/sent", "own-1")
    copied("bob.agenttalk/sent", "own-2")
    answer = {"From": "ann.agenttalk", "To": "bob.agenttalk", "In_Reply_To": "own-1"}
    mail.message("bob.agenttalk/inbox", "answer", **answer)
    status = mirrored(azall, theirs, is_both=False)
    found = contents(theirs)[0].messages
    assert {name: message.thread for name, message in found.items()} == {
        "relayed-1": None,
        "own-2": None,
        "answer": "relayed-1",
    }
    assert "duplicate id" not in {loss.what for loss in status.losses}
    assert not any(end.run for end in mirrored(azall, theirs, is_both=False).ends)


def test_a_message_of_which_the_header_changes_is_mirrored_as_it_is_by_then(tmp_path: Path) -> None:
    def now(store: ClaudeTeamsStore) -> list[Event]:
        return [event for batch in store.news() for event in batch]

    folder = team(tmp_path, members=("lead", "ann", "bob"), ann=[entry("Stop.", msg_id="m1")])
    there, theirs = hub()
    with ClaudeTeamsStore.open(folder) as store, MirrorState.held("a", "b") as state:
        sides = Side(store, MirrorEnd("a")), Side(there, MirrorEnd("b"))
        exchange = Exchange(*sides, is_both=False, memory=state, losses=MirrorLosses())
        exchange.take(sides[0], scanned(store), 0.0)
        write(folder, "bob", [entry("Stop.", msg_id="m1")])
        exchange.take(sides[0], now(store), 0.0)
        exchange.decide(0.0)
        copy_offers(exchange, lambda words, done, total: None)
        [copy] = contents(theirs)[0].messages.values()
        assert copy.recipients == ("ann", "bob")
        exchange.take(sides[1], scanned(there), 0.0)
        compare_pairs(exchange)
        write(folder, "lead", [entry("Stop.", msg_id="m1")])
        exchange.take(sides[0], now(store), 0.0)
    losses = {loss.what: loss.after for loss in exchange.losses.all()}
    assert losses["changed since it was copied"] == "as it was"
    assert not losses.keys() & {"duplicate id", "recipients"}


def test_what_the_copy_lost_is_told_after_a_new_start_too(tmp_path: Path) -> None:
    ours = host(tmp_path / "a")
    append(tmp_path / "a", message_record("m1", ttl_hours=4))
    ChannelsStore.create(tmp_path / "b").close()
    channels: Opened = lambda: ChannelsStore.open(tmp_path / "b")  # noqa: E731
    told = [{loss.what for loss in mirrored(ours, channels, is_both=False).losses} for _ in range(2)]
    assert told[0] == told[1] >= {"ttl hours"}


def test_a_record_that_can_not_be_written_holds_up_no_other_and_is_written_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = host(tmp_path / "a")
    _, theirs = hub()
    append(tmp_path / "a", *(message_record(f"m{at}", timestamp=f"2026-03-16T12:00:0{at}Z") for at in range(6)))
    real, is_full = MemoryStore.merge, True

    def merge(self: MemoryStore, records: Sequence[Adopted]) -> Merged:
        if is_full and any(isinstance(each, AdoptedMessage) and each.message.id == "m2" for each in records):
            raise StoreError("the disk is full", "free some space")
        return real(self, records)

    monkeypatch.setattr(MemoryStore, "merge", merge)
    with pytest.raises(StoreError, match="the disk is full"):
        mirrored(ours, theirs)
    assert sorted(contents(theirs)[1]) == ["m0", "m1", "m3", "m4", "m5"]

    async def story() -> None:
        nonlocal is_full
        async with following((ours, theirs)) as (status,):
            await until(lambda: status.ends[1].reason.startswith("the disk is full"))
            assert (status.phase, status.ends[1].pending) == ("waiting", 1)
            is_full = False
            await until(lambda: "m2" in contents(theirs)[1] and not status.ends[1].reason)

    asyncio.run(story())


def test_a_mailbox_that_is_replaced_is_read_and_filled_again(tmp_path: Path) -> None:
    ours = host(tmp_path / "a")
    store, theirs = hub()
    append(tmp_path / "a", message_record("m1"), message_record("m2"))

    async def story() -> None:
        async with following((ours, theirs)):
            await until(lambda: len(contents(theirs)[1]) == 2)
            store.replace(message_record("m2"), message_record("m3"))
            await until(lambda: sorted(contents(theirs)[1]) == sorted(contents(ours)[1]) == ["m1", "m2", "m3"])

    asyncio.run(story())


def test_channels_get_messages_with_their_ids_and_say_what_has_no_place_there(tmp_path: Path) -> None:
    (tmp_path / "collab").mkdir()
    ChannelsStore.create(tmp_path / "collab").close()
    channels: Opened = lambda: ChannelsStore.open(tmp_path / "collab")  # noqa: E731
    ours = host(tmp_path / "a")
    append(
        tmp_path / "a",
        message_record("m1", subject="A subject", ttl_hours=3),
        message_record("m2", "/../x", sender="../x"),
    )
    with ours() as one:
        one.mark_read(ANN, ["m1"])
        one.update_agent(Agent(ANN))
    with channels() as store:
        sent = store.send(draft(sender="user", recipients=("project:general",), content="Theirs."))
    status = mirrored(ours, channels)
    assert contents(channels)[1] == contents(ours)[1] == {"m1": "A text.", "m2": "/../x", sent.id: "Theirs."}
    assert {"read", "agent", "subject", "ttl hours", "recipients"} <= {loss.what for loss in status.losses}
    assert not status.conflicts
    shutil.rmtree(mirrors_folder())
    mirrored(channels, ours)
    again = mirrored(ours, channels)
    assert not any(end.run for end in again.ends)
    assert not again.conflicts


def test_many_mirrors_at_once_write_a_channel_file_once(tmp_path: Path) -> None:
    (tmp_path / "collab").mkdir()
    ChannelsStore.create(tmp_path / "collab").close()
    _, theirs = hub()
    MemoryStore(records=theirs().records).append(*(message_record(f"m{at}") for at in range(20)))  # type: ignore[attr-defined]
    with theirs() as store:
        found = Contents(store)
        messages = [AdoptedMessage(found.messages[f"m{at}"], "A text.") for at in range(20)]
    stores = [ChannelsStore.open(tmp_path / "collab") for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        merged = list(pool.map(lambda store: store.merge(messages), stores))
    assert sum(20 - len(each.present) for each in merged) == 20
    there, texts = contents(lambda: ChannelsStore.open(tmp_path / "collab"))
    assert not there.twins
    assert len(texts) == 20


def test_two_hosts_and_a_hub_follow_each_other_though_each_is_cut_off(tmp_path: Path) -> None:
    first, second = host(tmp_path / "a"), host(tmp_path / "b")
    _, middle = hub()
    boxes = (first, second, middle)

    def hold(number: int) -> bool:
        found = [contents(each) for each in boxes]
        same = all(texts == found[0][1] for _, texts in found) and len({len(each.receipts) for each, _ in found}) == 1
        return same and len(found[0][1]) == number

    async def story() -> None:
        async with following((first, middle), (second, middle)) as statuses:
            append(tmp_path / "a", message_record("m1"), message_record("m2", sender="x"))
            with second() as store:
                store.send(draft(sender=BOB, recipients=(ANN,), content="Sent."))
            await until(lambda: hold(3))
            (tmp_path / "a").rename(tmp_path / "away")
            await until(lambda: statuses[0].ends[0].cut_off is not None)
            append(tmp_path / "away", message_record("m3"))
            with second() as store:
                store.mark_read(ANN, ["m1"])
                store.send(draft(sender=BOB, recipients=(ANN,), content="Meanwhile."))
            (tmp_path / "away").rename(tmp_path / "a")
            await until(lambda: hold(5))
            await until(lambda: statuses[0].ends[0].cut_off is None)

    asyncio.run(story())
    for each in boxes:
        assert not contents(each)[0].twins
