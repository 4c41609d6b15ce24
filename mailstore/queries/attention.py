"""Find what needs the user's attention, from the log alone, each with a reason and a message to open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from msgspec.structs import replace

from mailstore.queries.concerns import DEAD_LETTERS, MINUTE, QUESTION_TOO, Concern, ConcernKind, Limits, in_order
from mailstore.queries.loops import find_loops
from mailstore.queries.questions import look_for_questions, look_for_requests, threads_of
from mailstore.records.address import Kind, is_person, resolve
from mailstore.records.details import AgentUsage
from mailstore.records.message import Age, Message, by_age
from mailstore.records.roster import Agent, Status
from mailstore.rules.cancelling import TASKS
from mailstore.rules.delivery import State
from mailstore.rules.presence import Presence, Working
from mailstore.state.mailbox import Mailbox
from mailstore.state.views import View

NONE: Mapping[str, AgentUsage] = MappingProxyType({})
__all__ = ["Concern", "ConcernKind", "Limits", "attention", "every_concern", "in_order", "look", "new_mail"]


def attention(mailbox: Mailbox, now: float, limits: Limits | None = None) -> list[Concern]:
    """Return all concerns: those of the user first, then the most urgent, within a kind the oldest first."""
    return in_order(concern for concern in look(mailbox, now, limits or Limits()) if concern is not None)


def every_concern(
    mailbox: Mailbox,
    now: float,
    limits: Limits,
    presence: Callable[[Agent], Presence],
    usage: Mapping[str, AgentUsage] = NONE,
) -> Iterator[Concern | None]:
    """Yield all that may need the user, and None between: permissions, what the log shows, and new mail to them.

    `usage` is what agents have used, by name.

    A question that is a dead letter is one concern: the dead letter, whose reason says that it is a question. So is a
    request to another agent.
    Only those who know what the user has seen may ask. Raises MailboxReloaded.
    """
    asked: set[str | None] = set()
    for agent in list(mailbox.roster):
        yield None
        standing = presence(agent)
        if standing.stuck:
            yield Concern(ConcernKind.STUCK, agent.session_id, standing.stuck, standing.since or now, None)
        if standing.state == Working.WAITING:
            since = standing.since or agent.updated or 0.0
            latest = next(iter(mailbox.threads(View("agent", agent.session_id))), None)
            newest = mailbox.summary(latest).latest.id if latest is not None else None
            words = f"waits for your permission: {standing.substate}".removesuffix(": ")
            yield Concern(ConcernKind.PERMISSION, agent.session_id, words, since, newest, is_mine=True)
    questions: dict[str | None, Concern] = {}
    requests: dict[str | None, Concern] = {}
    dead: set[str | None] = set()
    for concern in look(mailbox, now, limits, usage):
        if concern is None:
            yield None
        elif concern.kind is ConcernKind.QUESTION and not concern.is_mine:
            questions[concern.message_id] = concern
        elif concern.kind is ConcernKind.REQUEST and not concern.is_mine:
            requests[concern.message_id] = concern
        elif concern.kind in DEAD_LETTERS and concern.message_id in questions:
            dead.add(concern.message_id)
            yield replace(concern, reason=QUESTION_TOO + concern.reason)
        else:
            yield concern
            if concern.kind in DEAD_LETTERS:
                dead.add(concern.message_id)
            if concern.is_mine:
                asked.add(concern.message_id)
    yield from (question for question in (*questions.values(), *requests.values()) if question.message_id not in dead)
    for concern in new_mail(mailbox):
        yield None if concern is not None and concern.message_id in asked else concern


def look(
    mailbox: Mailbox, now: float, limits: Limits, usage: Mapping[str, AgentUsage] = NONE
) -> Iterator[Concern | None]:
    """Yield concerns as they are found, and None at least once per message, so that a caller can pause.

    Changes made in between are found by the next pass. Raises MailboxReloaded.
    """
    mailbox.advance(now)
    recent: list[Message] = []
    talk: list[Message] = []
    window, lately = now - limits.window_minutes * MINUTE, now - limits.loop_minutes * MINUTE
    for message in mailbox.newest(min(window, lately)):
        if message.time > lately:
            talk.append(message)
        if message.time > window and not message.archived:
            recent.append(message)
        yield None
    yield from _unanswered(mailbox, now - limits.question_minutes * MINUTE, now)
    yield from _without_result(mailbox, now - limits.request_minutes * MINUTE, now)
    yield from _dead_letters(mailbox, now, limits)
    yield from _stalled(mailbox, now, limits, usage)
    yield from _full(mailbox, limits, usage)
    yield from _vacant(mailbox)
    yield from find_loops(mailbox, talk[::-1], limits)
    yield from _strangers(mailbox, recent)


def _unanswered(mailbox: Mailbox, before: float, now: float) -> Iterator[Concern | None]:
    """Find the questions that no one who was asked has answered: to agents from before a moment, to the user all."""
    for question in look_for_questions(mailbox, threads_of(mailbox), now, now):
        if question is None or (question.message.time > before and not mailbox.is_mine(question.message)):
            yield None
        elif not _is_settled(mailbox, question.message, now):
            words = f"asked {addressees(mailbox, question.message)} and was not answered"
            yield _of_message(mailbox, ConcernKind.QUESTION, question.message, words)


def _without_result(mailbox: Mailbox, before: float, now: float) -> Iterator[Concern | None]:
    """Find the requests without a result: to agents from before a moment, to the user all."""
    for request in look_for_requests(mailbox, threads_of(mailbox), before, now):
        if request is None or _is_settled(mailbox, request, now):
            yield None
            continue
        whom = addressees(mailbox, request)
        words = f"gave {whom} a task that is not done" if request.type in TASKS else f"asked {whom} and has no result"
        yield _of_message(mailbox, ConcernKind.REQUEST, request, words)


def _is_settled(mailbox: Mailbox, message: Message, now: float) -> bool:
    """Return whether all who were asked are dead letters that were dealt with: no one is left to answer."""
    settled = mailbox.contents.journal.settled(message.id)
    return bool(settled) and ("" in settled or settled.issuperset(mailbox.bare_states(message, now)))


def _of_message(mailbox: Mailbox, kind: ConcernKind, message: Message, words: str) -> Concern:
    return Concern(kind, message.sender, words, message.time, message.id, is_mine=mailbox.is_mine(message))


def addressees(mailbox: Mailbox, message: Message) -> str:
    """Return to whom a message is addressed, in words: the user is "you"."""
    return ", ".join(
        "you" if is_person(name, mailbox.roster, mailbox.user) else mailbox.label(name) for name in message.recipients
    )


def _stalled(mailbox: Mailbox, now: float, limits: Limits, usage: Mapping[str, AgentUsage]) -> Iterator[Concern | None]:
    """Find living agents that leave mail unread: sooner those of which it is known that they do nothing else."""
    for agent in list(mailbox.roster):
        yield None
        if agent.status is not Status.LIVING or not mailbox.unread_count(agent.session_id):
            continue
        used = usage.get(agent.session_id)
        answered = used.answered if used is not None else None
        idle = 0.0 if answered is None else (now - answered) / MINUTE
        minutes = (
            min(limits.unread_minutes, limits.turn_minutes) if idle > limits.turn_minutes else limits.unread_minutes
        )
        number, oldest = yield from mailbox.late(agent.session_id, now - minutes * MINUTE)
        if oldest is not None:
            words = f"has {number} unread message{'s' * (number != 1)} and may have stopped reading"
            words += f": no turn for {idle:.0f} min" if idle > limits.turn_minutes else ""
            yield Concern(ConcernKind.STALLED, agent.session_id, words, oldest.time, oldest.id)


def _full(mailbox: Mailbox, limits: Limits, usage: Mapping[str, AgentUsage]) -> Iterator[Concern | None]:
    """Find agents at work whose context is nearly full."""
    for name, used in list(usage.items()):
        yield None
        agent, share = mailbox.roster.get(name), used.share
        if agent is None or agent.status is Status.DEAD or share is None or 100 * share < limits.context_percent:
            continue
        words = f"has filled {int(100 * share)} % of its context"
        yield Concern(ConcernKind.CONTEXT, name, words, used.answered or 0.0, None)


def _vacant(mailbox: Mailbox) -> Iterator[Concern]:
    """Find roles with mail on hold and no holder."""
    for role, number, oldest in mailbox.vacant():
        held = mailbox.roster.held(role)
        last = f"last held by {held[-1]}" if held else "never held"
        words = f"no agent holds the role; {number} message{'s' * (number != 1)} on hold; {last}"
        yield Concern(ConcernKind.VACANT, role, words, oldest.time, oldest.id)


def _strangers(mailbox: Mailbox, recent: list[Message]) -> Iterator[Concern | None]:
    """Find senders that are not registered; an empty roster is ignored."""
    if not len(mailbox.roster):
        return
    messages: dict[str, list[Message]] = {}
    for message in recent:
        yield None
        if message.sender in messages:
            messages[message.sender].append(message)
        elif resolve(message.sender, mailbox.roster, mailbox.user).kind not in (Kind.DIRECT, Kind.USER, Kind.ROLE):
            messages[message.sender] = [message]
    for sender, mail in messages.items():
        newest = max(mail, key=by_age)
        words = f"sent {len(mail)} message{'s' * (len(mail) != 1)} but is not registered"
        yield Concern(ConcernKind.STRANGER, sender, words, min(mail, key=by_age).time, newest.id)


def _dead_letters(mailbox: Mailbox, now: float, limits: Limits) -> Iterator[Concern | None]:
    """Find the dead letters, and report clearly more of them in the last window than in the one before."""
    window = limits.window_minutes * MINUTE
    fresh: list[tuple[float, Age, str]] = []
    before = 0
    for dead_letter in mailbox.iter_dead_letters(now):
        message = dead_letter.message
        yield Concern(
            ConcernKind.UNKNOWN if dead_letter.state is State.UNKNOWN else ConcernKind.DEAD_LETTER,
            message.sender,
            dead_letter.reason,
            message.time if dead_letter.since is None else dead_letter.since,
            message.id,
            dead_letter.recipient,
            dead_letter.state,
            is_mine=dead_letter.recipient == mailbox.user,
            sent=message.time,
            is_told=dead_letter.is_told,
        )
        if dead_letter.since is not None and dead_letter.since > now - window:
            fresh.append((dead_letter.since, by_age(message), message.id))
        elif dead_letter.since is not None and dead_letter.since > now - 2 * window:
            before += 1
    if len(fresh) - before >= limits.growth_letters:
        hours = limits.window_minutes / 60
        words = f"{len(fresh)} dead letters in the last {hours:g} h, {before} in the {hours:g} h before"
        yield Concern(ConcernKind.GROWTH, "dead letters", words, min(fresh)[0], max(fresh)[-1])


def new_mail(mailbox: Mailbox) -> Iterator[Concern | None]:
    """Yield the mail that is new to the user, addressed to them and not answered, and None at least once per thread.

    Only those who know what the user has seen may ask. Raises MailboxReloaded.
    """
    left, at = mailbox.counts().for_you, 0
    roots = mailbox.threads(View("for-you")) if left else ()
    while left > 0 and at < len(roots):
        root, at = roots[at], at + 1
        yield None
        messages = mailbox.thread_messages(root) if mailbox.unseen_in(root) else ()
        answered = {it.thread for it in messages if mailbox.is_own(it)}
        for message in messages:
            if mailbox.is_mine(message) and mailbox.is_new(message):
                left -= 1
                if message.id not in answered:
                    yield Concern(
                        ConcernKind.NEW, message.sender, "wrote to you", message.time, message.id, is_mine=True
                    )
