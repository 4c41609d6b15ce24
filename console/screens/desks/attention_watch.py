"""Keep what needs attention up to date: searched for in short slices, when something changed or a minute passed."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING

from textual.timer import Timer

from console.commands.table import BY_ID
from console.concerns import ACKNOWLEDGED, listed
from console.render.short_text import count
from console.running.idle import load_modules
from console.running.stepping import rest_after
from console.screens.mail_screen import MailScreen
from mailstore.steps import MailboxReloaded

if TYPE_CHECKING:
    from mailstore.queries.concerns import Concern

SECONDS = 0.25
"""How long changes are gathered."""
AGAIN_SECONDS, LONGEST_AGAIN_SECONDS = 30.0, 300.0
"""How often a mailbox is searched in which nothing happens: most concerns are about what did not happen."""
IDLE_COST = 300
"""There, or where messages only expire, searching takes at most one part in so many of the time."""
COST = 30
"""Searching takes at most one part in so many of the time, however large the mailbox is."""
SLICE_SECONDS, RESTS = 0.001, 2
"""How long searching may hold up the event loop at a time, and how many times as long it rests: nobody waits for it."""
TOLD = "attention.told"
"""The name under which is remembered that the key to what needs attention was named once."""
MOST = 500
"""Concerns of one kind that are listed: all are counted, and the next ones follow when those are dealt with."""


class AttentionWatch:
    """Searches the mailbox that is shown, which may be that of a moment of the past."""

    def __init__(self, screen: MailScreen) -> None:
        self._screen = screen
        self._is_stale = True
        self._is_looking = False
        self._rests_until = self._rests_long_until = self._again = float("-inf")
        self._timer: Timer | None = None

    def mail_changed(self) -> None:
        """Search again soon; at once if this mailbox was never searched."""
        session, self._is_stale = self._screen.session, True
        if not session.attention.is_of(session.mailbox):
            self.check()
        elif self._timer is None and not self._is_looking:
            self._timer = self._screen.set_timer(SECONDS, self.check)

    def mail_expired(self) -> None:
        """Search again, but not as soon as if mail had changed: where much expires, it does every few seconds."""
        self._again = min(self._again, self._rests_long_until)

    def check(self) -> None:
        """Search again if something changed, or time passed, and the last search is long enough ago."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        now, session = monotonic(), self._screen.session
        is_known = session.attention.is_of(session.mailbox)
        if session.is_loading or self._is_looking or (is_known and now < self._rests_until):
            return
        if self._is_stale or not is_known or now > self._again:
            self._is_stale, self._is_looking = False, True
            self._screen.run_task(self._look(), group="attention")

    async def _look(self) -> None:
        await load_modules("mailstore.queries.attention", "console.words.concern_words")
        from console.words.concern_words import heading
        from mailstore.queries.attention import every_concern
        from mailstore.queries.concerns import GatheredConcerns

        session, mailbox = self._screen.session, self._screen.session.mailbox
        concerns = GatheredConcerns(MOST)
        spent, start = 0.0, monotonic()
        try:
            limits, usage = session.config.attention.limits(), session.usage_now()
            for concern in every_concern(mailbox, session.now(), limits, session.presence, usage):
                if concern is not None:
                    concerns.add(concern)
                if (taken := monotonic() - start) > SLICE_SECONDS:
                    spent += taken
                    await asyncio.sleep(max(session.rest(taken), RESTS * taken))
                    start = monotonic()
        except MailboxReloaded:
            self._is_stale = True
            return
        finally:
            self._is_looking = False
            looked = monotonic()
            cost = spent + looked - start
            self._rests_until = looked + rest_after(cost, COST)
            pause = min(IDLE_COST * cost, LONGEST_AGAIN_SECONDS)
            self._rests_long_until, self._again = looked + pause, looked + max(AGAIN_SECONDS, pause)
        totals: Counter[str] = Counter()
        for (is_mine, kind), number in concerns.totals.items():
            totals[heading(kind, is_mine=is_mine)] += number
        if mailbox is session.mailbox:
            self._show(concerns.in_order(), totals)
            if session.config.hooks.hold_loops:
                from console.screens.agent_orders import hold_loops

                hold_loops(self._screen, concerns.in_order())

    def _show(self, concerns: Sequence[Concern], totals: Mapping[str, int]) -> None:
        session = self._screen.session
        mailbox, hidden = session.mailbox, set(session.personal.recall(ACKNOWLEDGED, ()))
        is_whole = len(concerns) == sum(totals.values())
        if session.moment is None and is_whole and hidden - (still := hidden & {concern.key for concern in concerns}):
            self.remember(sorted(still))
        shown = listed(concerns, mailbox, hidden, session.personal.quiet)
        roots: dict[str, Concern] = {}
        for concern in shown:
            if concern.message_id is not None and concern.message_id in mailbox:
                roots.setdefault(mailbox.root_of(concern.message_id), concern)
        if session.attention.set(mailbox, concerns, shown, roots, totals):
            was_stale = self._is_stale or self._screen.is_behind
            self._screen.redraw()
            self._is_stale = was_stale  # drawing this changed nothing in the mailbox
        is_free = session.moment is None and self._screen.is_current and not self._screen.footer.notice
        if shown and is_free and not session.personal.recall(TOLD):
            number, key = session.attention.number(mailbox), BY_ID["attention"].key_label(session.keymap)
            self._screen.tell(f"{key}: {count(number)} need{'s' * (number == 1)} you")
            self._remember(TOLD, True)

    def acknowledge(self, keys: Sequence[str], is_on: bool = True) -> None:
        """Stop listing concerns for as long as they last, or list them again."""
        known = dict.fromkeys(self._screen.session.personal.recall(ACKNOWLEDGED, ()))
        for key in keys:
            if is_on:
                known[key] = None
            else:
                known.pop(key, None)
        self.remember(list(known))
        concerns = self._screen.session.attention
        self._show(concerns.every, concerns.totals)

    def remember(self, keys: Sequence[str]) -> None:
        """Keep the keys of the acknowledged concerns."""
        self._remember(ACKNOWLEDGED, list(keys) or None)

    def _remember(self, name: str, value: object) -> None:
        personal = self._screen.session.personal
        personal.remember(name, value)
        self._screen.run_task(asyncio.to_thread(personal.save_remembered, name), group="marks")
