"""The overview's figures: against an independent computation, and each rule by itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailstore.folding import fold_store
from mailstore.haak import HaakStore
from mailstore.overview.bars import MOST_BARS, SPANS, TimeBars, bars_of, bars_since
from mailstore.overview.counting import traffic_picture, traffic_steps
from mailstore.overview.leads import of_agent, of_channel, of_pair, within
from mailstore.overview.matrix import matrix_of
from mailstore.overview.picture import LeftOut, PairTraffic, TrafficPicture
from mailstore.overview.standing import FleetStanding, standing
from mailstore.queries.attention import Limits
from mailstore.queries.language.parser import parse
from mailstore.queries.search import SearchContext, search
from mailstore.records.address import is_channel, resolve
from mailstore.records.events import Event, Reset
from mailstore.records.message import Message, Receipt
from mailstore.records.roster import Agent
from mailstore.records.scope import url_of
from mailstore.registry import open_store
from mailstore.state.mailbox import Mailbox
from mailstore.steps import MailboxReloaded
from tests.mailboxes import HOUR, NOW, MailFiles, iso
from tests.mailstore.overview_oracle import OracleMessage, Read, figures

FIXTURES = Path(__file__).parents[1] / "fixtures"
BARS = TimeBars(1000.0, 60.0, 7)
ANN, BOB, CID = "ann-00000001", "bob-00000001", "cid-00000001"
MEANS = {"human": "user", "ann-0000": ANN, "agent:bob-00000001": BOB, "role:clerk": "clerk", "broadcast": "all"}
CHANNELS = ("project:ink", "concern:rules")
names = st.sampled_from([ANN, BOB, CID, "user", "human", "stranger"])
addresses = st.sampled_from(
    [ANN, BOB, "ann-0000", "agent:bob-00000001", "user", "all", "broadcast", "clerk", "role:clerk"]
)
times = st.integers(900, 1480).map(float)
ids = st.sampled_from([f"m{number}" for number in range(12)])


@st.composite
def mail(draw: st.DrawFn) -> tuple[list[OracleMessage], list[Read]]:
    messages = [
        OracleMessage(
            message_id,
            draw(names),
            tuple(draw(st.lists(addresses | st.sampled_from(CHANNELS), min_size=1, max_size=3, unique=True))),
            draw(times | st.none()),
            draw(ids | st.none()),
        )
        for message_id in draw(st.lists(ids, max_size=12, unique=True))
    ]
    return messages, draw(st.lists(st.builds(Read, ids, names, times | st.none()), max_size=20))


def as_event(item: OracleMessage) -> Message:
    time = 1200.0 if item.time is None else item.time
    stamp = "at noon" if item.time is None else iso(time)
    return Message(
        item.id,
        item.sender,
        item.to,
        stamp,
        time,
        "",
        item.answers,
        timed=item.time is not None,
    )


def folded(messages: list[OracleMessage], reads: list[Read]) -> Mailbox:
    agents = [Agent(ANN), Agent(BOB, role="clerk"), Agent(CID)]
    receipts = [Receipt(read.message, read.reader, read.time) for read in reads]
    mailbox = Mailbox()
    events: list[Event] = [*agents, *receipts, *map(as_event, messages)]
    mailbox.fold(events, 2000.0)
    return mailbox


def shown(picture: TrafficPicture) -> dict[str, Any]:
    left = picture.left_out
    return {
        "agents": {
            it.name: (
                it.sent,
                it.read,
                (it.to_read.seconds, it.to_read.number),
                (it.to_answer.seconds, it.to_answer.number),
            )
            for it in picture.agents
        },
        "channels": {it.tag: (it.sent, it.senders) for it in picture.channels},
        "pairs": {(it.sender, it.recipient): it.number for it in picture.pairs},
        "undated": left.undated,
        "later": left.later,
        "undated reads": left.undated_reads,
        "early reads": left.early_reads,
        "early answers": left.early_answers,
    }


@given(mail())
def test_every_figure_is_what_the_records_give(of: tuple[list[OracleMessage], list[Read]]) -> None:
    mailbox = folded(*of)
    picture = traffic_picture(mailbox, 1400.0, lambda first: BARS)
    assert shown(picture) == figures(*of, MEANS, BARS, CHANNELS)
    assert sum(picture.sent) == sum(sum(it.sent) for it in picture.agents)
    assert sum(picture.read) == sum(sum(it.read) for it in picture.agents)


@given(mail())
def test_the_query_of_a_cell_finds_the_messages_that_it_counts(of: tuple[list[OracleMessage], list[Read]]) -> None:
    mailbox = folded(*of)
    picture = traffic_picture(mailbox, 1400.0, lambda first: BARS)
    context = SearchContext(mailbox, lambda message: "", 2000.0)

    def number(query: str) -> int:
        return len(list(search(mailbox.messages(), parse(query, 2000.0), context)))

    when = within(BARS, is_open=False)
    for pair in picture.pairs:
        assert number(of_pair(picture, [pair.sender], [pair.recipient], when)) == pair.number
    for channel in picture.channels:
        assert number(of_channel(channel.tag, when)) == sum(channel.sent)
    for agent in picture.agents:
        assert number(of_agent(picture, agent.name, when)) >= sum(agent.sent)
    for bar, sent in enumerate(picture.sent):
        assert number(within(BARS, bar, bar, is_open=False)) == sent


@given(
    span=st.sampled_from(SPANS),
    offset=st.sampled_from([0.0, 2 * HOUR, -5.5 * HOUR]),
    now=st.floats(1.7e9, 1.8e9),
    age=st.floats(0, 4e8),
    most=st.integers(24, MOST_BARS),
)
def test_bars_are_round_and_end_after_now(span: str, offset: float, now: float, age: float, most: int) -> None:
    bars = bars_of(span, now, now - age, offset, most)
    assert 1 <= bars.number <= most + 1
    assert bars.end - bars.length <= now < bars.end
    assert (bars.start + offset) % bars.length == 0
    assert bars.bar(now) == bars.number - 1
    if span == "all":
        assert bars.start <= now - age
    else:
        seconds = {"1h": 3600, "6h": 21600, "1d": 86400, "7d": 604800, "30d": 2592000}[span]
        assert now - bars.length - seconds < bars.start <= now - seconds + bars.length * 2


def test_bars_since_a_time_contain_it() -> None:
    bars = bars_since(NOW - 5 * HOUR, NOW)
    assert bars.bar(NOW - 5 * HOUR) == 0
    assert bars.bar(bars.end) is None


def test_a_matrix_adds_up_what_has_no_room() -> None:
    pairs = [PairTraffic(f"s{at}", f"r{at % 3}", 10 - at) for at in range(6)]
    matrix = matrix_of(pairs, 3, 2)
    assert matrix.senders == (("s0",), ("s1",), ("s2", "s3", "s4", "s5"))
    assert sum(map(sum, matrix.numbers)) == sum(pair.number for pair in pairs)
    assert matrix.recipients[-1] == ("r1", "r2") or len(matrix.recipients[-1]) == 2
    assert matrix_of([], 3, 2).most == 0


def test_only_the_first_answer_of_a_party_is_one_and_one_from_before_the_bars_was_the_first() -> None:
    asked, early = OracleMessage("q", ANN, (BOB,), 900.0), OracleMessage("a", BOB, (ANN,), 950.0, "q")
    late, other = OracleMessage("b", BOB, (ANN,), 1030.0, "q"), OracleMessage("c", CID, (ANN,), 1040.0, "q")

    def answered(*messages: OracleMessage) -> dict[str, int]:
        picture = traffic_picture(folded(list(messages), []), 1400.0, lambda first: BARS)
        return {it.name: it.to_answer.number for it in picture.agents}

    assert answered(asked, early, late, other) == {BOB: 0, CID: 1}
    assert answered(asked, late, other) == {BOB: 1, CID: 1}


def test_only_chosen_messages_can_be_counted(tmp_path: Path) -> None:
    mailbox = folded(
        [OracleMessage("a", ANN, (BOB,), 1010.0), OracleMessage("b", BOB, (ANN,), 1100.0, "a")],
        [Read("a", BOB, 1050.0), Read("b", ANN, 1200.0)],
    )
    picture = traffic_picture(mailbox, 1400.0, lambda first: BARS, only={"b"})
    assert [(it.name, sum(it.sent), sum(it.read)) for it in picture.agents] == [(BOB, 1, 0), (ANN, 0, 1)]


def test_a_reload_between_two_steps_is_told() -> None:
    mailbox = folded([OracleMessage("a", ANN, (BOB,), 1010.0)], [])
    steps = traffic_steps(mailbox, 1400.0, lambda first: BARS)
    next(steps)
    mailbox.fold([Reset("replaced")], 2000.0)
    with pytest.raises(MailboxReloaded):
        list(steps)


def test_an_empty_mailbox_has_an_empty_picture() -> None:
    picture = traffic_picture(Mailbox(), NOW, lambda first: bars_of("all", NOW, first))
    assert (picture.agents, picture.channels, picture.pairs, picture.left_out) == ((), (), (), LeftOut())
    assert picture.bars.number == 1


def test_hot_spots_are_the_concerns_of_attention(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent(ANN)
    mail.agent(BOB)
    mail.message("q", ANN, BOB, "Well?", ago=5 * HOUR, type="question")
    mail.message("later", ANN, BOB, "And?", ago=2 * HOUR, type="question")
    mailbox = Mailbox()
    with HaakStore.open(mail.data) as store:
        for batch in store.scan():
            mailbox.fold(batch, NOW)
    found = standing(mailbox, NOW, Limits())
    assert found.questions[BOB].message_id == "q"
    spot = found.between(ANN, BOB)
    assert spot is not None
    assert spot.concern.message_id == "q"
    assert found.of(ANN) == spot
    bars = bars_of("6h", NOW, NOW)
    assert found.by_bar(bars)[bars.bar(NOW - 5 * HOUR) or 0] == spot
    assert found.between(BOB, ANN) is None


def test_each_recipient_of_a_message_is_looked_up_once_however_many_of_them_are_dead_letters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail = MailFiles(tmp_path)
    mail.agent(ANN)
    names = [f"gone-{number:08}" for number in range(60)]
    mail.message("q", ANN, names, "Anybody?")
    with HaakStore.open(mail.data) as store:
        mailbox = fold_store(store, "user", NOW)
    looked_up: list[str] = []
    passed: list[str] = []

    class Addressed(tuple[str, ...]):
        def __iter__(self) -> Iterator[str]:
            for name in super().__iter__():
                passed.append(name)
                yield name

    def counted(text: str, *more: Any) -> Any:
        looked_up.append(text)
        return resolve(text, *more)

    monkeypatch.setattr("mailstore.overview.standing.resolve", counted)
    found = standing(mailbox, NOW, Limits(growth_letters=1000))
    assert [spot.concern.message_id for spot in found.hot] == ["q"] * len(names)
    assert looked_up == names
    again = FleetStanding({}, [spot._replace(addressed=Addressed(spot.addressed)) for spot in found.hot])
    assert passed == names
    for every in (found, again):
        assert {every.between(ANN, name) for name in names} == {every.at(name) for name in names} == {found.hot[0]}
        assert every.of(ANN) == found.hot[0]


OTHERS = ("agentazall", "agent-mail", "channels", "neo", "hcom", "omo")
ROOTS = sorted((FIXTURES / "agentazall-roots" / "relay").iterdir())


@pytest.mark.parametrize(
    "url",
    [
        url_of({kind: f"{kind}:{FIXTURES / kind}" for kind in OTHERS}),
        url_of({root.name: f"agentazall:{root}" for root in ROOTS}),
    ],
    ids=["several systems", "copies of one message"],
)
def test_mail_of_every_system_and_copies_of_a_message_count_once(url: str) -> None:
    now = 1_800_000_000.0
    with open_store(url) as store:
        mailbox = fold_store(store, "user", now)
    messages = [
        OracleMessage(it.id, it.sender, it.recipients, it.time if it.timed else None, it.thread)
        for it in mailbox.messages()
    ]
    reads = [Read(item.id, it.reader, it.time) for item in messages for it in mailbox.receipts(item.id)]
    texts = {text for item in messages for text in item.to}
    means = {text: resolve(text, mailbox.roster, mailbox.user).name for text in texts}
    channels = {text for text in texts if is_channel(text)}
    bars = bars_of("all", now, min(item.time for item in messages if item.time is not None))
    picture = traffic_picture(mailbox, now, lambda first: bars)
    assert shown(picture) == figures(messages, reads, means, bars, channels)
    assert sum(picture.sent) == len(messages) - picture.left_out.undated
