"""Keeping what the saved searches find in step with the mailbox."""

from __future__ import annotations

from contextlib import aclosing
from functools import partial
from time import monotonic

from textual import work
from textual.timer import Timer

from console import later
from console.screens.searching import Searching
from console.stepping import stepped
from mailstore.optional import candidates
from mailstore.records.message import Message
from mailstore.steps import ReadAnew

__all__ = ["Counting"]

SECONDS = 0.25
"""How long changes are gathered."""
COST = 20
"""A search that takes long rests this many times as long before the next."""


class Counting(Searching):
    """Runs the saved searches in steps whenever something changed, and no oftener than they cost."""

    _is_stale = True
    _counted: dict[str, str] | None = None
    _counting: dict[str, str] | None = None
    """What is being counted: changes wait for the end of it, which they would put off for ever."""
    _rests_until = 0.0
    _looking: Timer | None = None

    def tick(self) -> None:
        """Let a second pass: a view may have been saved, or what rested is due."""
        super().tick()
        self._look_for_changes()

    def redraw(self) -> None:
        """Draw everything; what made that needful may change what is found."""
        super().redraw()
        self._is_stale = True
        if self._looking is None and self.session.views:
            self._looking = self.set_timer(SECONDS, self._look_for_changes)

    def hits(self) -> dict[str, Message] | None:
        """Return what was found, by thread: by the search that was typed, else by the saved one that is looked at."""
        if self.found is not None or self.look.view.kind != "saved":
            return self.found
        kept = self.session.found.get(self.look.view.name)
        return self.there(kept.hits) if kept is not None else {}

    def _look_for_changes(self) -> None:
        if self._looking is not None:
            self._looking.stop()
            self._looking = None
        views = dict(self.session.views)
        if self.session.is_loading or monotonic() < self._rests_until or views == self._counting:
            return
        if views != self._counted or (views and self._is_stale):
            self._is_stale = False
            self._counted = views
            if views or self.session.found:
                self._counting = views
                self._count(views)

    @work(group="search-saved", exclusive=True, exit_on_error=False)
    async def _count(self, views: dict[str, str]) -> None:
        began = monotonic()
        try:
            session = self.session
            hints = partial(candidates, session.store)
            steps = later.run_saved_views(session.mailbox, session.body, session.now(), views, hints)
            async with aclosing(stepped(steps, session.rest)) as found:
                session.found = dict([each async for each in found])
        except ReadAnew:
            self._is_stale = True
            return
        finally:
            if self._counting is views:
                self._counting = None
        self._rests_until = monotonic() + COST * (monotonic() - began)
        was_stale = self._is_stale
        self.redraw()
        self._is_stale = was_stale
