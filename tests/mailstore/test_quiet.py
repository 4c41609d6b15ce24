"""Muted and snoozed mail: left out of what is new, in every order of events, and nowhere else."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mailstore.queries.query import parse
from mailstore.queries.search import SearchContext
from mailstore.records.events import Event, Mailboxes, OwnMarks, Reset, Seen, Unseen
from mailstore.records.message import Location, Message
from mailstore.records.roster import Agent
from mailstore.state.mailbox import Mailbox
from mailstore.state.past import mailbox_at
from mailstore.state.views import View
from tests.mailstore.test_mailbox_order import NAMES, NOW, TAGS, events

IDS = [f"m{number}" for number in range(9)] + ["lost"]


def some(values: list[str]) -> st.SearchStrategy[frozenset[str]]:
    return st.frozensets(st.sampled_from(values), max_size=2)


MARKS = st.builds(
    OwnMarks,
    channels=some(TAGS),
    agents=some(NAMES[:3]),
    types=some(["status", ""]),
    threads=some(IDS),
    snoozed=some(IDS),
    starred=some(IDS),
    starred_threads=some(IDS),
)


def folded(batch: list[Event]) -> Mailbox:
    mailbox = Mailbox()
    mailbox.fold(batch, NOW)
    return mailbox


def is_muted(mailbox: Mailbox, message: Message, marks: OwnMarks) -> bool:
    """Say from the message alone whether it is muted, as docs/quiet.md has it."""
    channels = {name for name in message.recipients if name in TAGS}
    roots = {mailbox.root_of(key) for key in marks.threads}
    by_channel = bool(channels) and channels <= marks.channels and "all" not in message.recipients
    named = message.sender in marks.agents or message.type in marks.types
    if not (by_channel or named or mailbox.root_of(message.id) in roots):
        return False
    answered = mailbox.message(message.thread) if message.thread else None
    is_answer = answered is not None and answered.sender == "user"
    return not (is_answer or {"user"} & {*message.recipients, *message.mentions})


def check(mailbox: Mailbox, marks: OwnMarks) -> None:
    snoozed = {mailbox.root_of(key) for key in marks.snoozed}
    starred = {mailbox.root_of(key) for key in marks.starred_threads}
    fresh: list[Message] = []
    for message in mailbox.messages():
        root = mailbox.root_of(message.id)
        assert mailbox.is_muted(message) is is_muted(mailbox, message, marks), message
        assert mailbox.is_snoozed(message) is (root in snoozed)
        assert mailbox.is_starred(message) is (message.id in marks.starred or root in starred)
        is_quiet = root in snoozed or is_muted(mailbox, message, marks)
        assert mailbox.is_new(message) is (mailbox.is_unseen(message) and not is_quiet)
        fresh += [message] if mailbox.is_new(message) else []
    unseen = sum(map(mailbox.is_unseen, mailbox.messages()))
    counts = mailbox.counts()
    assert (counts.unseen, counts.quiet) == (len(fresh), unseen - len(fresh))
    assert counts.for_you == sum(map(mailbox.is_mine, fresh))
    for channel in mailbox.channels():
        assert channel.unseen == sum(channel.tag in message.recipients for message in fresh)
    quiet = [message for message in mailbox.messages() if mailbox.is_unseen(message) and not mailbox.is_new(message)]
    for name in NAMES[:3]:
        assert mailbox.quiet_from(name) == sum(message.sender == name for message in quiet)
    for kind in ("status", ""):
        assert mailbox.quiet_of_type(kind) == sum(message.type == kind for message in quiet)
    roots = list(mailbox.threads(View("all")))
    for root in roots:
        number = sum(mailbox.root_of(message.id) == root for message in fresh)
        summary = mailbox.summary(root)
        assert (mailbox.unseen_in(root), summary.unseen) == (number, number)
        members = mailbox.thread_messages(root)
        assert summary.quiet == mailbox.quiet_in(root) == sum(map(mailbox.is_unseen, members)) - number
    assert set(mailbox.threads(View("unread"))) == {mailbox.root_of(message.id) for message in fresh}
    for_you = mailbox.thread_filter(View("for-you"), None, NOW).roots()  # type: ignore[arg-type]
    assert for_you == [root for root in mailbox.threads(View("for-you")) if root not in snoozed]
    assert set(roots) == {mailbox.root_of(message.id) for message in mailbox.messages()}, "nothing is missing"


@given(events(), MARKS, MARKS, st.data())
def test_what_is_new_is_what_is_neither_muted_nor_snoozed(
    batch: list[Event], marks: OwnMarks, others: OwnMarks, data: st.DataObject
) -> None:
    batch = [event for event in batch if isinstance(event, Message | Agent | Seen)]
    mine = [Message("own", "user", ("alpha-session",), "", NOW, "own", thread=data.draw(st.sampled_from([None, "m1"])))]
    answer = Message("re", "beta-session", (TAGS[0],), "", NOW, "re", thread="own", type="status")
    everything: list[Event] = [*batch, *mine, answer, marks]
    mailbox = folded(data.draw(st.permutations(everything)))
    check(mailbox, marks)
    mailbox.fold([others], NOW)
    check(mailbox, others)
    mailbox.fold([Seen("m1"), Seen("re"), Unseen("m2")], NOW)
    check(mailbox, others)
    mailbox.fold([marks, Unseen("m1")], NOW)
    check(mailbox, marks)
    check(mailbox_at(mailbox, NOW), marks)
    mailbox.fold([Reset("replaced"), *(event for event in everything if event is not marks)], NOW)
    check(mailbox, marks)
    mailbox.fold([OwnMarks()], NOW)
    assert mailbox.counts().quiet == 0
    check(mailbox, OwnMarks())


def item(key: str, to: str = TAGS[0], **more: Any) -> Message:
    return Message(key, "alpha-session", (to,), "", NOW, key, location=Location("box", int(key[1:]), 1), **more)


def test_marks_are_taken_over_in_steps_and_mail_that_comes_meanwhile_is_judged_by_them() -> None:
    mailbox = folded([item(f"m{number}") for number in range(700)])
    steps = mailbox.change_marks(OwnMarks(channels=frozenset(TAGS[:1])))
    next(steps)
    assert 0 < mailbox.counts().quiet < 700
    mailbox.fold([item("m700"), Seen("m1"), Seen("m699")], NOW)
    assert not list(steps)[5:], "a few hundred messages a step"
    check(mailbox, OwnMarks(channels=frozenset(TAGS[:1])))
    assert mailbox.counts().quiet == 699


def test_a_mute_that_is_taken_back_while_it_is_being_judged_leaves_nothing_behind() -> None:
    mailbox = folded([item(f"m{number}") for number in range(700)])
    muted = OwnMarks(channels=frozenset(TAGS[:1]))
    first = mailbox.change_marks(muted)
    next(first)
    second = mailbox.change_marks(OwnMarks())
    next(second)
    mailbox.fold([item("m3", type="status"), item("m701"), Seen("m5")], NOW)
    third = mailbox.change_marks(muted)
    next(third)
    for steps in (second, first, third):
        list(steps)
    check(mailbox, muted)
    list(mailbox.change_marks(OwnMarks()))
    check(mailbox, OwnMarks())


def test_an_archived_a_changed_and_a_labelled_message_keep_the_numbers_right() -> None:
    marks = OwnMarks(types=frozenset({"status", "lab/chat"}), agents=frozenset({"lab/ann-00000001"}))
    mailbox = folded([marks, item("m1", type="status"), item("m2", type="status"), item("m3", type="chat")])
    assert mailbox.counts().quiet == 2
    mailbox.fold([item("m1", type="question"), item("m2", type="status", archived=True)], NOW)
    check(mailbox, marks)
    assert (mailbox.counts().quiet, mailbox.counts().unseen) == (0, 2)
    several = folded([Mailboxes(("lab", "ops")), marks, Agent("lab/ann-00000001", name="lab/ann")])
    chat = [
        Message(f"{label}/c", f"{label}/ann", (f"{label}/bob",), "", NOW, "", type="chat") for label in ("lab", "ops")
    ]
    several.fold([*chat, Message("lab/d", "lab/ann", ("lab/bob",), "", NOW, "")], NOW)
    assert several.unseen_by_mailbox() == {"lab": 0, "ops": 1}
    several.fold([Agent("lab/ann-00000001", name="lab/anna")], NOW)
    assert several.unseen_by_mailbox() == {"lab": 1, "ops": 1}, "ann is somebody else now"


def test_a_query_finds_what_is_muted_snoozed_and_starred() -> None:
    marks = OwnMarks(
        types=frozenset({"status"}),
        snoozed=frozenset({"m2"}),
        starred=frozenset({"m1"}),
        starred_threads=frozenset({"m2"}),
    )
    mailbox = folded([marks, item("m1", type="status"), item("m2"), item("m3", thread="m2"), item("m4")])
    context = SearchContext(mailbox, lambda message: "", NOW)

    def found(text: str) -> list[str]:
        query = parse(text, NOW)
        return sorted(message.id for message in mailbox.messages() if context.matches(query, message))

    assert found("is:muted") == ["m1"]
    assert found("is:snoozed") == ["m2", "m3"]
    assert found("is:starred") == ["m1", "m2", "m3"]
    assert found("is:unseen") == ["m1", "m2", "m3", "m4"], "a search finds what is muted"
    assert found("-is:muted -is:snoozed") == ["m4"]
