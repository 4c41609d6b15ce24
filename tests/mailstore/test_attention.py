"""What needs attention: each concern arises past its limit, and ends when it is dealt with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mailstore.haak import HaakStore
from mailstore.queries.attention import Concern, ConcernKind, Limits, attention, every_concern, look, new_mail
from mailstore.queries.concerns import GatheredConcerns
from mailstore.queries.loops import find_loops
from mailstore.queries.questions import open_questions
from mailstore.records.details import AgentUsage
from mailstore.records.events import Event, Reset, Seen
from mailstore.records.message import Message
from mailstore.rules.delivery import State
from mailstore.rules.presence import Presence
from mailstore.state import mail_queries
from mailstore.state.mailbox import Mailbox
from mailstore.steps import MailboxReloaded
from tests.mailboxes import NOW, MailFiles, iso
from tests.mailstore import test_mailbox_order as order

MINUTE = 60
HOUR = 3600
ANN, BOB, CID, DED = "ann-00000001", "bob-00000001", "cid-00000001", "ded-00000001"
LIMITS = Limits(question_minutes=30, unread_minutes=60, loop_messages=6, loop_minutes=30, growth_letters=3)


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path)
    mail.agent(ANN, role="clerk")
    mail.agent(BOB)
    mail.agent(CID, role="scribe")
    mail.agent(DED, "dead", role="keeper", ended_at=iso(NOW - 2 * HOUR))
    return mail


def concerns(mail: MailFiles, trouble: ConcernKind) -> list[Concern]:
    mailbox = Mailbox()
    with HaakStore.open(mail.data) as store:
        for batch in store.scan():
            mailbox.fold(batch, NOW)
    return [it for it in attention(mailbox, NOW, LIMITS) if it.kind is trouble]


def test_a_quiet_mailbox_needs_nothing(mail: MailFiles) -> None:
    mail.message("m", ANN, BOB, "Hello.", ago=5 * MINUTE)
    assert not [it for trouble in ConcernKind for it in concerns(mail, trouble)]


@pytest.mark.parametrize(("to", "answers"), [("user", "user"), (BOB, BOB), ("scribe", CID)])
def test_a_question_is_a_concern_until_one_of_those_who_were_asked_answers(
    to: str, answers: str, mail: MailFiles
) -> None:
    mail.message("old", ANN, to, "Well?", ago=31 * MINUTE, type="question")
    (found,) = concerns(mail, ConcernKind.QUESTION)
    whom = "you" if to == "user" else to
    assert (found.message_id, found.who, found.reason) == ("old", ANN, f"asked {whom} and was not answered")
    mail.message("not-it", ANN, BOB, "Hello?", ago=20 * MINUTE, thread="old")
    assert concerns(mail, ConcernKind.QUESTION)
    mail.message("it", answers, ANN, "Yes.", ago=10 * MINUTE, thread="not-it")
    assert not concerns(mail, ConcernKind.QUESTION)


@pytest.mark.parametrize(
    ("kind", "result", "words"),
    [
        ("task-assigned", "task-done", f"gave {BOB} a task that is not done"),
        ("task_assign", "task_result", f"gave {BOB} a task that is not done"),
        ("review-request", "review-result", f"asked {BOB} and has no result"),
        ("request", "chat", f"asked {BOB} and has no result"),
    ],
)
def test_a_request_is_a_concern_until_its_own_result_comes(kind: str, result: str, words: str, mail: MailFiles) -> None:
    mail.message("early", ANN, BOB, "Please.", ago=3 * HOUR, type=kind)
    mail.message("m", ANN, BOB, "Please.", ago=5 * HOUR, type=kind)
    mail.message("other", ANN, BOB, "And this.", ago=5 * HOUR, thread="m" if kind != "request" else None, type=kind)
    for request in ("m", "other"):
        found = {it.message_id: it.reason for it in concerns(mail, ConcernKind.REQUEST)}
        assert found.pop(request) == words
        assert set(found) <= {"other"}
        if kind != "request":
            mail.message(f"no-{request}", BOB, ANN, "On it.", ago=HOUR, thread=request)
            assert request in {it.message_id for it in concerns(mail, ConcernKind.REQUEST)}
        mail.message(f"done-{request}", BOB, ANN, "Done.", ago=HOUR, thread=request, type=result)
    assert not concerns(mail, ConcernKind.REQUEST)


def test_a_cancelled_task_waits_for_nothing(mail: MailFiles) -> None:
    mail.message("m", ANN, BOB, "Please.", ago=5 * HOUR, type="task-assigned")
    mail.message("stop", ANN, BOB, "Don't.", ago=HOUR, thread="m", type="cancel")
    assert not concerns(mail, ConcernKind.REQUEST)


def test_any_reply_is_a_result_of_what_was_asked_of_a_channel_or_of_the_user(mail: MailFiles) -> None:
    mail.agent(ANN, role="clerk", tags=["project:ink"])
    mail.agent(BOB, tags=["project:ink"])
    mail.message("all", ANN, "project:ink", "Objections?", ago=5 * HOUR, type="review-request")
    mail.message("mine", ANN, "user", "Please look.", ago=1, type="review-request")
    found = concerns(mail, ConcernKind.REQUEST)
    assert [(it.message_id, it.is_mine) for it in found] == [("mine", True), ("all", False)]
    mail.message("none", BOB, "project:ink", "None.", ago=HOUR, thread="all")
    mail.message("fine", "user", ANN, "Fine.", ago=0, thread="mine")
    assert not concerns(mail, ConcernKind.REQUEST)


def test_a_request_that_is_a_dead_letter_is_listed_once(mail: MailFiles) -> None:
    mail.message("m", ANN, DED, "Please.", ago=5 * HOUR, type="task-assigned")
    mailbox = Mailbox()
    with HaakStore.open(mail.data) as store:
        for batch in store.scan():
            mailbox.fold(batch, NOW)
    found = [it for it in every_concern(mailbox, NOW, LIMITS, lambda agent: Presence(agent.status)) if it is not None]
    assert [(it.kind, it.message_id) for it in found] == [(ConcernKind.DEAD_LETTER, "m")]


@pytest.mark.parametrize("after", ["ended", "passed on"])
def test_a_role_stays_the_one_that_answered_when_its_holder_changes(after: str, mail: MailFiles) -> None:
    mail.message("m", ANN, "scribe", "Well?", ago=40 * MINUTE, type="question")
    mail.message("it", CID, ANN, "Yes.", ago=35 * MINUTE, thread="m")
    change = {"status": "dead", "ended_at": iso(NOW - 60)} if after == "ended" else {"status": "living"}
    mail.agent(CID, updated=iso(NOW - 60), **change)
    mail.agent(BOB, role="scribe", updated=iso(NOW - 60))
    assert not concerns(mail, ConcernKind.QUESTION)


def test_the_holder_that_asks_its_own_role_does_not_answer_itself(mail: MailFiles) -> None:
    mail.message("m", CID, "scribe", "Well?", ago=40 * MINUTE, type="question")
    mail.message("again", CID, "scribe", "Anyone?", ago=35 * MINUTE, thread="m")
    assert [it.message_id for it in concerns(mail, ConcernKind.QUESTION)] == ["m"]


@pytest.mark.parametrize("answer", [{"thread": "m"}, {"type": "answer"}])
def test_the_user_answers_under_any_of_their_names(answer: dict[str, str], mail: MailFiles) -> None:
    mail.message("m", ANN, "human", "Well?", ago=40 * MINUTE, type="question")
    mail.message("it", "person:morgan", ANN, "Yes.", ago=35 * MINUTE, **answer)
    assert not concerns(mail, ConcernKind.QUESTION)


def test_a_question_to_the_user_is_a_concern_at_once_and_comes_first(mail: MailFiles) -> None:
    mail.message("theirs", ANN, BOB, "Well?", ago=29 * MINUTE, type="question")
    mail.message("older", ANN, BOB, "Well?", ago=90 * MINUTE, type="question")
    mail.message("mine", ANN, "user", "Now?", ago=1, type="question")
    assert [it.message_id for it in concerns(mail, ConcernKind.QUESTION)] == ["mine", "older"]


def test_mail_to_the_user_is_new_until_it_is_seen(mail: MailFiles) -> None:
    mailbox = Mailbox()
    mail.message("to-bob", ANN, BOB, "Hello.", ago=50)
    mail.message("first", ANN, "user", "Hello.", ago=40)
    mail.message("second", BOB, "user", "Hello.", ago=30, thread="first")
    mail.message("own", "user", ANN, "Hello.", ago=20, thread="first")
    with HaakStore.open(mail.data) as store:
        for batch in store.scan():
            mailbox.fold(batch, NOW)
    assert [it.message_id for it in new_mail(mailbox) if it] == ["second"]
    mailbox.fold([Seen("first")], NOW)
    assert [(it.who, it.message_id) for it in new_mail(mailbox) if it] == [(BOB, "second")]
    mailbox.fold([Seen("second")], NOW)
    assert list(new_mail(mailbox)) == []


def test_a_living_agent_that_leaves_mail_unread_may_have_stopped_reading(mail: MailFiles) -> None:
    for number in range(3):
        mail.message(f"m-{number}", ANN, BOB, "Please.", ago=59 * MINUTE + number * MINUTE)
    mail.message("dead", ANN, DED, "Please.", ago=3 * HOUR)
    (found,) = concerns(mail, ConcernKind.STALLED)
    assert (found.who, found.message_id) == (BOB, "m-2")
    assert found.reason.startswith("has 1 unread message and")
    mail.read("m-2", BOB)
    assert not concerns(mail, ConcernKind.STALLED)


def test_a_role_without_a_holder_says_who_held_it_last(mail: MailFiles) -> None:
    mail.message("m", ANN, "keeper", "Who keeps it?", ago=MINUTE)
    mail.message("n", ANN, "keeper", "Anyone?", ago=30)
    (found,) = concerns(mail, ConcernKind.VACANT)
    assert found.who == "keeper"
    assert found.reason == f"no agent holds the role; 2 messages on hold; last held by {DED}"
    mail.agent(BOB, role="keeper")
    assert not concerns(mail, ConcernKind.VACANT)


def test_two_agents_that_only_answer_each_other_run_in_a_loop(mail: MailFiles) -> None:
    for number in range(5):
        sides = (ANN, BOB) if number % 2 else (BOB, ANN)
        mail.message(f"m-{number}", *sides, "And you?", ago=600 - number, thread=f"m-{number - 1}" if number else None)
    assert not concerns(mail, ConcernKind.LOOP)
    mail.message("m-5", ANN, BOB, "And you?", ago=500, thread="m-4")
    (found,) = concerns(mail, ConcernKind.LOOP)
    assert (found.who, found.message_id) == (f"{ANN} and {BOB}", "m-5")
    mail.message("stop", "user", [ANN, BOB], "Stop.", ago=400, thread="m-5")
    assert not concerns(mail, ConcernKind.LOOP)


def test_a_talk_of_three_is_no_loop(mail: MailFiles) -> None:
    for number, (sender, to) in enumerate([(ANN, BOB), (BOB, ANN), (ANN, CID), (CID, ANN), (BOB, CID), (CID, BOB)] * 4):
        thread = "m-0" if number else None
        mail.message(f"m-{number}", sender, to, f"Part {number}", ago=600 - number, thread=thread)
    assert not concerns(mail, ConcernKind.LOOP)


@pytest.mark.parametrize("threads", ["one", "a new one each round", "none"])
@pytest.mark.parametrize("size", [2, 3, 9])
def test_mail_that_goes_round_a_circle_is_a_loop(size: int, threads: str, mail: MailFiles) -> None:
    names = [f"ring{number}-00000001" for number in range(size)]
    for name in names:
        mail.agent(name)
    least = max(LIMITS.loop_messages, 2 * size)
    for number in range(least):
        assert not concerns(mail, ConcernKind.LOOP)
        start = {"one": 0, "none": number}.get(threads, number - number % size)
        thread = f"m-{start}" if start != number else None
        sides = names[number % size], names[(number + 1) % size]
        mail.message(f"m-{number}", *sides, f"Your turn {number}", ago=900 - number, thread=thread)
        mail.message(f"aside-{number}", CID, [ANN], f"Done {number}", ago=900 - number)
        mail.message(f"answer-{number}", ANN, "user", "Fine.", ago=900 - number, thread=f"aside-{number}")
    (found,) = concerns(mail, ConcernKind.LOOP)
    assert found.parties == tuple(names)
    assert found.message_id == f"m-{least - 1}"
    rounds = "answered each other 6 times" if size == 2 else f"round a circle of {size} {least // size} times"
    assert rounds in found.reason
    mail.message("stop", "user", names, "Stop.", ago=300)
    mail.message("on", *names[:2], "Once more", ago=200)
    assert not [it for it in concerns(mail, ConcernKind.LOOP) if it.message_id == "on"]


@pytest.mark.parametrize("are_threads", [True, False])
def test_short_talks_in_a_channel_are_no_loop_but_a_talk_without_threads_is(are_threads: bool, mail: MailFiles) -> None:
    for number in range(3 * LIMITS.loop_messages):
        thread = f"m-{number - number % 3}" if are_threads and number % 3 else None
        sender = (ANN, BOB)[number % 2]
        mail.message(f"m-{number}", sender, "project:x", f"Part {number}", ago=900 - number, thread=thread)
    found = concerns(mail, ConcernKind.LOOP)
    assert [it.parties for it in found] == ([] if are_threads else [(ANN, BOB)])


def test_whoever_repeats_itself_without_an_answer_runs_in_a_loop(mail: MailFiles) -> None:
    for number in range(LIMITS.loop_messages):
        assert not concerns(mail, ConcernKind.LOOP)
        mail.message(f"m-{number}", ANN, BOB, "Build failed, retrying", ago=900 - number)
        mail.message(f"part-{number}", ANN, BOB, f"Part {number} built", ago=900 - number)
        mail.message(f"news-{number}", ANN, "project:x", "Still building", ago=900 - number)
    (found,) = concerns(mail, ConcernKind.LOOP)
    assert (found.who, found.message_id) == (ANN, f"m-{LIMITS.loop_messages - 1}")
    assert found.reason == f"sent {BOB} the same subject 6 times in 30 min without an answer"
    mail.message("answer", BOB, ANN, "I see it.", ago=100)
    assert not concerns(mail, ConcernKind.LOOP)


def test_each_dead_letter_is_a_concern_of_its_recipient_until_it_is_settled(mail: MailFiles) -> None:
    mail.message("both", ANN, [DED, "nobody"], "Alive?", ago=HOUR)
    (dead, unknown) = concerns(mail, ConcernKind.DEAD_LETTER) + concerns(mail, ConcernKind.UNKNOWN)
    assert (dead.who, dead.message_id, dead.recipient, dead.state) == (ANN, "both", DED, State.DEAD)
    assert (unknown.recipient, unknown.state) == ("nobody", State.UNKNOWN)
    assert len({dead.key, unknown.key}) == 2
    mail.intervention("acknowledge", "both", recipient=DED)
    assert not concerns(mail, ConcernKind.DEAD_LETTER)
    assert concerns(mail, ConcernKind.UNKNOWN)


def test_whoever_has_a_screen_may_pause_at_every_message(mail: MailFiles) -> None:
    for number in range(50):
        mail.message(f"m-{number}", ANN, BOB, "Hello.", ago=number)
    mailbox = Mailbox()
    with HaakStore.open(mail.data) as store:
        for batch in store.scan():
            mailbox.fold(batch, NOW)
    assert list(look(mailbox, NOW, LIMITS)).count(None) > 50
    steps = find_loops(mailbox, mailbox.messages(), LIMITS)
    assert next(steps) is None
    mailbox.fold([Reset("replaced")], NOW)
    with pytest.raises(MailboxReloaded):
        list(steps)


def test_a_sender_that_nobody_registered(mail: MailFiles) -> None:
    mail.message("known", "user", BOB, "Hello.", ago=HOUR)
    mail.message("role", "scribe", BOB, "Hello.", ago=HOUR)
    assert not concerns(mail, ConcernKind.STRANGER)
    mail.message("strange", "night-watch", BOB, "Disk 78 %.", ago=MINUTE)
    (found,) = concerns(mail, ConcernKind.STRANGER)
    assert (found.who, found.message_id) == ("night-watch", "strange")
    mail.agent("night-watch")
    assert not concerns(mail, ConcernKind.STRANGER)


def test_all_concerns_are_counted_and_the_first_of_each_kind_kept() -> None:
    found = GatheredConcerns(2)
    for number in range(5):
        found.add(Concern(ConcernKind.QUESTION, ANN, "asked", float(number), f"q-{number}"))
        found.add(Concern(ConcernKind.DEAD_LETTER, ANN, "died", float(number), f"d-{number}", DED, State.DEAD))
    found.add(Concern(ConcernKind.NEW, BOB, "wrote to you", 9.0, "n", is_mine=True))
    assert [it.message_id for it in found.in_order()] == ["n", "q-0", "q-1", "d-4", "d-3"]
    assert sum(found.totals.values()) == 11


def test_messages_that_die_faster_than_before(mail: MailFiles) -> None:
    mail.message("old", ANN, "nobody", "You?", ago=30 * HOUR)
    for number in range(3):
        mail.message(f"m-{number}", ANN, f"nobody-{number}", "You?", ago=MINUTE + number)
    assert not concerns(mail, ConcernKind.GROWTH)
    mail.message("m-3", ANN, "nobody-3", "You?", ago=30)
    (found,) = concerns(mail, ConcernKind.GROWTH)
    assert found.reason == "4 dead letters in the last 24 h, 1 in the 24 h before"


def test_unread_mail_is_late_by_its_time_wherever_it_stands_in_the_file(
    mail: MailFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mail_queries, "ROWS_OF_A_STEP", 2)
    for message_id, ago in (("m90", 90), ("m100", 100), ("m5", 5), ("m120", 120), ("m61", 61)):
        mail.message(message_id, BOB, ANN, "Read me.", ago=ago * MINUTE)
    mail.line({"id": "undated", "from": BOB, "to": [ANN], "content": "Read me.", "timestamp": "long ago"})
    [found] = concerns(mail, ConcernKind.STALLED)
    assert (found.message_id, found.since) == ("m120", NOW - 120 * MINUTE)
    assert found.reason.startswith("has 4 unread messages")


@given(order.events(), st.randoms(use_true_random=False))
def test_open_questions_are_the_same_however_often_they_were_asked_for(mail: list[Event], random: Random) -> None:
    random.shuffle(mail)
    kinds = ("question", "question", "answer", "")
    mail = [replace(it, type=random.choice(kinds)) if isinstance(it, Message) else it for it in mail]
    asked_often = Mailbox()
    for at, event in enumerate(mail, 1):
        asked_often.fold([event], order.NOW)
        asked_once = Mailbox()
        asked_once.fold(mail[:at], order.NOW)
        found, expected = (open_questions(mailbox, order.NOW) for mailbox in (asked_often, asked_once))
        assert [(it.message, set(it.asked)) for it in found] == [(it.message, set(it.asked)) for it in expected]


def with_usage(mail: MailFiles, usage: Mapping[str, AgentUsage]) -> list[Concern]:
    mailbox = Mailbox()
    with HaakStore.open(mail.data) as store:
        for batch in store.scan():
            mailbox.fold(batch, NOW)
    return [it for it in look(mailbox, NOW, LIMITS, usage) if it is not None]


def test_an_agent_that_is_known_to_do_nothing_has_stopped_reading_sooner(mail: MailFiles) -> None:
    mail.message("m", ANN, BOB, "Hello.", ago=35 * MINUTE)
    assert not with_usage(mail, {BOB: AgentUsage(answered=NOW - 10 * MINUTE)})  # it is at work
    assert not with_usage(mail, {BOB: AgentUsage()})  # not known
    [stalled] = with_usage(mail, {BOB: AgentUsage(answered=NOW - 40 * MINUTE)})
    assert (stalled.kind, stalled.who, stalled.message_id) == (ConcernKind.STALLED, BOB, "m")
    assert stalled.reason == "has 1 unread message and may have stopped reading: no turn for 40 min"
    mail.message("new", BOB, CID, "Hello.", ago=5 * MINUTE)
    assert not with_usage(mail, {CID: AgentUsage(answered=NOW - 40 * MINUTE)})  # its mail has only just come


def test_a_context_that_is_nearly_full_is_a_concern_while_its_agent_lives(mail: MailFiles) -> None:
    full, other = AgentUsage(context=90, window=100, answered=NOW), AgentUsage(context=89, window=100)
    found = with_usage(mail, {ANN: full, BOB: other, DED: full, "stranger": full, CID: AgentUsage(context=99)})
    assert [(it.kind, it.who, it.reason) for it in found] == [
        (ConcernKind.CONTEXT, ANN, "has filled 90 % of its context")
    ]
