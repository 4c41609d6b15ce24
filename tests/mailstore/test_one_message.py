"""Copies of one message are one message: in one mailbox and across several, in whatever order they come."""

from __future__ import annotations

import asyncio
import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailstore.conformance.following import following, of, scanned
from mailstore.errors import UnknownStore
from mailstore.kinds.agentazall.store import AgentAZAllStore
from mailstore.records.events import Event, Reset, Seen
from mailstore.records.message import Delivery, Message, Receipt, Trace
from mailstore.records.scope import parts_of, url_of
from mailstore.registry import open_store
from mailstore.rules.copies import Copies
from mailstore.state.arrivals import Arrivals
from mailstore.state.filing import Filing
from mailstore.state.mailbox import Mailbox
from mailstore.state.past import mailbox_at
from tests.kinds.agentazall.agentazall_mail import AgentAZAllMail, identity
from tests.mailstore.folded import answers

ROOTS = Path(__file__).parents[1] / "fixtures" / "agentazall-roots"
"""What the real program wrote: agents with a root each, three on a relay and two with an e-mail server."""
NOW = 1_800_000_000.0
RELAYED = {"Date": "2026-11-20T12:00:01.5", "From": "bob.agenttalk", "To": "ann.agenttalk"}


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let local times be those of the machine on which the program wrote."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


def url_of_roots(kind: str) -> str:
    return url_of({root.name: f"agentazall:{root}" for root in sorted((ROOTS / kind).iterdir())})


def events_of(url: str | Path) -> list[Event]:
    with open_store(url) as store:
        return scanned(store)


def folded(events: list[Event]) -> Mailbox:
    mailbox = Mailbox()
    mailbox.fold(events, NOW)
    return mailbox


def states(mailbox: Mailbox) -> dict[str, list[dict[str, str]]]:
    """Return what became of the messages, by subject."""
    found: dict[str, list[dict[str, str]]] = {}
    for message in mailbox.messages():
        told = {name: state.value for name, state in mailbox.bare_states(message, NOW).items()}
        found.setdefault(message.subject, []).append(told)
    return found


def test_messages_by_relay_and_their_copies_are_as_many_as_were_sent() -> None:
    url = url_of_roots("relay")
    mailbox = folded(events_of(url))
    ralf, rita, rosa = (f"{name}/{name}.agenttalk" for name in ("ralf", "rita", "rosa"))
    # two of them say the very same within a second, and are two
    assert states(mailbox) == {
        "Plan": [{ralf: "read", rosa: "unread"}],
        "Ping": [{ralf: "unread"}, {ralf: "unread"}],
        "Re: Plan": [{rita: "unread"}],
    }
    assert (mailbox.counts().messages, mailbox.counts().unseen, len(mailbox)) == (4, 4, 4)
    assert [mailbox.unread_count(name) for name in (ralf, rita, rosa)] == [2, 1, 1]
    [plan] = [message for message in mailbox.messages() if message.subject == "Plan"]
    [answer] = [message for message in mailbox.messages() if message.thread]
    assert answer.thread == plan.id
    assert [len(mailbox.places(message.id)) for message in mailbox.messages()] == [3, 2, 2, 2]
    with open_store(url) as store:
        scanned(store)
        assert store.content(plan) == "The plan is ready."
    for place in mailbox.places(plan.id):
        copy = f"{place.partition('/')[0]}/{Path(place).stem}"
        assert mailbox.message(copy) == plan
        assert mailbox.root_of(copy) == plan.id
        assert [message.id for message in mailbox.find(copy[:-2])] == [plan.id]


def test_messages_by_e_mail_and_their_copies_are_as_many_as_were_sent() -> None:
    mailbox = folded(events_of(url_of_roots("email")))
    emil, emma = "emil/emil@localhost", "emma/emma@localhost"
    assert states(mailbox) == {"By mail": [{emil: "read"}], "Re: By mail": [{emma: "unread"}]}


