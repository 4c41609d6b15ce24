"""Whoever goes through a mailbox in steps finds what was there before or after what comes between any two of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from threading import Thread
from typing import Any

import pytest

from mailstore.queries.attention import Limits, look
from mailstore.queries.query import parse
from mailstore.queries.search import SearchContext, looked_up
from mailstore.records.events import Event, Mailboxes, Reset, Seen
from mailstore.records.message import Delivery, Intervention, Location, Message, Receipt, Trace
from mailstore.records.roster import Agent, Status
from mailstore.state.mailbox import Mailbox, WrongThread, guarded
from mailstore.state.past import mailbox_at, past_in_steps
from mailstore.steps import BackgroundWork, MailboxReloaded
from tests.mailstore.folded import answers

NOW, HOUR = 1_000_000.0, 3600.0
ANN, BOB, EVE = "ann-00000001", "bob-00000001", "eve-00000001"


def item(key: str, sender: str, to: str, ago: float, **more: Any) -> Message:
    """Return a message whose place follows from its time."""
    where = Location("box", int(NOW - ago * HOUR), 10)
    return Message(key, sender, (to,), "", NOW - ago * HOUR, f"About {key}", location=where, **more)


OLD = item("m4", ANN, "builder", 3, type="question")
MAIL: list[Event] = [
    Agent(ANN, role="architect", started_at=0.0, updated=0.0),
    Agent(BOB, tags=("project:x",), started_at=0.0, updated=0.0),
    item("m1", ANN, BOB, 9),
    item("m2", BOB, "project:x", 8),
    item("m3", ANN, "user", 7, thread="late"),
    OLD,
    item("m5", BOB, "builder", 2, thread="m4"),
    item("m6", ANN, "all", 1, mentions=("builder",)),
    Receipt("m2", BOB, NOW - HOUR),
    Seen("m1"),
    Trace("m5", "m5", "said", "", BOB, ("builder",), NOW - 2 * HOUR, "box", is_signed=True),
]
COMES: dict[str, Event] = {
    "a message": item("new", ANN, BOB, 0),
    "a message from before": item("early", BOB, "builder", 20),
    "a parent": item("late", BOB, ANN, 10),
    "a read": Receipt("m1", BOB, NOW),
    "a delivery": Delivery("m1", EVE, NOW),
    "a holder": Agent(EVE, role="builder", started_at=0.0, updated=0.0),
    "a death": Agent(BOB, tags=("project:x",), status=Status.DEAD, started_at=0.0, ended_at=NOW - 1, updated=NOW),
    "a deed": Intervention("i1", "user", "acknowledge", NOW, "m4"),
    "a mark": Seen("m3"),
    "an archival": item("m4", ANN, "builder", 3, type="question", archived=True),
    "a change": item("m4", ANN, "builder", 3, type="status"),
    "a copy of a copy": Trace("m3", "m3", "said", "in ann", ANN, ("builder",), NOW - 7 * HOUR, "box", is_signed=True),
    "names side by side": Mailboxes(("lab",)),
}
QUERIES = ("text", "is:unknown", "is:unseen -from:bob", "text OR to:builder", "thread:m3 has:code")


@pytest.fixture(autouse=True)
def _shortest_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let something come after every message, and after every text."""
    for name in ("LOOKED_AT", "TEXTS_AT_ONCE"):
        monkeypatch.setattr(f"mailstore.queries.search.{name}", 1)
    for name in ("PER_STEP", "BATCH"):
        monkeypatch.setattr(f"mailstore.state.past.{name}", 1)


def folded(events: Iterable[Event]) -> Mailbox:
    mailbox = Mailbox()
    mailbox.fold(events, NOW)
    return mailbox


def searching(query: str) -> Callable[[Mailbox], Iterator[Any]]:
    """Return what searches a mailbox, by texts of which every other holds something."""

    def steps(mailbox: Mailbox) -> Iterator[Any]:
        context = SearchContext(mailbox, lambda message: "text ```" if message.id in ("m2", "m4", "new") else "", NOW)
        return looked_up(parse(query, NOW), context, hints)

    def hints(words: Iterable[str]) -> Any:
        return (
            None
            if query == "text"
            else (ids for ids in (["m1", "new"], ["m2", "m3", "m4"], ["m5", "m6", "early", "late"]))
        )

    return steps


def concerns(mailbox: Mailbox) -> Iterator[Any]:
    """Look for what needs attention, as if each concern were a hit."""
    return ([it] if it is not None else None for it in look(mailbox, NOW, Limits(loop_messages=2, growth_letters=1)))


