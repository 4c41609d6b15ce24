"""The state of the fleet at a moment: questions that wait for an answer, and hot spots by the rules of attention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mailstore.overview.bars import TimeBars
from mailstore.queries.attention import NONE, Concern, Limits, in_order, look
from mailstore.queries.questions import look_for_questions, threads_of
from mailstore.records.address import party, resolve
from mailstore.records.details import AgentUsage
from mailstore.state.mailbox import Mailbox
from mailstore.steps import BackgroundWork, Steps, at_once


class OldQuestion(NamedTuple):
    """A question: when it was asked (seconds since the epoch), and its message's id."""

    since: float
    message_id: str


class HotSpot(NamedTuple):
    """A concern, the parties that it is about, and to whom its message was addressed."""

    concern: Concern
    parties: tuple[str, ...]
    addressed: tuple[str, ...]


class FleetStanding:
    """The oldest open question to each party, and all hot spots, the most urgent first."""

    def __init__(self, questions: Mapping[str, OldQuestion] | None = None, hot: Sequence[HotSpot] = ()) -> None:
        self.questions = questions or {}
        self.hot = tuple(hot)
        self._about: dict[str, HotSpot] = {}
        self._to: dict[str, HotSpot] = {}
        self._between: dict[tuple[str, str], HotSpot] = {}
        known: set[tuple[str, str | None]] = set()
        """Parties and messages: a message to thousands may be as many hot spots."""
        for spot in hot:
            for name in spot.parties:
                self._about.setdefault(name, spot)
                if (name, spot.concern.message_id) not in known:
                    known.add((name, spot.concern.message_id))
                    for recipient in spot.addressed:
                        self._to.setdefault(recipient, spot)
                        self._between.setdefault((name, recipient), spot)

    def of(self, name: str) -> HotSpot | None:
        """Return the most urgent hot spot about a party."""
        return self._about.get(name)

    def at(self, name: str) -> HotSpot | None:
        """Return the most urgent hot spot whose message was addressed to a party or a channel."""
        return self._to.get(name)

    def between(self, sender: str, recipient: str) -> HotSpot | None:
        """Return the most urgent hot spot about a party whose message was addressed to another."""
        return self._between.get((sender, recipient))

    def by_bar(self, bars: TimeBars) -> dict[int, HotSpot]:
        """Return the most urgent hot spot that began in each bar, the most urgent of all first."""
        spots: dict[int, HotSpot] = {}
        for spot in self.hot:
            if (bar := bars.bar(spot.concern.since)) is not None:
                spots.setdefault(bar, spot)
        return spots


def standing(mailbox: Mailbox, now: float, limits: Limits, usage: Mapping[str, AgentUsage] = NONE) -> FleetStanding:
    """Return the state of the fleet; blocks."""
    [found] = at_once(standing_steps(mailbox, now, limits, usage))
    return found


def standing_steps(
    mailbox: Mailbox, now: float, limits: Limits, usage: Mapping[str, AgentUsage] = NONE
) -> Steps[FleetStanding]:
    """Yield, after some steps, the state of the fleet. Raises MailboxReloaded."""
    questions: dict[str, OldQuestion] = {}
    for question in look_for_questions(mailbox, threads_of(mailbox), now, now):
        if question is not None:
            waiting = OldQuestion(question.message.time, question.message.id)
            for name in question.asked:
                questions[name] = min(questions.get(name, waiting), waiting)
        yield None
    concerns: list[Concern] = []
    for concern in look(mailbox, now, limits, usage):
        concerns += [] if concern is None else [concern]
        yield None
    hot: list[HotSpot] = []
    addressed: dict[str, tuple[str, ...]] = {}
    yield (ordering := BackgroundWork(lambda: in_order(concerns)))
    for concern in ordering.found():
        hot.append(_hot_spot(mailbox, concern, addressed))
        yield None
    yield (arranging := BackgroundWork(lambda: FleetStanding(questions, hot)))
    yield arranging.found()


def _hot_spot(mailbox: Mailbox, concern: Concern, addressed: dict[str, tuple[str, ...]]) -> HotSpot:
    """Return a concern with its parties; whom its message names is kept in `addressed`, by the message's id."""
    parties = concern.parties or (concern.who,)
    message = mailbox.message(concern.message_id) if concern.message_id is not None else None
    if message is None:
        return HotSpot(concern, parties, ())
    if message.id not in addressed:
        addressed[message.id] = tuple(resolve(text, mailbox.roster, mailbox.user).name for text in message.recipients)
    names = dict.fromkeys(party(name, mailbox.roster, mailbox.user) for name in parties)
    return HotSpot(concern, tuple(names), addressed[message.id])
