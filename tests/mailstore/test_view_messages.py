"""The messages of a channel, an agent or a role in order of time, however they came."""

from __future__ import annotations

from random import Random
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from mailstore.columns.lists import MarkedRows, MessageList
from mailstore.records.address import is_channel
from mailstore.records.events import Event, Reset
from mailstore.records.message import Message, by_age
from mailstore.records.roster import Agent
from mailstore.state.mailbox import Mailbox
from mailstore.state.views import View
from tests.mailstore.test_mailbox_order import NOW, events

AT_ONCE = 1000.0
VIEWS = (
    View("channel", "project:x"),
    View("channel", "concern:y"),
    View("agent", "alpha-session"),
    View("agent", "beta-session"),
    View("role", "architect"),
    View("type", "question"),
    View("type"),
    View("all"),
)
FOUND = View("found", "words")


def belongs(mailbox: Mailbox, view: View, message: Message) -> bool:
    """Say by the records alone whether a message belongs to a view."""
    if view.kind == "channel":
        return is_channel(view.name) and view.name in message.recipients
    if view.kind in ("all", "type"):
        return view.name in ("", message.type)
    agent = mailbox.roster.get(view.name) if view.kind == "agent" else None
    roles = [view.name] if view.kind == "role" else agent.roles() if agent else ()
    names = {f"role:{role}" for role in roles} | {role for role in roles if mailbox.roster.get(role) is None}
    if view.kind == "role":
        return bool(names & set(message.recipients))
    names |= {view.name, agent.name if agent else ""} - {""}
    return message.sender in names or bool(names & set(message.recipients))


def test_a_role_and_a_session_of_one_name_have_two_views() -> None:
    mailbox = Mailbox()
    both: list[Event] = [Message(to, "ann", (to,), "", NOW, "words") for to in ("codex", "role:codex")]
    mailbox.fold([*both, Agent("worker-1", role="codex")], NOW)
    views = View("role", "codex"), View("agent", "worker-1")
    assert [sorted(mailbox.threads(view)) for view in views] == [["codex", "role:codex"]] * 2
    mailbox.fold([Agent("codex")], NOW)
    assert [sorted(mailbox.threads(view)) for view in views] == [["role:codex"]] * 2


def expected(mailbox: Mailbox, view: View) -> list[str]:
    found = [message for message in mailbox.messages() if belongs(mailbox, view, message)]
    return [message.id for message in sorted(found, key=by_age)]


@settings(max_examples=15)
@given(st.data())
def test_a_list_that_is_followed_holds_what_a_new_one_would(data: st.DataObject) -> None:
    mail: list[Event] = data.draw(events())
    mailbox = Mailbox()
    known: dict[View, MessageList | None] = dict.fromkeys(VIEWS)
    while mail:
        size = data.draw(st.integers(1, len(mail)))
        mailbox.fold(mail[:size], NOW)
        mail = mail[size:]
        for view in VIEWS:
            before = known[view]
            was = None if before is None else list(before)
            found = mailbox.view_messages(view, before).look(AT_ONCE)
            assert before is None or list(before) == was
            assert list(found) == expected(mailbox, view)
            assert [found.place(key) for key in found] == list(range(len(found)))
            known[view] = found


@settings(max_examples=15)
@given(events(), events(), st.randoms())
def test_a_list_of_what_was_found_holds_that_whatever_comes(
    mail: list[Event], later: list[Event], random: Random
) -> None:
    mailbox = Mailbox()
    mailbox.fold(mail, NOW)
    found = MarkedRows(mailbox.contents.messages)
    ids = [it.id for it in mailbox.messages() if random.random() < 0.5]
    found.add(ids)
    hits = mailbox.view_messages(FOUND, found=found).look(AT_ONCE)
    assert sorted(hits) == sorted(ids)
    assert list(hits) == [it.id for it in sorted(mailbox.messages(), key=by_age) if it.id in ids]
    mailbox.fold(later, NOW)
    followed = mailbox.view_messages(FOUND, hits, found).look(AT_ONCE)
    assert set(followed) == set(ids)
    mailbox.fold([Reset("replaced"), *later], NOW)
    assert not list(mailbox.view_messages(FOUND, followed, found).look(AT_ONCE))


def message(number: int, time: float, to: str = "project:x") -> Message:
    return Message(f"m{number}", "ann", (to,), "", time, "words")


def test_the_newest_are_known_first_and_a_late_message_takes_its_place() -> None:
    mailbox = Mailbox()
    mailbox.fold([message(number, number) for number in range(10_000)], NOW)
    view = VIEWS[0]
    begun = mailbox.view_messages(view).look(0)
    assert not begun.is_whole
    assert begun[-1] == "m9999"
    assert 0 < len(begun) < 10_000
    mailbox.fold([message(10_001, 9_990.5), message(10_002, 3.5), message(10_003, 5.5, "all")], NOW)
    later = mailbox.view_messages(view, begun)
    assert "m10001" in later
    assert later.place("m10001") == later.place("m9990") + 1  # type: ignore[operator]
    assert "m10001" not in begun
    whole = later.look(AT_ONCE)
    assert list(whole) == expected(mailbox, view)
    assert whole.place("m10002") == 4
    mailbox.fold([message(10_004, 40_000)], NOW)
    grown = mailbox.view_messages(view, whole)
    assert grown.extends(whole)
    assert not whole.extends(begun)
    assert grown[-1] == "m10004"
    assert grown[-3:] == [*whole[-2:], "m10004"]


@settings(max_examples=15)
@given(events(), st.randoms())
def test_threads_of_many_messages_are_in_the_order_of_those_of_few(mail: list[Event], random: Random) -> None:
    random.shuffle(mail)
    mailbox = Mailbox()
    mailbox.fold(mail, NOW)
    few = {view: list(mailbox.threads(view)) for view in VIEWS}
    with patch("mailstore.state.view_lists.MANY", 1):
        mailbox = Mailbox()
        mailbox.fold(mail, NOW)
        assert {view: list(mailbox.threads(view)) for view in VIEWS} == few
