"""Search all mail, and filter the list."""

from __future__ import annotations

import asyncio
import re
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING

from textual.timer import Timer

from console.render.safe import visible_line
from console.render.short_text import plural
from console.running.stepping import stepped
from console.screens.mail_screen import MailScreen
from console.search.history import NAME, SearchHistory
from mailstore.errors import QueryError
from mailstore.queries.language.fields import FIELD_NAMES
from mailstore.steps import MailboxReloaded

if TYPE_CHECKING:
    from console.panes.search_bar import SearchBar
    from console.search.hits import SearchHits
    from mailstore.queries.grouping import By, HitGroup
    from mailstore.queries.query import Query
    from mailstore.queries.search_context import SearchContext

PAUSE_SECONDS = 0.01
"""How long what is typed must stay as it is to be searched for: a pasted word is one search."""
NARROWING_KEYS: dict[By, str] = {"sender": "123456", "channel": "abcdef", "type": "tuvwxy"}
"""The keys of what a search can be narrowed to, as many as are offered."""
UNFINISHED = re.compile(rf"(?:^|[\s(-])(?:(?:{'|'.join(FIELD_NAMES)}):|/[^\s/]*\([^\s/]*)$")
"""A field whose value is yet to be typed, or a pattern with brackets: what was found stays until then."""


