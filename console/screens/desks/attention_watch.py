"""Keep what needs attention up to date: searched for in short slices, when something changed or a minute passed."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from console import lazy
from console.screens.needs import PartScreen, RunningTimer
from mailstore.state.views import View
from mailstore.steps import MailboxReloaded

if TYPE_CHECKING:
    from console.session import Session
    from mailstore.queries.concerns import Concern

__all__ = ["AttentionWatch", "AttentionWatchScreen", "snoozed_row"]

SECONDS = 0.25
"""How long changes are gathered."""
AGAIN_SECONDS = 30.0
"""How often a mailbox is searched in which nothing happens: most concerns are about what did not happen."""
COST = 30
"""Searching takes at most one part in so many of the time, however large the mailbox is."""
SLICE_SECONDS = 0.003
"""How long searching may hold up the event loop at a time."""
MOST = 500
"""Concerns of one kind that are listed: all are counted, and the next ones follow when those are dealt with."""
ACKNOWLEDGED = "attention.acknowledged"
"""The name under which the keys of acknowledged concerns are remembered."""


class AttentionWatchScreen(PartScreen, Protocol):
    """What the search for concerns needs of the screen."""

    def set_timer(self, delay: float, callback: Callable[[], object]) -> RunningTimer: ...


class AttentionWatch:
    """Searches the mailbox that is shown, which may be that of a moment of the past."""

    def __init__(self, screen: AttentionWatchScreen) -> None:
        self._screen = screen
        self._is_stale = True
        self._is_looking = False
        self._rests_until = self._looked = 0.0
        self._timer: RunningTimer | None = None

    def mail_changed(self) -> None:
        """Search again soon; at once if this mailbox was never searched."""
        session, self._is_stale = self._screen.session, True
        if not session.attention.is_of(session.mailbox):
            self.check()
        elif self._timer is None and not self._is_looking:
            self._timer = self._screen.set_timer(SECONDS, self.check)

    def check(self) -> None:
        """Search again if something changed, or time passed, and the last search is long enough ago."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        now, session = monotonic(), self._screen.session
        is_known = session.attention.is_of(session.mailbox)
        if session.is_loading or self._is_looking or (is_known and now < self._rests_until):
            return
        if self._is_stale or not is_known or now > self._looked + AGAIN_SECONDS:
            self._is_stale, self._is_looking = False, True
            self._screen.run_task(self._look(), group="attention")

    async def _look(self) -> None:
        await lazy.load("mailstore.queries.attention", "console.concern_words")
        from console.concern_words import heading
        from mailstore.queries.concerns import GatheredConcerns

        session, mailbox = self._screen.session, self._screen.session.mailbox
        found = GatheredConcerns(MOST)
        spent, start = 0.0, monotonic()
        try:
            for concern in concerns(session):
                if concern is not None:
                    found.add(concern)
                if (taken := monotonic() - start) > SLICE_SECONDS:
                    spent += taken
                    await asyncio.sleep(session.rest(taken))
                    start = monotonic()
        except MailboxReloaded:
            self._is_stale = True
            return
        finally:
            self._is_looking = False
            self._looked = monotonic()
            self._rests_until = self._looked + COST * (spent + self._looked - start)
        totals: Counter[str] = Counter()
        for (is_mine, trouble), number in found.totals.items():
            totals[heading(trouble, is_mine=is_mine)] += number
        if mailbox is session.mailbox:
            self._show(found.in_order(), totals)

    def _show(self, found: Sequence[Concern], totals: Mapping[str, int]) -> None:
        session = self._screen.session
        mailbox, hidden = session.mailbox, set(session.personal.recall(ACKNOWLEDGED, ()))
        is_whole = len(found) == sum(totals.values())
        if session.moment is None and is_whole and hidden - (still := hidden & {it.key for it in found}):
            self.remember(sorted(still))
        shown = [it for it in found if it.key not in hidden and not is_snoozed(session, it)]
        roots: dict[str, Concern] = {}
        for it in shown:
            if it.message_id is not None and it.message_id in mailbox:
                roots.setdefault(mailbox.root_of(it.message_id), it)
        if session.attention.set(mailbox, found, shown, roots, totals):
            was_stale = self._is_stale
            self._screen.redraw()
            self._is_stale = was_stale  # this drawing is no change

    def acknowledge(self, keys: Sequence[str], is_on: bool = True) -> None:
        """Stop listing concerns for as long as they last, or list them again."""
        known = dict.fromkeys(self._screen.session.personal.recall(ACKNOWLEDGED, ()))
        for key in keys:
            if is_on:
                known[key] = None
            else:
                known.pop(key, None)
        self.remember(list(known))
        found = self._screen.session.attention
        self._show(found.every, found.totals)

    def remember(self, keys: Sequence[str]) -> None:
        """Keep the keys of the acknowledged concerns."""
        personal = self._screen.session.personal
        personal.remember(ACKNOWLEDGED, list(keys) or None)
        self._screen.run_task(asyncio.to_thread(personal.save_remembered, ACKNOWLEDGED), group="marks")


def is_snoozed(session: Session, concern: Concern) -> bool:
    """Return whether the person put a concern off, or the thread that it is about."""
    message = session.mailbox.message(concern.message_id or "")
    is_put_off = session.personal.quiet.is_row_snoozed(*snoozed_row(concern))
    return is_put_off or (message is not None and session.mailbox.is_snoozed(message))


def snoozed_row(concern: Concern) -> tuple[str, str]:
    """Return what identifies a snoozed row: a message or an agent, and what distinguishes it from other rows."""
    return concern.message_id or concern.who, concern.key


def concerns(session: Session) -> Iterator[Concern | None]:
    """Yield all concerns of the mailbox that is shown, and None between them. Raises MailboxReloaded."""
    from mailstore.queries.attention import look, new_mail
    from mailstore.queries.concerns import Concern, Trouble
    from mailstore.rules.presence import Working

    mailbox = session.mailbox
    asked: set[str | None] = set()
    for agent in list(mailbox.roster):
        yield None
        presence = session.presence(agent)
        if presence.state == Working.WAITING:
            since = presence.since or agent.updated or 0.0
            latest = next(iter(mailbox.threads(View("agent", agent.session_id))), None)
            newest = mailbox.summary(latest).latest.id if latest is not None else None
            words = f"waits for your permission: {presence.substate}".removesuffix(": ")
            yield Concern(Trouble.PERMISSION, agent.session_id, words, since, newest, is_mine=True)
    for found in look(mailbox, session.now(), session.config.attention.limits()):
        yield found
        if found is not None and found.is_mine:
            asked.add(found.message_id)
    for found in new_mail(mailbox):
        yield None if found is not None and found.message_id in asked else found