@pytest.mark.parametrize("kind", ["relay", "email"])
def test_the_order_in_which_copies_come_changes_nothing(kind: str) -> None:
    events = events_of(url_of_roots(kind))
    events.append(Seen(of(Message, events)[0].id))
    expected = answers(folded(events), NOW)
    for seed in range(25):
        chance = random.Random(seed)
        told = events[1:]
        chance.shuffle(told)
        mailbox = Mailbox()
        mailbox.fold(events[:1], NOW)
        while told:
            at = chance.randint(1, 12)
            mailbox.fold(told[:at], NOW)
            told = told[at:]
        found = answers(mailbox, NOW)
        for question, answer in expected.items():
            assert found[question] == answer, (seed, question)


@pytest.mark.parametrize("kind", ["relay", "email"])
def test_a_message_is_new_once_in_whatever_order_its_copies_come(kind: str) -> None:
    first, *events = events_of(url_of_roots(kind))
    records: dict[str, list[Event]] = {}
    for event in sorted(events, key=lambda event: not isinstance(event, Trace)):
        records.setdefault(getattr(event, "id", getattr(event, "message_id", "")), []).append(event)
    for seed in range(25):
        chance = random.Random(seed)
        rest = [event for part in chance.sample(list(records.values()), len(records)) for event in part]
        mailbox, arrivals, arrived = folded([first]), Arrivals(), []
        while rest:
            at = chance.randint(1, 5)
            arrived += arrivals.fold(mailbox, rest[:at], NOW)
            rest = rest[at:]
        # two of one text and minute may change their copies when another one comes
        subjects = [message.subject for message in arrived if message.subject != "Ping"]
        assert sorted(subjects) == sorted({message.subject for message in mailbox.messages()} - {"Ping"}), seed
        assert arrivals.fold(mailbox, [Reset("again"), first, *events], NOW) == []


def test_a_past_and_a_root_alone_tell_of_the_same_messages() -> None:
    mailbox = folded(events_of(url_of_roots("relay")))
    past = mailbox_at(mailbox, NOW)
    assert {message.id: past.places(message.id) for message in past.messages()} == {
        message.id: mailbox.places(message.id) for message in mailbox.messages()
    }
    assert states(past) == states(mailbox)
    alone = folded(events_of(ROOTS / "relay" / "ralf"))
    # whoever has a folder here keeps its reads here, by whatever way it is reached
    assert alone.unread_count("ralf.agenttalk") == 2
    assert states(alone)["Re: Plan"] == [{"rita.agenttalk": "unrecorded"}]


def test_copies_that_came_by_several_ways_into_one_mailbox_are_one(tmp_path: Path) -> None:
    mail = AgentAZAllMail(tmp_path)
    for name in ("ann@localhost", "bob@localhost"):
        mail.agent(name)
    mail.message("bob@localhost/sent", "abc", Subject="Ink")
    mail.message("ann@localhost/inbox", "abc", Subject="Ink")
    mail.message("ann@localhost/inbox", "17_bob_x-y_1234", Subject="Ink", Status="read", **RELAYED)
    mail.message("ann@localhost/inbox", "fed", Subject="Ink", Date="Fri, 20 Nov 2026 12:00:03 +0000")
    mail.message("bob@localhost/sent", "re", Subject="Re: Ink", In_Reply_To="fed")
    mailbox = folded(events := events_of(mail.root))
    assert len(of(Message, events)) == 4
    assert states(mailbox) == {"Ink": [{"ann@localhost": "read"}], "Re: Ink": [{"ann@localhost": "unread"}]}
    assert mailbox.tree("abc")[1].id == "re"
    assert [Path(place).stem for place in mailbox.places("fed")] == ["17_bob_x-y_1234", "abc", "fed", "abc"]


