"""Searching everything, and filtering the list."""

from __future__ import annotations

from contextlib import aclosing
from datetime import UTC, datetime
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from platformdirs import user_cache_path
from textual import on, work
from textual.message import Message as Note
from textual.timer import Timer

from console import later
from console.screens.location import Location
from console.screens.writing import Writer
from console.session import Session
from console.stepping import stepped
from mailstore.errors import QueryError
from mailstore.optional import SearchHints, candidates
from mailstore.records.message import Message, by_age
from mailstore.steps import ReadAnew

if TYPE_CHECKING:
    from console.panes.search_bar import SearchBar
    from mailstore.queries.query import Query
    from mailstore.queries.search import SearchContext

__all__ = ["Searching"]

PAUSE_SECONDS = 0.08
FIRST = 50
"""How many threads are shown at once."""
EVERY_SECONDS = 0.25
MOST = 2000
"""How many threads a search ends with: more than anybody goes through, and little to draw."""


class Searching(Writer):
    """Runs queries in a worker as one types; hits come as threads, the newest first."""

    _asked = _shown_for = ""
    _problem: QueryError | None = None
    _waiting: Timer | None = None
    _began_at: str | None = None
    """The thread that was looked at when the search was begun."""

    class Hits(Note):
        """What a search has found so far, the newest hit of each thread first; `is_done` with the last.

        With `is_cut` there are more, which are older than any of these.
        """

        def __init__(self, text: str, found: dict[str, Message], is_done: bool, is_cut: bool = False) -> None:
            super().__init__()
            self.text, self.found, self.is_done, self.is_cut = text, found, is_done, is_cut

    def action_search(self) -> None:
        """Search all mail, as one types."""
        if self.found is None:
            self._began_at = self.threads.cursor_key
        self.query_one(later.SearchBar).begin("search", self._asked)
        if self.session.config.search.index:
            self._keep_index()

    @work(thread=True, group="search-index", exit_on_error=False)
    def _keep_index(self) -> None:
        if isinstance(self.session.store, SearchHints):
            self.session.store.keep_index(user_cache_path("signalbox") / "search")

    def action_filter(self) -> None:
        """Show only the threads of this list whose subject or people hold what is typed."""
        self._began_at = self.threads.cursor_key
        self.query_one(later.SearchBar).begin("filter", self.filter_text)

    def on_search_bar_typed(self, event: SearchBar.Typed) -> None:
        """Look for what was typed."""
        if event.mode == "filter":
            self.filter_text = event.text.strip()
            self.redraw()
            return
        self._stop_waiting()
        self._waiting = self.set_timer(PAUSE_SECONDS, lambda: self._ask(event.text.strip()))

    def search_for(self, text: str) -> None:
        """Show what a query finds, as if it had been typed."""
        self.query_one(later.SearchBar).begin("search", text)
        self._ask(text)
        if self._problem is None:
            self.set_focus(self.threads)

    def _ask(self, text: str) -> None:
        """Look for what a query finds; one that can't be read finds nothing, and what is wrong stands below it."""
        self._asked = self.session.last_query = text
        self._problem = None
        query: Query | None = None
        if text:
            try:
                query = later.parse(text, self.session.now())
            except QueryError as error:
                self._problem = error
        self.query_one(later.SearchBar).tell(self._problem)
        if query is not None:
            self.footer.notice = ""
            self._search(text, query, search_context(self.session))
            return
        if self._problem is None:
            self.found = None
        else:
            self.tell(str(self._problem))
            self.found = self.found or {}
        self.redraw()

    @work(group="search", exclusive=True, exit_on_error=False)
    async def _search(self, text: str, query: Query, context: SearchContext) -> None:
        while not await self._has_looked_up(text, query, context):  # the mailbox was read anew meanwhile
            context = search_context(self.session)

    async def _has_looked_up(self, text: str, query: Query, context: SearchContext) -> bool:
        try:
            await self._look_up(text, query, context)
        except ReadAnew:
            return False
        return True

    async def _look_up(self, text: str, query: Query, context: SearchContext) -> None:
        mailbox, found = context.mailbox, dict[str, Message]()
        told, due = 0, 0.0
        steps = later.looked_up(query, context, partial(candidates, self.session.store))
        async with aclosing(stepped(steps, self.session.rest)) as batches:
            async for batch in batches:
                for message in batch:
                    root = mailbox.root_of(message.id)
                    found[root] = max(found.get(root, message), message, key=by_age)
                if len(found) >= MOST:
                    break
                if len(found) > told and (told or len(found) >= FIRST) and monotonic() >= due:
                    told, due = len(found), monotonic() + EVERY_SECONDS
                    self.post_message(self.Hits(text, _newest_first(found), False))
        self.post_message(self.Hits(text, _newest_first(found), True, len(found) >= MOST))

    @on(Hits)
    def _hits(self, event: Hits) -> None:
        if event.text != self._asked:
            return
        self.found = self.there(event.found)
        if self.found and event.text != self._shown_for:
            self._shown_for = event.text
            self.threads.begin()
        self.redraw()
        if event.is_cut:
            self.tell(f"{len(self.found):,}+ threads for {event.text}: {_older(event.found)} finds older ones")
            return
        more = "" if event.is_done and not self.session.is_loading else " so far"
        self.tell(f"{len(self.found):,} threads{more} for {event.text}")

    def mail_changed(self, is_loading: bool) -> None:
        """Draw what was folded; once all of it is there, ask it what was asked of a part."""
        was_loading = self.session.is_loading
        super().mail_changed(is_loading)
        if was_loading and not is_loading and self._asked:
            self._ask(self._asked)

    def search_anew(self) -> None:
        """Ask the mailbox that is looked at now what was asked of another one."""
        if self.found is not None:
            self.found = self.there(self.found)
            self._ask(self._asked)

    def there(self, found: dict[str, Message]) -> dict[str, Message]:
        """Return the hits that are still where they were found: in the mailbox that is looked at, in that thread."""
        mailbox = self.session.mailbox
        return {root: hit for root, hit in found.items() if hit.id in mailbox and mailbox.root_of(hit.id) == root}

    def on_search_bar_left(self, event: SearchBar.Left) -> None:
        """Go to the list; what was typed is kept, or taken away."""
        bar = self.query_one(later.SearchBar)
        if not event.is_kept:
            self.take_search_away()
        elif event.mode == "search" and (text := bar.value.strip()) != self._asked:
            self._stop_waiting()
            self._ask(text)
        if event.is_kept and self._problem is not None:
            self.found = {}
            self.redraw()
            return
        bar.display = False
        self.set_focus(self.threads)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.stop()

    def _go(self, look: Location) -> None:
        """Go elsewhere: a search ends there."""
        self.found = None
        self._asked = self._shown_for = ""
        self._problem = None
        super()._go(look)

    def take_search_away(self) -> bool:
        """Take the search or the filter away; say whether there was one."""
        self._stop_waiting()
        if self.found is None and not self.filter_text and not self._asked:
            return False
        was_empty = self.threads.cursor_key is None
        self.found = self._problem = None
        self._asked = self._shown_for = self.filter_text = ""
        if self.is_furnished:
            self.query_one(later.SearchBar).tell(None)
        self.redraw()
        if was_empty and self._began_at is not None:
            self.threads.select(self._began_at)
        return True

    def _placeholder(self) -> list[str]:
        if self._problem is not None:
            return ["This query can't be read."]
        return super()._placeholder()


def search_context(session: Session) -> SearchContext:
    """Return what a query asks of the mailbox and of the texts."""
    return later.SearchContext(session.mailbox, session.body, session.now())


def _newest_first(found: dict[str, Message]) -> dict[str, Message]:
    return dict(sorted(found.items(), key=lambda item: by_age(item[1]), reverse=True))


def _older(found: dict[str, Message]) -> str:
    """Return what finds what is older than some hits, those of their oldest second once more."""
    oldest = min(message.time for message in found.values())
    return f"before:{datetime.fromtimestamp(oldest + 1, UTC):%Y-%m-%dT%H:%M:%S}"
