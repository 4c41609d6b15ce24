"""Find what needs the user's attention, from the log alone, each with a reason and a message to open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum

import msgspec

from mailstore.queries.questions import look_for_questions, threads_of
from mailstore.records.address import Kind, resolve
from mailstore.records.message import Age, Message, by_age
from mailstore.records.roster import Status
from mailstore.state.mailbox import Mailbox

__all__ = ["Concern", "Limits", "Trouble", "attention", "in_order", "look"]

MINUTE = 60.0


class Trouble(StrEnum):
    """The kinds of concern, the most urgent first."""

    QUESTION = "question"
    STALLED = "stalled"
    VACANT = "vacant"
    LOOP = "loop"
    DEAD_ADDRESSEE = "dead-addressee"
    STRANGER = "stranger"
    GROWTH = "growth"


class Limits(msgspec.Struct, frozen=True):
    """Thresholds for concerns; times in minutes."""

    question_minutes: float = 30.0
    unread_minutes: float = 60.0
    loop_messages: int = 12
    loop_minutes: float = 30.0
    growth_letters: int = 5
    window_minutes: float = 24 * 60.0


class Concern(msgspec.Struct, frozen=True):
    """Something that needs attention: kind, agent, reason, since when (seconds), and the message to open."""

    trouble: Trouble
    who: str
    reason: str
    since: float
    message_id: str | None = None

    @property
    def key(self) -> str:
        """Return a key that stays the same while the concern lasts."""
        return f"{self.trouble.value}\n{self.who}\n{self.message_id or ''}"


def attention(mailbox: Mailbox, now: float, limits: Limits | None = None) -> list[Concern]:
    """Return all concerns, the most urgent first, within a kind the oldest first."""
    return in_order(concern for concern in look(mailbox, now, limits or Limits()) if concern is not None)


def in_order(found: Iterable[Concern]) -> list[Concern]:
    """Sort concerns, the most urgent first, within a kind the oldest first."""
    order = list(Trouble)
    return sorted(found, key=lambda it: (order.index(it.trouble), it.since, it.who, it.message_id or ""))


def look(mailbox: Mailbox, now: float, limits: Limits) -> Iterator[Concern | None]:
    """Yield concerns as they are found, and None at least once per message, so that a caller can pause.

    Changes made in between are found by the next pass. Raises MailboxReloaded.
    """
    mailbox.advance(now)
    recent: list[Message] = []
    talks: dict[str, list[Message]] = {}
    window, talk = now - limits.window_minutes * MINUTE, now - limits.loop_minutes * MINUTE
    for message in mailbox.newest(min(window, talk)):
        if message.time > talk:
            talks.setdefault(mailbox.root_of(message.id), []).append(message)
        if message.time > window and not message.archived:
            recent.append(message)
        yield None
    yield from _unanswered(mailbox, now - limits.question_minutes * MINUTE, now)
    yield from _stalled(mailbox, now, limits)
    yield from _vacant(mailbox)
    yield from _loops(mailbox, {mailbox.root_of(it.id) for it in recent if it.time > talk}, talks, limits)
    yield from _to_the_dead(mailbox, recent)
    yield from _strangers(mailbox, recent)
    yield from _growth(mailbox, now, limits)


def _unanswered(mailbox: Mailbox, before: float, now: float) -> Iterator[Concern | None]:
    """Find questions from before a moment that no agent that was asked has answered."""
    for found in look_for_questions(mailbox, threads_of(mailbox), before, now):
        if found is None:
            yield None
            continue
        question = found.message
        whom = ", ".join(map(mailbox.label, question.recipients))
        yield Concern(
            Trouble.QUESTION, question.sender, f"asked {whom} and was not answered", question.time, question.id
        )


def _stalled(mailbox: Mailbox, now: float, limits: Limits) -> Iterator[Concern | None]:
    """Find living agents that leave mail unread."""
    for agent in list(mailbox.roster):
        yield None
        if agent.status is not Status.LIVING or not mailbox.unread_count(agent.session_id):
            continue
        number, oldest = mailbox.late(agent.session_id, now - limits.unread_minutes * MINUTE)
        if oldest is not None:
            words = f"has {number} unread message{'s' * (number != 1)} and may have stopped reading"
            yield Concern(Trouble.STALLED, agent.session_id, words, oldest.time, oldest.id)


def _vacant(mailbox: Mailbox) -> Iterator[Concern]:
    """Find roles with mail on hold and no holder."""
    for role, number, oldest in mailbox.vacant():
        held = mailbox.roster.held(role)
        last = f"last held by {held[-1]}" if held else "never held"
        words = f"no agent holds the role; {number} message{'s' * (number != 1)} on hold; {last}"
        yield Concern(Trouble.VACANT, role, words, oldest.time, oldest.id)


def _loops(
    mailbox: Mailbox, roots: Iterable[str], talks: dict[str, list[Message]], limits: Limits
) -> Iterator[Concern | None]:
    """Find pairs of agents that only answer each other."""
    for root in roots:
        yield None
        run: list[Message] = []
        for message in sorted(talks.get(root, ()), key=by_age, reverse=True):
            if message.sender == mailbox.user:
                break
            if len(run) > 0 and message.sender == run[-1].sender:
                break
            if len(run) > 1 and message.sender != run[-2].sender:
                break
            run.append(message)
        if len(run) >= limits.loop_messages:
            pair = " and ".join(sorted({run[0].sender, run[1].sender}))
            words = f"answered each other {len(run)} times in {limits.loop_minutes:g} min with no one else involved"
            yield Concern(Trouble.LOOP, pair, words, run[-1].time, run[0].id)


def _to_the_dead(mailbox: Mailbox, recent: list[Message]) -> Iterator[Concern | None]:
    """Find senders that wrote to an agent after its end, once per pair."""
    found: dict[tuple[str, str], list[Message]] = {}
    for message in recent:
        yield None
        for text in message.recipients:
            address = resolve(text, mailbox.roster, mailbox.user)
            agent = mailbox.roster.get(address.name) if address.kind is Kind.DIRECT else None
            if agent is not None and agent.status is Status.DEAD and agent.ended_at and message.time > agent.ended_at:
                found.setdefault((message.sender, agent.session_id), []).append(message)
    for (sender, gone), mail in found.items():
        words = f"wrote to {gone}, which is dead" + (f", {len(mail)} times" if len(mail) > 1 else "")
        newest = max(mail, key=by_age)
        yield Concern(Trouble.DEAD_ADDRESSEE, sender, words, min(mail, key=by_age).time, newest.id)


def _strangers(mailbox: Mailbox, recent: list[Message]) -> Iterator[Concern | None]:
    """Find senders that are not registered; an empty roster is ignored."""
    if not len(mailbox.roster):
        return
    found: dict[str, list[Message]] = {}
    for message in recent:
        yield None
        if message.sender in found:
            found[message.sender].append(message)
        elif resolve(message.sender, mailbox.roster, mailbox.user).kind not in (Kind.DIRECT, Kind.USER, Kind.ROLE):
            found[message.sender] = [message]
    for sender, mail in found.items():
        newest = max(mail, key=by_age)
        words = f"sent {len(mail)} message{'s' * (len(mail) != 1)} but is not registered"
        yield Concern(Trouble.STRANGER, sender, words, min(mail, key=by_age).time, newest.id)


def _growth(mailbox: Mailbox, now: float, limits: Limits) -> Iterator[Concern | None]:
    """Report clearly more dead letters in the last window than in the one before."""
    window = limits.window_minutes * MINUTE
    fresh: list[tuple[float, Age, str]] = []
    before = 0
    for letter in mailbox.letters(now):
        yield None
        if letter.since is not None and letter.since > now - window:
            fresh.append((letter.since, by_age(letter.message), letter.message.id))
        elif letter.since is not None and letter.since > now - 2 * window:
            before += 1
    if len(fresh) - before >= limits.growth_letters:
        hours = limits.window_minutes / 60
        words = f"{len(fresh)} dead letters in the last {hours:g} h, {before} in the {hours:g} h before"
        yield Concern(Trouble.GROWTH, "dead letters", words, min(fresh)[0], max(fresh)[-1])
