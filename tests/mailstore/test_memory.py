"""The mailbox in memory, where it does more than the contract asks."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from mailstore.conformance import following
from mailstore.errors import ContentGone
from mailstore.memory import MemoryStore
from mailstore.records.draft import draft
from mailstore.records.message import Message, Problem
from mailstore.records.roster import Agent
from mailstore.registry import open_store
from mailstore.state.mailbox import Mailbox
from tests.mailboxes import NOW, iso

ANN, BOB = "ann-00000001", "bob-00000001"
HELLO = {"id": "m", "sender": BOB, "recipient": ANN, "timestamp": iso(NOW - 60), "content": "Hello."}


def folded(store: MemoryStore) -> Mailbox:
    mailbox = Mailbox()
    for batch in store.scan():
        mailbox.fold(batch, NOW)
    return mailbox


def test_it_is_folded_like_any_other() -> None:
    store = MemoryStore()
    store.append(Agent(ANN), Agent(BOB), HELLO)
    mailbox = folded(store)
    assert [message.id for message in mailbox.unread(ANN, NOW)] == ["m"]
    store.mark_read(ANN, ["m"])
    assert folded(MemoryStore(records=store.records)).unread(ANN, NOW) == []


def test_two_mailboxes_of_one_name_share_nothing() -> None:
    one, other = open_store("memory:name"), open_store("memory:name")
    one.send(draft(sender=ANN, recipients=(BOB,), content="Hello."))
    assert [event for batch in other.scan() for event in batch] == []


def test_two_stores_may_share_their_records() -> None:
    one = MemoryStore()
    other = MemoryStore(records=one.records)
    sent = one.send(draft(sender=ANN, recipients=(BOB,), content="Hello."))
    assert other.content(sent) == "Hello."


def test_its_url_and_title_come_from_its_path(tmp_path: Path) -> None:
    store = open_store(f"memory:{tmp_path / 'sample'}")
    assert store.url == f"memory:{tmp_path / 'sample'}"
    assert store.title == "sample (in memory)"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("this is no record", "not a message"),
        ("[1, 2]", "not a message"),
        ('{"sender": "a", "content": "b"}', "recipient"),
        ('{"sender": "", "recipient": "a", "content": "b"}', "no sender"),
        ('{"sender": "a", "recipient": [], "content": "b"}', "no recipient"),
        ('{"sender": "a", "recipient": "b", "content": 3}', "content"),
        ("half \ud800 a character", "not a message"),
    ],
)
def test_a_line_that_is_no_message_is_a_problem_with_its_reason(line: str, reason: str) -> None:
    store = MemoryStore()
    store.append(HELLO, line, {**HELLO, "id": "n"})
    events = [event for batch in store.scan() for event in batch]
    [problem] = [event for event in events if isinstance(event, Problem)]
    assert (problem.line, problem.fatal) == (2, True)
    assert reason in problem.reason
    assert {event.id for event in events if isinstance(event, Message)} == {"m", "n"}


def test_what_is_odd_about_a_message_is_a_warning() -> None:
    store = MemoryStore()
    store.append({**HELLO, "ttl_hours": -1, "timestamp": "yesterday"})
    mailbox = folded(store)
    assert [problem.fatal for problem in mailbox.problems] == [False, False]
    message = mailbox.message("m")
    assert message is not None
    assert (message.ttl_hours, message.timed, message.timestamp) == (None, False, "yesterday")


def test_a_message_without_a_place_is_nowhere() -> None:
    with pytest.raises(ContentGone):
        MemoryStore().content(Message("m", BOB, (ANN,), "", 0.0, ""))


def test_what_happens_while_nobody_follows_is_told_to_who_comes() -> None:
    store = MemoryStore()
    store.append(HELLO)
    list(store.scan())
    store.remove()
    store.replace({**HELLO, "id": "new"})

    async def follow() -> list[str]:
        async with following(store) as came:
            await came.until_message("new")
            return [type(event).__name__ for event in came.events]

    assert asyncio.run(follow()) == ["Reset", "Message"]