class Searching:
    """Runs queries beside other work while the user types; hits are listed as threads, newest first."""

    def __init__(self, screen: MailScreen) -> None:
        self._screen = screen
        self._asked = self._shown_for = ""
        self._timer: Timer | None = None
        self._pauses = 0
        """How many pauses were begun or ended: one that ends as its timer comes asks for nothing any more."""
        self._began_at: str | None = None
        """The thread that was selected when the search began."""
        self._first: str | None = None
        """The first hit, which stays selected until the user selects another one."""
        self._history = SearchHistory(screen.session.personal)

    @property
    def query(self) -> str:
        """The query that is shown; empty if there is none."""
        return self._asked

    def search(self) -> None:
        """Search all mail while the user types."""
        screen = self._screen
        screen.show_list()
        if screen.listing.found is None:
            self._began_at = screen.threads.cursor_key
        screen.search_bar.begin("search", self._asked, self._history)
        if screen.session.config.search.index:
            screen.run_task(self._keep_index(), group="search-index")

    def show(self, text: str) -> None:
        """Search for a text as if it had been typed and entered: its hits are listed, the bar is closed."""
        screen = self._screen
        if screen.listing.found is None:
            self._began_at = screen.threads.cursor_key
        self._stop_waiting()
        screen.search_bar.display = False
        screen.focus_pane("threads")
        self._ask(text)

    async def _keep_index(self) -> None:
        from platformdirs import user_cache_path

        store = self._screen.session.store
        await asyncio.to_thread(store.keep_index, user_cache_path("signalbox") / "search")

    def filter(self) -> None:
        """List only threads whose subject or people contain what is typed."""
        self._screen.show_list()
        self._began_at = self._screen.threads.cursor_key
        self._screen.search_bar.begin("filter", self._screen.listing.filter_text, self._history)

    def typed(self, event: SearchBar.Typed) -> None:
        """Search or filter for what was typed, a search after a short pause."""
        if not self._screen.search_bar.display:
            return  # it was left meanwhile, with all that was typed
        if event.mode == "filter":
            self._screen.listing.filter_text = event.text.strip()
            self._screen.redraw()
            return
        self._stop_waiting()
        text = event.text.strip()
        if UNFINISHED.search(text):
            self._screen.search_bar.tell(None)
        else:
            self._timer = self._screen.set_timer(PAUSE_SECONDS, partial(self._ask_after, self._pauses, text))

    def _ask_after(self, pause: int, text: str) -> None:
        if pause == self._pauses:
            self._ask(text)

    def _ask(self, text: str) -> None:
        """Run a query; one that can't be read finds nothing, and its problem is shown below it."""
        from mailstore.queries.query import parse

        screen, session, listing = self._screen, self._screen.session, self._screen.listing
        if text != self._asked:
            listing.rows = None
        self._asked = session.last_query = text
        listing.query_problem, listing.suggestion, listing.noted, listing.counts = None, "", (), None
        screen.search_bar.tell(None)
        try:
            query = parse(text, session.now()) if text else None
        except QueryError as error:
            self._refuse(error)
            return
        listing.is_searching = query is not None
        if query is None:
            listing.found = None
            screen.redraw()
        else:
            screen.tell("")
            screen.run_task(self._run(text, query), group="search", exclusive=True)

    async def _run(self, text: str, query: Query) -> None:
        while True:
            try:
                await self._look_up(text, query, self._context())
                await self._note(text, query)
                if self._asked == text and not self._screen.listing.found:
                    await self._suggest(text, query)
            except MailboxReloaded:  # the mailbox was reloaded meanwhile
                continue
            except QueryError as error:  # a pattern that takes too long
                if self._asked == text:
                    self._refuse(error)
            return

    def _refuse(self, problem: QueryError) -> None:
        """Show why a query finds nothing, or no more."""
        listing = self._screen.listing
        listing.is_searching, listing.query_problem, listing.found = False, problem, listing.found or {}
        self._screen.search_bar.tell(problem)
        self._screen.tell(str(problem))
        self._screen.redraw()

    async def _note(self, text: str, query: Query) -> None:
        """Count what agents note and remember that matches a query."""
        from console.screens.agent_notes import notes_matching

        notes = await notes_matching(self._screen.session, query)
        if text == self._asked and notes:
            self._screen.listing.noted = notes
            self._screen.redraw()

    def notes(self) -> None:
        """List what agents note and remember; during a search, what it finds there."""
        self._screen.run_task(self._read_notes(), group="notes", exclusive=True)

    async def _read_notes(self) -> None:
        from console.screens.agent_notes import EVERYTHING, notes_matching, read_notes
        from mailstore.queries.query import parse

        screen, listing = self._screen, self._screen.listing
        is_search = listing.found is not None and listing.query_problem is None
        query = parse(self._asked, screen.session.now()) if is_search else EVERYTHING
        notes = await notes_matching(screen.session, query)
        if notes:
            await read_notes(screen, notes, query)
        else:
            screen.tell("Nothing found in agent notes" if is_search else "No agent notes in this mailbox")

    async def _suggest(self, text: str, query: Query) -> None:
        """Offer the nearest spelling that does occur, for a query that found nothing."""
        from mailstore.queries.spelling import respelled

        session, listing = self._screen.session, self._screen.listing
        steps = respelled(text, query, self._context(), session.store.candidates)
        async with aclosing(stepped(steps, session.rest)) as results:
            async for suggestion in results:
                if text == self._asked:
                    listing.suggestion = suggestion
                    self._screen.redraw()

    def take_suggestion(self) -> bool:
        """Search in the spelling that is offered; return whether one is."""
        screen, text = self._screen, self._screen.listing.suggestion
        if not text or screen.listing.found is None:
            return False
        self.show(text)
        self._remember()
        return True

    def _context(self) -> SearchContext:
        from console.search.hits import search_context

        return search_context(self._screen.session)

    async def _look_up(self, text: str, query: Query, context: SearchContext) -> None:
        from console.search.hits import found_hits

        async with aclosing(found_hits(self._screen.session, query, context)) as portions:
            async for hits in portions:
                self._show(text, hits)

    def _show(self, text: str, hits: SearchHits) -> None:
        """List what was found so far."""
        screen, listing = self._screen, self._screen.listing
        if text != self._asked:
            return
        listing.found, listing.query = listing.still_there(hits.threads), text
        listing.hit_count, listing.is_cut, listing.is_searching = hits.number, hits.is_cut, not hits.is_done
        listing.counts, listing.rows = hits.counts, hits.rows or listing.rows
        listing.unreadable_texts = hits.unreadable_texts
        if text != self._shown_for:
            self._shown_for, self._first = text, None
            screen.threads.begin()
        self._select_first()
        shown = f"{len(listing.found):,}"
        if hits.is_cut:
            screen.tell(f"{shown}+ threads for {text}: {hits.older} finds older ones")
        else:
            more = "" if hits.is_done and not screen.session.is_loading else " so far"
            screen.tell(f"{shown} thread{'s' * (shown != '1')}{more} for {text}")

    def _select_first(self) -> None:
        """Select the first hit and show it, unless the user has selected another one; without hits, show nothing."""
        screen, messages = self._screen, self._screen.listing.found or {}
        was_first = screen.threads.cursor_key in (None, self._first)
        screen.redraw()
        root = next(iter(messages), None)
        if root is None:
            screen.show_thread(None)
        elif was_first and not screen.is_streamed:
            screen.threads.select(root)
            if root != self._first:
                screen.show_thread(root, messages[root].id)
            self._first = root

    def narrow(self) -> None:
        """Ask for a sender, channel or type of the hits, the most frequent first, and search for those alone."""
        from console.screens.menu import Menu, MenuChoice
        from mailstore.queries.grouping import narrowed

        screen, text, listing = self._screen, self._asked, self._screen.listing
        if listing.counts is None or not listing.found:
            screen.tell("Still searching" if listing.is_searching else "Search first: this narrows what was found")
            return
        offered: list[tuple[str, HitGroup]] = []
        for by, keys in NARROWING_KEYS.items():
            groups = [group for group in listing.counts.groups(by) if group.messages < listing.hit_count]
            offered += zip(keys, groups, strict=False)
        if not offered:
            screen.tell("All hits have one sender, channel and type")
            return
        label = screen.session.mailbox.label
        choices = [
            MenuChoice(
                key,
                f"{group.by} {label(group.name) if group.by == 'channel' else group.name}",
                plural(group.messages, "hit"),
            )
            for key, group in offered
        ]

        def chosen(number: int | None) -> None:
            if number is not None:
                self.show(narrowed(text, offered[number][1], screen.session.now()))

        screen.ask(Menu(f"Narrow {visible_line(text)} to", choices, screen.text_styles), chosen)

    def repeat(self) -> None:
        """Run the query again, in a mailbox that holds other mail than when it was run."""
        listing = self._screen.listing
        if listing.found is not None:
            listing.found = listing.still_there(listing.found)
        if self._asked:
            self._ask(self._asked)

    def left(self, event: SearchBar.Left) -> None:
        """Go to the list; what was typed is kept, or cleared."""
        screen, listing = self._screen, self._screen.listing
        bar = screen.search_bar
        bar.completion.hide()  # here and not where it is left: the screen is laid out once
        if not event.is_kept:
            self._give_up()
        elif event.mode == "filter":
            listing.filter_text = bar.value.strip()
        else:
            self._stop_waiting()
            text = bar.value.strip()
            if text != self._asked or listing.query_problem is not None:
                self._ask(text)
        if event.is_kept and listing.query_problem is not None:
            listing.found = {}
            screen.redraw()
            return
        if event.is_kept and event.mode == "search" and self.take_suggestion():
            return
        if event.is_kept and event.mode == "search":
            self._remember()
        bar.display = False
        screen.redraw()  # perhaps as a stream
        screen.focus_pane("threads")

    def _remember(self) -> None:
        """Keep the query among the earlier ones."""
        personal = self._screen.session.personal
        if self._history.add(self._asked):
            self._screen.run_task(asyncio.to_thread(personal.save_remembered, NAME), group="marks")

    def _give_up(self) -> None:
        """Clear the search or the filter, and go back to the thread that was selected before."""
        if self.clear() and self._began_at is not None:
            self._screen.threads.select(self._began_at)

    def _stop_waiting(self) -> None:
        self._pauses += 1
        if self._timer is not None:
            self._timer.stop()

    def forget(self) -> None:
        """Forget the query: the user went to another view."""
        self._stop_waiting()
        self._asked = self._shown_for = ""

    def clear(self) -> bool:
        """Clear the search or the filter; return whether there was one."""
        screen, listing = self._screen, self._screen.listing
        self._stop_waiting()
        if listing.found is None and not listing.filter_text and not self._asked:
            return False
        selected = screen.threads.cursor_key
        listing.end_search()
        self._asked = self._shown_for = listing.filter_text = ""
        screen.search_bar.tell(None)
        screen.redraw()
        is_listed = selected is not None and screen.threads.cursor_key == selected
        if not is_listed and self._began_at is not None:
            screen.threads.select(self._began_at)
        return True
