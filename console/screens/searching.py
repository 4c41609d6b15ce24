"""Searching everything, and filtering the list."""

from __future__ import annotations

from dataclasses import dataclass

from textual import on, work
from textual.message import Message as Note
from textual.timer import Timer
from textual.worker import get_current_worker

from console.panes.search_bar import SearchBar
from console.screens.look import Look
from console.screens.writing import Writer
from console.session import Session
from mailstore.errors import QueryError
from mailstore.mailbox import Mailbox
from mailstore.message import Message
from mailstore.query import Query, parse
from mailstore.search import SearchContext, search

__all__ = ["Searching"]

PAUSE_SECONDS = 0.08
FIRST = 50


class Searching(Writer):
    """Runs queries in a worker as one types; hits come as threads, the newest first."""

    _asked = ""
    _waiting: Timer | None = None

    @dataclass
    class Hits(Note):
        """What a search has found so far; `is_done` with the last."""

        text: str
        found: dict[str, Message]
        is_done: bool

    def action_search(self) -> None:
        """Search all mail, as one types."""
        self.query_one(SearchBar).begin("search", self._asked)

    def action_filter(self) -> None:
        """Show only the threads of this list whose subject or people hold what is typed."""
        self.query_one(SearchBar).begin("filter", self.filter_text)

    @on(SearchBar.Typed)
    def _typed(self, event: SearchBar.Typed) -> None:
        if event.mode == "filter":
            self.filter_text = event.text.strip()
            self.redraw()
            return
        if self._waiting is not None:
            self._waiting.stop()
        self._waiting = self.set_timer(PAUSE_SECONDS, lambda: self._ask(event.text.strip()))

    def search_for(self, text: str) -> None:
        """Show what a query finds, as if it had been typed."""
        self.query_one(SearchBar).begin("search", text)
        self._ask(text)
        self.threads.focus()

    def _ask(self, text: str) -> None:
        self._asked = self.session.last_query = text
        if not text:
            self.found = None
            self.redraw()
            return
        try:
            query = parse(text, self.session.now())
        except QueryError as error:
            self.tell(str(error))
            return
        self.footer.notice = ""
        self._search(text, query, search_context(self.session), self.session.mailbox)

    @work(thread=True, group="search", exclusive=True, exit_on_error=False)
    def _search(self, text: str, query: Query, context: SearchContext, mailbox: Mailbox) -> None:
        worker = get_current_worker()
        found: dict[str, Message] = {}
        told = 0
        for message in search(reversed(mailbox.messages()), query, context):
            if worker.is_cancelled:
                return
            found.setdefault(mailbox.root_of(message.id), message)
            if len(found) == FIRST and told == 0:
                told = len(found)
                self.post_message(self.Hits(text, dict(found), False))
        if not worker.is_cancelled:
            self.post_message(self.Hits(text, found, True))

    @on(Hits)
    def _hits(self, event: Hits) -> None:
        if event.text != self._asked:
            return
        self.found = self.there(event.found)
        self.redraw()
        more = "" if event.is_done else " so far"
        self.tell(f"{len(self.found)} threads{more} for {event.text}")

    def search_anew(self) -> None:
        """Ask the mailbox that is looked at now what was asked of another one."""
        if self.found is not None:
            self.found = self.there(self.found)
            self._ask(self._asked)

    def there(self, found: dict[str, Message]) -> dict[str, Message]:
        """Return the hits that are still where they were found: in the mailbox that is looked at, in that thread."""
        mailbox = self.session.mailbox
        return {root: hit for root, hit in found.items() if hit.id in mailbox and mailbox.root_of(hit.id) == root}

    @on(SearchBar.Left)
    def _left(self, event: SearchBar.Left) -> None:
        bar = self.query_one(SearchBar)
        bar.display = False
        if not event.is_kept:
            self.take_search_away()
        self.threads.focus()

    def _go(self, look: Look) -> None:
        """Go elsewhere: a search ends there."""
        self.found = None
        self._asked = ""
        super()._go(look)

    def take_search_away(self) -> bool:
        """Take the search or the filter away; say whether there was one."""
        if self._waiting is not None:
            self._waiting.stop()
        if self.found is None and not self.filter_text and not self._asked:
            return False
        self.found = None
        self._asked = self.filter_text = ""
        self.redraw()
        return True


def search_context(session: Session) -> SearchContext:
    """Return what a query asks of the mailbox and of the texts."""
    return SearchContext(session.mailbox, session.body, session.now())
