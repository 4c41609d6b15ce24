"""Keep the hits of the saved views in step with the mailbox."""

from __future__ import annotations

from contextlib import aclosing
from time import monotonic, process_time

from textual.timer import Timer

from console.running.stepping import rest_after, stepped
from console.screens.mail_screen import MailScreen
from mailstore.steps import MailboxReloaded

SECONDS = 0.25
"""How long changes are gathered."""
COST = 20
"""A search that takes long rests this many times as long before the next one."""


class SavedCounts:
    """Runs the saved searches in steps whenever something changed, and no more often than their cost allows."""

    def __init__(self, screen: MailScreen) -> None:
        self._screen = screen
        self._is_stale = True
        self._counted: dict[str, str] | None = None
        self._counting: dict[str, str] | None = None
        """What is being counted: changes wait for its end, which they would put off for ever."""
        self._rests_until = 0.0
        self._timer: Timer | None = None

    def mail_changed(self) -> None:
        """Count again soon: what was found may have changed."""
        self._is_stale = True
        if self._timer is None and self._screen.session.personal.views:
            self._timer = self._screen.set_timer(SECONDS, self.check)

    def check(self) -> None:
        """Count again if mail or views changed and the last count is long enough ago."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        session = self._screen.session
        views = dict(session.personal.views)
        if session.is_loading or monotonic() < self._rests_until or views == self._counting:
            return
        if views != self._counted or (views and self._is_stale):
            self._is_stale = False
            self._counted = views
            if views or session.found:
                self._counting = views
                self._screen.run_task(self._count(views), group="search-saved", exclusive=True)

    async def _count(self, views: dict[str, str]) -> None:
        from console.search.hits import search_context
        from console.state.saved_views import run_saved_views

        began, session = process_time(), self._screen.session
        try:
            hints = session.store.candidates
            steps = run_saved_views(search_context(session), session.now(), views, hints)
            async with aclosing(stepped(steps, session.rest)) as results:
                session.found = dict([each async for each in results])
        except MailboxReloaded:
            self._is_stale = True
            return
        finally:
            if self._counting is views:
                self._counting = None
        self._rests_until = monotonic() + rest_after(process_time() - began, COST)
        was_stale = self._is_stale or self._screen.is_behind
        self._screen.redraw()
        self._is_stale = was_stale