def test_what_may_be_another_message_is_one_of_its_own(tmp_path: Path) -> None:
    mail = AgentAZAllMail(tmp_path)
    for name in ("ann@localhost", "bob@localhost", "cyd@localhost"):
        mail.agent(name)
    mail.message("bob@localhost/sent", "one", Subject="Ink")
    others = {
        "subject": {"Subject": "Paper"},
        "to": {"To": "cyd@localhost"},
        "from": {"From": "cyd@localhost"},
        "late": {"Date": "2026-11-20 12:11:00"},
        "text": {"body": "Another body."},
    }
    for name, fields in others.items():
        mail.message("ann@localhost/inbox", name, **{"Subject": "Ink", **fields})
    assert len(folded(events_of(mail.root))) == 6
    # whatever came twice to one place was sent twice
    mail.message("ann@localhost/inbox", "first", Subject="Ink")
    assert len(folded(events_of(mail.root))) == 6
    mail.message("ann@localhost/inbox", "second", Subject="Ink")
    assert len(folded(events_of(mail.root))) == 7


def test_one_signature_is_one_message_however_late_it_came(tmp_path: Path) -> None:
    mail = AgentAZAllMail(tmp_path)
    for name in ("ann@localhost", "bob@localhost", "cyd@localhost"):
        mail.agent(name)
    body = identity(1).signed("Signed.")
    mail.message("bob@localhost/sent", "one", body, Subject="Ink", To="ann@localhost, cyd@localhost")
    late = {"Subject": "Ink", "Date": "Sat, 21 Nov 2026 12:00:03 +0000"}
    mail.message("ann@localhost/inbox", "two", body, **late, To="ann@localhost, cyd@localhost")
    mail.message("cyd@localhost/inbox", "three", body, **late, To="ann@localhost, cyd@localhost")
    assert len(folded(events_of(mail.root))) == 1
    forged = identity(2).signed("Signed.")
    mail.message("cyd@localhost/inbox", "forged", forged, Subject="Ink", Date="Fri, 20 Nov 2026 12:00:03 +0000")
    mailbox = folded(events_of(mail.root))
    assert len(mailbox) == 2
    assert "forged" in mailbox


def test_a_copy_that_comes_later_joins_its_message(tmp_path: Path) -> None:
    roots = {name: AgentAZAllMail(tmp_path / name) for name in ("ann", "bob")}
    for name, root in roots.items():
        root.agent(f"{name}@localhost")
    outbox = roots["bob"].message("bob@localhost/outbox", "abc", Subject="Ink")
    mailbox = Mailbox()

    async def follow() -> list[Event]:
        with open_store(url_of({name: f"agentazall:{root.root}" for name, root in roots.items()})) as store:
            for batch in store.scan():
                mailbox.fold(batch, NOW)
            [mail_item] = mailbox.messages()
            assert mailbox.bare_states(mail_item, NOW) == {"bob/ann@localhost": "unknown"}
            async with following(store) as follower:
                sent = outbox.parent.parent / "sent"
                sent.mkdir()
                outbox.rename(sent / "abc.txt")
                roots["ann"].message(
                    "ann@localhost/inbox", "fed", Subject="Ink", Date="Fri, 20 Nov 2026 12:00:03 +0000"
                )
                events = await follower.until(
                    lambda told: (
                        any(it.file.endswith("sent/abc.txt") for it in of(Trace, told)) and bool(of(Delivery, told))
                    )
                )
            for batch in follower.batches:
                mailbox.fold(batch, NOW)
            return events

    events = asyncio.run(follow())
    assert not of(Reset, events)
    [mail_item] = mailbox.messages()
    assert mailbox.bare_states(mail_item, NOW) == {"ann/ann@localhost": "unread"}
    assert [message.id for message in mailbox.unread("ann/ann@localhost", NOW)] == ["bob/abc"]
    assert [place.split("/")[3] for place in mailbox.places(mail_item.id)] == ["inbox", "sent"]
    mailbox.fold([Receipt("ann/fed", "ann/ann@localhost"), Seen("ann/fed")], NOW)
    assert mailbox.bare_states(mail_item, NOW) == {"ann/ann@localhost": "read"}
    assert mailbox.counts().unseen == 0
    expected = answers(mailbox, NOW)
    Filing(mailbox.contents).rebuild(NOW)
    assert answers(mailbox, NOW) == expected