def go_through(steps: Iterator[Any], mailbox: Mailbox, event: Event | None, at: int) -> tuple[list[Any], bool]:
    """Take all steps, and let something come after as many; return what they found, and whether there were so many.

    What is done aside is not done before it has come.
    """
    found: list[Any] = []
    is_told = False
    for number, step in enumerate(steps):
        if number == at and event is not None:
            mailbox.fold([event], NOW)
            is_told = True
        if isinstance(step, BackgroundWork):
            step.do()
        elif step is not None:
            found.append(step)
    return found, is_told


READERS = {query: searching(query) for query in QUERIES} | {"attention": concerns}


@pytest.mark.parametrize("come", COMES)
@pytest.mark.parametrize("reader", READERS)
def test_each_hit_is_one_of_before_or_of_after(reader: str, come: str) -> None:
    steps, event = READERS[reader], COMES[come]
    before, _ = go_through(steps(folded(MAIL)), folded(MAIL), None, 0)
    after, _ = go_through(steps(folded([*MAIL, event])), folded(MAIL), None, 0)
    was, will = ({hit for hits in found for hit in hits} for found in (before, after))
    expected = answers(folded([*MAIL, event]), NOW)
    at, is_told = 0, True
    while is_told:
        mailbox = folded(MAIL)
        found, is_told = go_through(steps(mailbox), mailbox, event, at)
        hits = [hit for some in found for hit in some]
        # what needs attention is counted over many messages, and an agent changes many at once: it is looked at again
        assert was & will <= set(hits) <= was | will or (reader == "attention" and isinstance(event, Agent)), at
        assert len(hits) == len(set(hits)), at
        if is_told and reader in ("attention", "is:unknown"):  # they ask for everything that is kept ready
            assert answers(mailbox, NOW) == expected, at
        at += 1
    assert at > 2


@pytest.mark.parametrize("come", COMES)
def test_the_past_is_that_of_before_or_of_after(come: str) -> None:
    event, moment = COMES[come], NOW - 2 * HOUR
    was, will = (
        answers(next(iter(go_through(past_in_steps(folded(mail), moment), folded(mail), None, 0)[0])), moment)
        for mail in (MAIL, [*MAIL, event])
    )
    expected = answers(folded([*MAIL, event]), NOW)
    at, is_told = 0, True
    while is_told:
        mailbox = folded(MAIL)
        [past], is_told = go_through(past_in_steps(mailbox, moment), mailbox, event, at)
        assert answers(past, moment) in (was, will), at
        if is_told:
            assert answers(mailbox, NOW) == expected, at
        at += 1
    assert at > len(MAIL)


@pytest.mark.parametrize("reader", READERS)
def test_who_is_on_the_way_when_all_is_read_anew_hears_of_it(reader: str) -> None:
    for at in range(2, 6):
        mailbox = folded(MAIL)
        try:
            found, _ = go_through(READERS[reader](mailbox), mailbox, Reset("replaced"), at)
        except MailboxReloaded:
            continue
        assert {hit for hits in found for hit in hits} <= {
            hit for hits in go_through(READERS[reader](folded(MAIL)), mailbox, None, 0)[0] for hit in hits
        }
    assert answers(mailbox, NOW) == answers(Mailbox(), NOW)


def test_the_past_of_what_was_read_anew_is_taken_back() -> None:
    for at in range(len(MAIL)):
        mailbox = folded(MAIL)
        [past], is_told = go_through(past_in_steps(mailbox, NOW), mailbox, Reset("replaced"), at)
        assert is_told
        assert answers(past, NOW) in (answers(Mailbox(), NOW), answers(mailbox_at(folded(MAIL), NOW), NOW)), at


def refused(mailbox: Mailbox) -> list[str]:
    """Touch a mailbox from another thread; return what was refused."""
    found: list[str] = []
    roster = mailbox.roster
    actions: list[Callable[[], object]] = [
        mailbox.counts,
        lambda: roster.get(ANN),
        lambda: list(roster),
        lambda: mailbox.fold([], NOW),
        lambda: mailbox.roster,
    ]

    def touch() -> None:
        for act in actions:
            with pytest.raises(WrongThread) as raised:
                act()
            found.append(str(raised.value).partition(" ")[0])

    thread = Thread(target=touch)
    thread.start()
    thread.join()
    return found


def test_a_guarded_mailbox_refuses_other_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mailstore.state.mailbox.IS_GUARDED", True)
    mailbox = guarded(folded(MAIL))
    expected = [
        "MailboxContents.index",
        "Roster.get",
        "Roster.__iter__",
        "MailboxContents.copies",
        "MailboxContents.roster",
    ]
    assert refused(mailbox) == expected
    assert mailbox.counts().messages == 6
    mailbox.fold([Reset("replaced")], NOW)
    assert refused(mailbox) == expected
