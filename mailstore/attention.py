"""What needs the person's attention: computed from the log alone, each with a reason and a message to go to."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

import msgspec

from mailstore.address import Kind, resolve
from mailstore.mailbox import Mailbox, by_time
from mailstore.message import Message
from mailstore.roster import Status

__all__ = ["Concern", "Limits", "Trouble", "attention"]

MINUTE = 60.0
QUESTION = "question"


class Trouble(StrEnum):
    """The kinds of concern, the most pressing first."""

    QUESTION = "question"
    STALLED = "stalled"
    VACANT = "vacant"
    LOOP = "loop"
    DEAD_ADDRESSEE = "dead-addressee"
    STRANGER = "stranger"
    GROWTH = "growth"


class Limits(msgspec.Struct, frozen=True):
    """From when on something is a concern; times in minutes."""

    question_minutes: float = 30.0
    unread_minutes: float = 60.0
    loop_messages: int = 12
    loop_minutes: float = 30.0
    growth_letters: int = 5
    window_minutes: float = 24 * 60.0


class Concern(msgspec.Struct, frozen=True):
    """One thing to look at: what it is, whom it is about, why, since when (seconds), and the message to go to."""

    trouble: Trouble
    who: str
    reason: str
    since: float
    message_id: str | None = None

    @property
    def key(self) -> str:
        """Return what names the concern as long as it lasts."""
        return f"{self.trouble.value}\n{self.who}\n{self.message_id or ''}"


def attention(mailbox: Mailbox, now: float, limits: Limits | None = None) -> list[Concern]:
    """Return everything that asks for a look, the most pressing first, within a kind the oldest first."""
    limits = limits or Limits()
    recent = [message for message in mailbox.live() if message.time > now - limits.window_minutes * MINUTE]
    found = [
        *_questions(mailbox, now, limits),
        *_stalled(mailbox, now, limits),
        *_vacant(mailbox),
        *_loops(mailbox, recent, now, limits),
        *_to_the_dead(mailbox, recent),
        *_strangers(mailbox, recent),
        *_growth(mailbox, now, limits),
    ]
    order = list(Trouble)
    return sorted(found, key=lambda it: (order.index(it.trouble), it.since))


def _questions(mailbox: Mailbox, now: float, limits: Limits) -> Iterator[Concern]:
    """Find questions that none of those who were asked has answered in their thread."""
    for message in mailbox.live():
        if message.type != QUESTION or not message.timed or now - message.time < limits.question_minutes * MINUTE:
            continue
        asked = set(mailbox.states(message, now)) | {
            holder.session_id
            for text in message.recipients
            if (address := resolve(text, mailbox.roster, mailbox.user)).kind is Kind.ROLE
            for holder in mailbox.roster.holders(address.name)
        }
        later = (it for it in mailbox.thread_messages(mailbox.root_of(message.id)) if it.time >= message.time)
        if any(it.sender in asked for it in later if it.id != message.id):
            continue
        whom = ", ".join(map(mailbox.label, message.recipients))
        yield Concern(Trouble.QUESTION, message.sender, f"asked {whom} and was not answered", message.time, message.id)


def _stalled(mailbox: Mailbox, now: float, limits: Limits) -> Iterator[Concern]:
    """Find the living that leave mail unread: they may have stopped reading."""
    for agent in mailbox.roster:
        if agent.status is not Status.LIVING or not mailbox.unread_count(agent.session_id):
            continue
        late = [
            message
            for message in mailbox.unread(agent.session_id, now)
            if message.timed and now - message.time > limits.unread_minutes * MINUTE
        ]
        if late:
            words = f"has not read {len(late)} message{'s' * (len(late) != 1)}: it may have stopped reading"
            yield Concern(Trouble.STALLED, agent.session_id, words, late[0].time, late[0].id)


def _vacant(mailbox: Mailbox) -> Iterator[Concern]:
    """Find roles that mail waits for and nobody holds."""
    for role, mail in mailbox.waiting():
        held = mailbox.roster.held(role)
        last = f"last held by {held[-1]}" if held else "nobody ever held it"
        words = f"nobody holds the role, and {len(mail)} message{'s' * (len(mail) != 1)} wait; {last}"
        yield Concern(Trouble.VACANT, role, words, mail[0].time, mail[0].id)


def _loops(mailbox: Mailbox, recent: list[Message], now: float, limits: Limits) -> Iterator[Concern]:
    """Find two agents that do nothing but answer each other."""
    start = now - limits.loop_minutes * MINUTE
    for root in dict.fromkeys(mailbox.root_of(message.id) for message in recent if message.time > start):
        run: list[Message] = []
        for message in sorted(mailbox.thread_messages(root), key=by_time, reverse=True):
            if message.time <= start or message.sender == mailbox.user:
                break
            if len(run) > 0 and message.sender == run[-1].sender:
                break
            if len(run) > 1 and message.sender != run[-2].sender:
                break
            run.append(message)
        if len(run) >= limits.loop_messages:
            pair = " and ".join(sorted({run[0].sender, run[1].sender}))
            words = f"answered each other {len(run)} times in {limits.loop_minutes:g} min, and nobody else took part"
            yield Concern(Trouble.LOOP, pair, words, run[-1].time, run[0].id)


def _to_the_dead(mailbox: Mailbox, recent: list[Message]) -> Iterator[Concern]:
    """Find those who wrote to an agent after its death, once a pair."""
    found: dict[tuple[str, str], list[Message]] = {}
    for message in recent:
        for text in message.recipients:
            address = resolve(text, mailbox.roster, mailbox.user)
            agent = mailbox.roster.get(address.name) if address.kind is Kind.DIRECT else None
            if agent is not None and agent.status is Status.DEAD and agent.ended_at and message.time > agent.ended_at:
                found.setdefault((message.sender, agent.session_id), []).append(message)
    for (sender, gone), mail in found.items():
        words = f"wrote to {gone}, which is dead" + (f", {len(mail)} times" if len(mail) > 1 else "")
        newest = max(mail, key=by_time)
        yield Concern(Trouble.DEAD_ADDRESSEE, sender, words, min(mail, key=by_time).time, newest.id)


def _strangers(mailbox: Mailbox, recent: list[Message]) -> Iterator[Concern]:
    """Find senders that the roster has never heard of; one that is empty knows nobody."""
    if not len(mailbox.roster):
        return
    found: dict[str, list[Message]] = {}
    for message in recent:
        if message.sender in found:
            found[message.sender].append(message)
        elif resolve(message.sender, mailbox.roster, mailbox.user).kind not in (Kind.DIRECT, Kind.USER, Kind.ROLE):
            found[message.sender] = [message]
    for sender, mail in found.items():
        newest = max(mail, key=by_time)
        words = f"sent {len(mail)} message{'s' * (len(mail) != 1)}, and the roster does not know it"
        yield Concern(Trouble.STRANGER, sender, words, min(mail, key=by_time).time, newest.id)


def _growth(mailbox: Mailbox, now: float, limits: Limits) -> Iterator[Concern]:
    """Say when more letters died in the last window than in the one before."""
    window = limits.window_minutes * MINUTE
    times = [(letter.since, letter.message.id) for letter in mailbox.dead_letters(now) if letter.since is not None]
    fresh = [it for it in times if it[0] > now - window]
    before = sum(now - 2 * window < time <= now - window for time, _ in times)
    if len(fresh) - before >= limits.growth_letters:
        hours = limits.window_minutes / 60
        words = f"{len(fresh)} letters died in the last {hours:g} h, {before} in those before"
        yield Concern(Trouble.GROWTH, "dead letters", words, min(fresh)[0], max(fresh)[1])
