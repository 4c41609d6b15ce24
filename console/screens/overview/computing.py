"""Compute the overview beside other work: the traffic as often as mail comes, hot spots as often as they may cost."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import datetime
from time import monotonic

from console.overview.model import OverviewModel, model_steps
from console.running.stepping import stepped
from console.session import Session
from console.state.unread_mail import unread_count
from console.words.agent_words import presence_symbol
from mailstore.overview.bars import TimeBars, bars_of
from mailstore.overview.counting import traffic_steps
from mailstore.overview.picture import TrafficPicture
from mailstore.overview.standing import FleetStanding, standing_steps
from mailstore.steps import MailboxReloaded

COST = 20
"""Computing takes at most one part in so many of the time, however large the mailbox is."""
LEAST_SECONDS, STANDING_SECONDS = 0.2, 2.0


def utc_offset(now: float) -> float:
    """Return how many seconds the local clock is ahead of UTC at a time."""
    offset = datetime.fromtimestamp(now).astimezone().utcoffset()
    return 0.0 if offset is None else offset.total_seconds()


class OverviewWork:
    """Says when to compute again, and does it in steps; what is computed stays until there is something newer."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._standing: FleetStanding | None = None
        self._is_running = False
        self._turn = 0
        self._subject: object = None
        self._shown: object = None
        """The mailbox and the moment, and the span and number of bars, that were computed last."""
        self._next = self._next_standing = 0.0

    def is_due(self, span: str, most: int) -> bool:
        """Return whether it is time to compute again: at once for another span, number of bars, moment or mailbox.

        What is being computed then is of no use any more: cancel it.
        """
        subject, shown = (id(self._session.mailbox), self._session.moment), (span, most)
        if subject != self._subject:
            self._next_standing, self._standing = 0.0, None
        if (subject, shown) != (self._subject, self._shown):
            self._subject, self._shown = subject, shown
            return True
        return not self._is_running and monotonic() >= self._next

    async def run(self, span: str, most: int) -> AsyncIterator[OverviewModel]:
        """Compute the traffic, then, if it is time, the state of the fleet; yield what to draw after each."""
        self._is_running = True
        self._turn += 1
        turn = self._turn
        try:
            start = monotonic()
            if (picture := await self._traffic(span, most)) is None:
                return
            async for model in self._model(span, picture):
                yield model
            self._next = monotonic() + max(LEAST_SECONDS, COST * (monotonic() - start))
            if monotonic() < self._next_standing:
                return
            start = monotonic()
            await self._look()
            self._next_standing = monotonic() + max(STANDING_SECONDS, COST * (monotonic() - start))
            async for model in self._model(span, picture):
                yield model
        except MailboxReloaded:  # the next look is of what is there then
            return
        finally:
            if turn == self._turn:
                self._is_running = False

    async def _look(self) -> None:
        session = self._session
        limits = session.config.attention.limits()
        steps = standing_steps(session.mailbox, session.now(), limits, session.usage_now())
        async with aclosing(stepped(steps, session.rest)) as results:
            async for standing in results:
                self._standing = standing

    async def _model(self, span: str, picture: TrafficPicture) -> AsyncIterator[OverviewModel]:
        session = self._session
        mailbox = session.mailbox
        steps = model_steps(
            mailbox,
            span,
            picture,
            self._standing,
            lambda agent: presence_symbol(agent, session.presence(agent)),
            lambda name: unread_count(session.store, mailbox, name),
            session.usage_now(),
            session.config.attention.context_percent,
        )
        async with aclosing(stepped(steps, session.rest)) as results:
            async for model in results:
                yield model

    async def _traffic(self, span: str, most: int) -> TrafficPicture | None:
        session = self._session
        now = session.now()

        def bars(first: float) -> TimeBars:
            return bars_of(span, now, first, utc_offset(now), most)

        async with aclosing(stepped(traffic_steps(session.mailbox, now, bars), session.rest)) as results:
            pictures = [picture async for picture in results]
        return pictures[-1] if pictures else None