def test_many_messages_of_one_text_take_no_longer_than_others() -> None:
    copies = Copies()
    for number in range(20_000):
        slot, time_ = ("", number) if number % 2 else ("relay ann", number)
        copies.add(Trace(f"m{number}", f"m{number}", "ok", slot, "ann", ("ann",), time_, "", is_signed=False))
    begun = time.process_time()
    assert len(list(copies.settle())) == 10_000
    assert time.process_time() - begun < 5


TRACES = st.lists(
    st.builds(
        Trace,
        message_id=st.sampled_from("abcdefgh"),
        origin=st.just(""),
        message=st.sampled_from(["x", "y"]),
        slot=st.sampled_from(["", "relay ann", "e-mail ann", "relay bob"]),
        owner=st.just("ann"),
        to=st.sampled_from([("ann",), ("ann", "bob"), ("bob",)]),
        time=st.sampled_from([0.0, 1.0, 300.0, 700.0, 5000.0]),
        file=st.just(""),
        is_signed=st.booleans(),
    ).map(
        lambda trace: Trace(
            **{name: getattr(trace, name) for name in trace.__struct_fields__} | {"origin": trace.message_id}
        )
    ),
    max_size=16,
    unique_by=lambda trace: (trace.message_id, trace.slot),
)


@given(TRACES, st.randoms(use_true_random=False))
def test_every_record_is_of_one_message_and_none_lies_twice_in_one_place(
    traces: list[Trace], chance: random.Random
) -> None:
    def together(told: list[Trace]) -> set[tuple[str, ...]]:
        copies, found = Copies(), {}
        for at, trace in enumerate(told):
            copies.add(trace)
            if at % 3 == 0 or at == len(told) - 1:
                for mail_item in copies.settle():
                    found.update(dict.fromkeys(mail_item, tuple(mail_item)))
        return set(found.values())

    messages = together(traces)
    assert sorted(each for mail_item in messages for each in mail_item) == sorted(
        {trace.message_id for trace in traces}
    )
    for mail_item in messages:
        slots = [(trace.slot, trace.message_id) for trace in traces if trace.message_id in mail_item]
        by_slot: dict[str, set[str]] = {}
        for slot, message_id in slots:
            by_slot.setdefault(slot, set()).add(message_id)
        assert all(len(ids) == 1 for ids in by_slot.values())
    shuffled = list(traces)
    chance.shuffle(shuffled)
    assert together(shuffled) == messages


def test_a_folder_of_agents_with_a_root_each_is_opened_as_one(tmp_path: Path) -> None:
    labels = {"mail-emil", "mail-emma", "relay-ralf", "relay-rita", "relay-rosa"}
    shutil.copytree(ROOTS / "email", tmp_path / "roots" / "mail")
    shutil.copytree(ROOTS / "relay", tmp_path / "roots" / "relay")
    with open_store(tmp_path / "roots") as store:
        mailbox = folded(scanned(store))
        assert set(parts_of(store.url)) == labels
    assert set(mailbox.mailboxes()) == labels
    assert len(mailbox) == 6
    with open_store(ROOTS / "relay") as store:
        assert set(parts_of(store.url)) == {"ralf", "rita", "rosa"}
    with pytest.raises(UnknownStore):
        open_store(ROOTS / "email" / "emil" / "data" / "mailboxes" / "emil@localhost" / "2026-11-22")


def test_an_agent_with_two_roots_has_its_message_once(tmp_path: Path) -> None:
    """The same tree, reached by two paths, holds nothing twice."""
    for name in ("one", "other"):
        shutil.copytree(ROOTS / "email" / "emma", tmp_path / name)
    with AgentAZAllStore.open(tmp_path / "one") as store:
        number = len(of(Message, scanned(store)))
    url = url_of({name: f"agentazall:{tmp_path / name}" for name in ("one", "other")})
    assert len(folded(events_of(url))) == number
