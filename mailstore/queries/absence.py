"""Find what happened while the user was away."""

from __future__ import annotations

from collections import Counter
from heapq import nlargest
from operator import itemgetter

import msgspec

from mailstore.queries.questions import look_for_questions, threads_of
from mailstore.records.roster import Status
from mailstore.state.mailbox import Mailbox
from mailstore.steps import BackgroundWork, Steps

BUSIEST = 20


class LostMessage(msgspec.Struct, frozen=True):
    """A message that became a dead letter: its id, and the recipient that will not read it."""

    message_id: str
    recipient: str


class Absence(msgspec.Struct, frozen=True):
    """What happened between two times, in seconds since the epoch; ids are the newest first.

    `for_you` are messages to the user that they have not seen, `questions` all questions that are not answered.
    `busiest` are at most 20 threads with the number of their new messages, those with most first. The user's own
    messages don't count anywhere.
    """

    since: float
    until: float
    messages: int = 0
    threads: int = 0
    for_you: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    dead_letters: tuple[LostMessage, ...] = ()
    ended: tuple[str, ...] = ()
    appeared: tuple[str, ...] = ()
    busiest: tuple[tuple[str, int], ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing happened."""
        return not (self.messages or self.dead_letters or self.ended or self.appeared)


def look_back(mailbox: Mailbox, since: float, now: float) -> Steps[Absence]:
    """Yield what happened between two times at the end, and before that None at least once per message.

    Raises MailboxReloaded.
    """
    mailbox.advance(now)
    talk: Counter[str] = Counter()
    for_you: list[str] = []
    for message in mailbox.newest(since):
        yield None
        if message.time <= since or message.time > now or mailbox.is_own(message):
            continue
        talk[mailbox.root_of(message.id)] += 1
        if mailbox.is_mine(message) and mailbox.is_unseen(message):
            for_you.append(message.id)
    questions: list[tuple[float, str]] = []
    for question in look_for_questions(mailbox, threads_of(mailbox), now, now):
        yield None
        if question is not None and question.message.time > since and not mailbox.is_own(question.message):
            questions.append((question.message.time, question.message.id))
    dead_letters: list[tuple[float, str, str]] = []
    for dead_letter in mailbox.dead_letters(now):
        yield None
        if dead_letter.since is not None and since < dead_letter.since <= now:
            dead_letters.append((dead_letter.since, dead_letter.message.id, dead_letter.recipient))
    ended, appeared = _agents(mailbox, since, now)

    def report() -> Absence:
        return Absence(
            since=since,
            until=now,
            messages=talk.total(),
            threads=len(talk),
            for_you=tuple(for_you),
            questions=tuple(found for _, found in sorted(questions, reverse=True)),
            dead_letters=tuple(LostMessage(*found) for _, *found in sorted(dead_letters, reverse=True)),
            ended=ended,
            appeared=appeared,
            busiest=tuple(nlargest(BUSIEST, talk.items(), key=itemgetter(1))),
        )

    sorting = BackgroundWork(report)
    yield sorting
    yield sorting.found()


def _agents(mailbox: Mailbox, since: float, now: float) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the agents that ended between two times, and those that began, in the order of time."""

    def within(moment: float | None) -> bool:
        return moment is not None and since < moment <= now

    dead = [agent for agent in mailbox.roster if agent.status is Status.DEAD and within(agent.ended_at)]
    begun = [agent for agent in mailbox.roster if within(agent.started_at)]
    return (
        tuple(it.session_id for it in sorted(dead, key=lambda agent: (agent.ended_at or 0.0, agent.session_id))),
        tuple(it.session_id for it in sorted(begun, key=lambda agent: (agent.started_at or 0.0, agent.session_id))),
    )
