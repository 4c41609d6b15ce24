"""The mailbox as it stood: who was alive, what was there, who had read what."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mailstore.delegating import ReadOnly
from mailstore.errors import Unsupported
from mailstore.haak import HaakStore
from mailstore.queries.time_parse import read_moment, read_period
from mailstore.records.message import Delivery, Message, Problem, Receipt
from mailstore.records.roster import Agent, Status
from mailstore.registry import open_store
from mailstore.state.mailbox import Mailbox
from mailstore.state.past import lines_at, mailbox_at
from mailstore.state.views import View
from tests.hostile.samples import SAMPLES
from tests.mailboxes import NOW, MailFiles, every_case, iso

ANN, BOB, DED = "ann-00000001", "bob-00000001", "ded-00000001"


def folded(mail: MailFiles) -> Mailbox:
    mailbox = Mailbox()
    with HaakStore.open(mail.data) as store:
        for batch in store.scan():
            mailbox.fold(batch, NOW)
    return mailbox


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path)
    mail.agent(ANN, started_at=iso(NOW - 9000))
    mail.agent(BOB, started_at=iso(NOW - 500))
    mail.agent(DED, "dead", started_at=iso(NOW - 9000), ended_at=iso(NOW - 300))
    mail.message("one", ANN, DED, "Alive?", ago=600)
    mail.message("two", ANN, BOB, "New?", ago=400)
    mail.message("three", BOB, ANN, "Yes.", ago=200, thread="two")
    mail.message("old", ANN, DED, "Archived.", ago=800, archived=True)
    mail.read("two", BOB, ago=100)
    mail.intervention("acknowledge", "one", ago=50, recipient=DED)
    return mail


def test_who_was_alive_what_was_there_and_who_had_read_it(mail: MailFiles) -> None:
    mailbox = folded(mail)
    facts = {}
    for ago in (850, 550, 350, 150, 75, 0):
        past = mailbox_at(mailbox, NOW - ago)
        facts[ago] = (
            sorted(past.ids()),
            {agent.session_id[:3]: agent.status.value for agent in past.roster},
            [it.message.id for it in past.dead_letters(NOW - ago)],
            past.unread_count(BOB),
        )
    living = {"ann": "living", "ded": "living"}
    assert facts == {
        850: ([], living, [], 0),
        550: (["old", "one"], living, [], 0),
        350: (["old", "one", "two"], {**living, "bob": "living"}, [], 1),
        150: (["old", "one", "three", "two"], {"ann": "living", "bob": "living", "ded": "dead"}, ["one", "old"], 1),
        75: (["old", "one", "three", "two"], {"ann": "living", "bob": "living", "ded": "dead"}, ["one", "old"], 0),
        0: (["old", "one", "three", "two"], {"ann": "living", "bob": "living", "ded": "dead"}, ["old"], 0),
    }


def test_threads_are_those_of_the_moment(mail: MailFiles) -> None:
    mailbox = folded(mail)
    assert mailbox_at(mailbox, NOW - 350).summary("two").messages == 1
    assert mailbox_at(mailbox, NOW - 150).summary("two").messages == 2
    assert mailbox_at(mailbox, NOW).threads(View("all"))[0] == "two"


def test_the_present_is_the_past_of_now(tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path)
    mailbox = folded(mail)
    past = mailbox_at(mailbox, NOW)
    for message in mailbox.live():
        if message.time <= NOW and not message.read_by:
            assert {name: it.state for name, it in past.states(message, NOW).items()} == {
                name: it.state for name, it in mailbox.states(message, NOW).items()
            }, message.id


@pytest.mark.parametrize("kind", SAMPLES)
def test_the_numbers_of_now_are_those_of_live(kind: str, tmp_path: Path) -> None:
    now = time.time()
    mailbox = Mailbox()
    with open_store(SAMPLES[kind](tmp_path / "new")) as store:
        for batch in store.scan():
            mailbox.fold(batch, now)
    mailbox.fold([Problem("a-file", 3, 100, "torn"), Problem("a-file", 4, 200, "odd", fatal=False)], now)
    mailbox.advance(now)
    past = mailbox_at(mailbox, now)
    assert past.counts() == mailbox.counts()
    assert past.counts().unreadable
    assert past.problems == mailbox.problems


def test_a_roster_is_taken_back_line_by_line() -> None:
    lines = [
        Agent("x", role="scout", updated=10.0),
        Agent("x", role="scout", status=Status.FROZEN, updated=20.0),
        Agent("x", role="lead", updated=30.0, last_seen=35.0),
        Agent("x", role="lead", status=Status.DEAD, updated=90.0, ended_at=40.0),
    ]
    said = {moment: lines_at(lines, moment) for moment in (5.0, 10.0, 25.0, 33.0, 50.0, 90.0)}
    assert [len(each) for each in said.values()] == [1, 1, 2, 3, 4, 4]
    assert [(each[-1].role, each[-1].status) for each in said.values()] == [
        ("scout", Status.LIVING),
        ("scout", Status.LIVING),
        ("scout", Status.FROZEN),
        ("lead", Status.LIVING),
        ("lead", Status.DEAD),
        ("lead", Status.DEAD),
    ]
    assert said[33.0][-1].last_seen is None
    assert said[90.0][2].last_seen == 35.0


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (Agent("x", status=Status.DEAD, started_at=1.0, ended_at=20.0, updated=90.0), "living"),
        (Agent("x", status=Status.DEAD, started_at=1.0, ended_at=10.0, updated=90.0), "dead"),
        (Agent("x", status=Status.FROZEN, started_at=1.0, updated=90.0), "living"),
        (Agent("x", status=Status.DEAD), "dead"),
        (Agent("x", started_at=16.0), ""),
        (Agent("x", updated=16.0), "living"),
        (Agent("x", status=Status.DEAD, ended_at=16.0), "living"),
    ],
)
def test_one_line_tells_as_much_of_the_past_as_it_has_times_for(line: Agent, status: str) -> None:
    said = lines_at([line], 15.0)
    assert (said[-1].status.value if said else "") == status


def test_an_agent_without_a_start_was_there_always() -> None:
    mailbox = Mailbox()
    sent = Message("m", "y", ("all",), "", 10.0, "s")
    mailbox.fold([Agent("x", updated=90.0), sent], 100.0)
    past = mailbox_at(mailbox, 11.0)
    assert {name: it.state for name, it in past.states(sent, 11.0).items()} == {"x": "unread"}


def test_a_delivery_is_there_from_when_it_was_recorded() -> None:
    mailbox = Mailbox()
    sent = Message("m", ANN, ("nobody",), "", 10.0, "s")
    told = [Agent(BOB), sent, Delivery("m", BOB, 20.0), Delivery("m", DED)]
    mailbox.fold(told, 100.0)
    at = {moment: mailbox_at(mailbox, moment).deliveries("m") for moment in (15.0, 20.0)}
    assert at == {15.0: [DED], 20.0: [BOB, DED]}


@pytest.mark.parametrize(("listed", "recorded"), [(BOB, BOB), ("human", "user")])
def test_a_read_with_a_time_replaces_those_of_its_reader_without(listed: str, recorded: str) -> None:
    mailbox = Mailbox()
    sent = Message("m", ANN, (recorded,), "", 10.0, "s", read_by=(listed,))
    mailbox.fold([Agent(BOB), sent, Receipt("m", listed), Receipt("m", recorded, 20.0)], 100.0)
    past = {moment: mailbox_at(mailbox, moment).bare_states(sent, moment) for moment in (15.0, 20.0)}
    assert past == {15.0: {recorded: "unread"}, 20.0: {recorded: "read"}}


def test_what_is_archived_was_not_before_the_journal_tells_of_it(mail: MailFiles) -> None:
    before = {ago: mailbox_at(folded(mail), NOW - ago).counts().archived for ago in (700, 0)}
    mail.intervention("archive", "", ago=150)
    after = {ago: mailbox_at(folded(mail), NOW - ago).counts().archived for ago in (700, 151, 150, 0)}
    assert (before, after) == ({700: 1, 0: 1}, {700: 0, 151: 0, 150: 1, 0: 1})


def test_at_now_the_totals_are_those_of_now(tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path)
    mailbox = folded(mail)
    now = max(NOW, *mailbox.times())
    mailbox.advance(now)
    past, counts = mailbox_at(mailbox, now).counts(), mailbox.counts()
    assert past == replace(counts, unreadable=past.unreadable, warnings=past.warnings)


def test_a_ttl_stands_still_in_the_past_while_its_reader_was_frozen() -> None:
    mailbox = Mailbox()
    lines = [
        Agent(BOB, started_at=0.0, updated=0.0),
        Agent(BOB, Status.FROZEN.value, status=Status.FROZEN, started_at=0.0, updated=1000.0),
        Agent(BOB, started_at=0.0, updated=5000.0),
    ]
    mail_item = Message("m", ANN, (BOB,), "", 900.0, "s", ttl_hours=1.0)
    mailbox.fold([*lines, mail_item], 9e9)
    states = [mailbox_at(mailbox, at).states(mail_item, at)[BOB].state.value for at in (950.0, 4900.0, 8000.0, 9000.0)]
    assert states == ["unread", "frozen", "unread", "expired"]


times = st.integers(0, 100).map(float)
messages = st.builds(
    Message,
    id=st.sampled_from("abcdef"),
    sender=st.sampled_from([ANN, BOB]),
    recipients=st.sampled_from([(ANN,), (BOB,), ("all",), ("user",)]),
    timestamp=st.just(""),
    time=times,
    subject=st.just("s"),
)
receipts = st.builds(Receipt, st.sampled_from("abcdef"), st.sampled_from([ANN, BOB, "user"]), times)


@given(st.lists(messages, unique_by=lambda it: it.id), st.lists(receipts), st.integers(0, 100).map(float))
def test_the_past_is_what_was_folded_by_then(mail: list[Message], reads: list[Receipt], moment: float) -> None:
    agents = [Agent(ANN, started_at=0.0), Agent(BOB, started_at=0.0)]
    now, then = Mailbox(), Mailbox()
    now.fold([*agents, *mail, *reads], 100.0)
    there = {it.id for it in mail if it.time <= moment}
    then.fold([*agents, *(it for it in mail if it.time <= moment)], moment)
    then.fold([it for it in reads if it.message_id in there and it.time is not None and it.time <= moment], moment)
    then.advance(moment)
    past = mailbox_at(now, moment)
    assert past.ids() == there
    assert past.threads(View("all")) == then.threads(View("all"))
    for name in (ANN, BOB):
        assert [it.id for it in past.unread(name, moment)] == [it.id for it in then.unread(name, moment)]
    assert past.counts() == then.counts()


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2h", NOW - 7200),
        ("2026-03-16", NOW - 14.5 * 3600),
        ("today", NOW - 14.5 * 3600),
        ("yesterday", NOW - 38.5 * 3600),
        ("2026-03-16T14:00", NOW - 1800),
        ("2026-03-16T15:00+01:00", NOW - 1800),
        ("14:00", NOW - 1800),
        ("9:05", NOW - 5 * 3600 - 25 * 60),
        ("14:00:30", NOW - 1770),
        ("15:00", NOW - 23.5 * 3600),
        ("soon", None),
        ("25:00", None),
        ("", None),
        ("2h30", None),
        ("now", NOW),
        ("Yesterday 9:00", NOW - 29.5 * 3600),
        ("monday", NOW - 14.5 * 3600),
        ("last monday", NOW - 14.5 * 3600 - 7 * 86400),
        ("sun", NOW - 38.5 * 3600),
        ("last-week", NOW - 14.5 * 3600 - 7 * 86400),
        ("this month", NOW - 14.5 * 3600 - 15 * 86400),
        ("last month", NOW - 14.5 * 3600 - 43 * 86400),
        ("2026-02", NOW - 14.5 * 3600 - 43 * 86400),
        ("14:00z", NOW - 1800),
        ("last", None),
        ("week", None),
        ("last today", None),
        ("next monday", None),
        ("monday monday", None),
        ("2026-02-30", None),
        ("9999-12-31", None),
    ],
)
def test_how_people_write_a_moment(text: str, moment: float | None) -> None:
    assert read_moment(text, NOW) == moment


def test_a_time_without_an_offset_is_local(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Europe/Berlin")
        time.tzset()
        summer = datetime(2026, 3, 29, 10, tzinfo=UTC).timestamp()  # the clocks went forward on this day
        assert read_moment("today", summer) == datetime(2026, 3, 28, 23, tzinfo=UTC).timestamp()
        assert read_moment("09:00", summer) == datetime(2026, 3, 29, 7, tzinfo=UTC).timestamp()
        assert read_moment("09:00Z", summer) == datetime(2026, 3, 29, 9, tzinfo=UTC).timestamp()
        assert read_moment("yesterday 09:00", summer) == datetime(2026, 3, 28, 8, tzinfo=UTC).timestamp()
        assert read_moment("2026-03-29T12:00", summer) == summer
        assert read_moment("2026-03-29T10:00Z", summer) == summer
        assert read_period("today", summer) == (
            datetime(2026, 3, 28, 23, tzinfo=UTC).timestamp(),
            datetime(2026, 3, 29, 22, tzinfo=UTC).timestamp(),
        )
    time.tzset()


def test_a_store_that_is_looked_at_only_refuses_every_command(mail: MailFiles) -> None:
    with HaakStore.open(mail.data) as store:
        looked_at = ReadOnly(store, "it is the past")
        message = next(it for batch in looked_at.scan() for it in batch if isinstance(it, Message))
        assert looked_at.content(message) == store.content(message)
        for deed in (
            lambda: looked_at.mark_read("user", ["one"]),
            lambda: looked_at.update_agent(Agent("x")),
        ):
            with pytest.raises(Unsupported, match="it is the past"):
                deed()
