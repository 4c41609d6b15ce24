"""Marking threads, for what is done to several at once."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from textual import work

from console import later
from console.screens.reading import Reading
from console.stepping import stepped
from mailstore.errors import QueryError

if TYPE_CHECKING:
    from mailstore.queries.query import Query

__all__ = ["Marking"]


class Marking(Reading):
    """A mark on a thread lasts until it is taken away or another view is shown."""

    _last_marked: str | None = None

    def action_mark(self) -> None:
        """Mark the thread under the cursor, or take its mark away, and go on to the next."""
        root = self.threads.cursor_key
        if root is None:
            self.tell("there is nothing to mark")
            return
        self.marked ^= {root}
        self._last_marked = root
        self.redraw()
        self.threads.action_cursor_down()

    def action_mark_range(self) -> None:
        """Mark all threads from the one that was marked last to the one under the cursor."""
        roots, here = self.all_roots(), self.threads.cursor_key
        if here is None or here not in roots:
            self.tell("there is nothing to mark")
            return
        start = roots.index(self._last_marked) if self._last_marked in roots else roots.index(here)
        first, last = sorted((start, roots.index(here)))
        self.marked.update(roots[first : last + 1])
        self._last_marked = here
        self.redraw()

    def action_mark_query(self) -> None:
        """Mark the listed threads that a query finds."""

        def problem(text: str) -> str:
            try:
                later.parse(text, self.session.now())
            except QueryError as error:
                return str(error)
            return "" if text else "a word, from:, is:unread, …"

        def answered(text: str | None) -> None:
            if text:
                self._mark_found(later.parse(text, self.session.now()), set(self.all_roots()))

        self.app.push_screen(later.Prompt("Mark the threads that hold", check=problem), answered)

    @work(group="search", exclusive=True, exit_on_error=False)
    async def _mark_found(self, query: Query, listed: set[str]) -> None:
        mailbox = self.session.mailbox
        context = later.SearchContext(mailbox, self.session.body, self.session.now())
        mail = (it for root in listed if mailbox.root_of(root) == root for it in mailbox.thread_messages(root))
        roots: set[str] = set()
        async with aclosing(stepped(later.judged(mail, query, context), self.session.rest)) as batches:
            async for batch in batches:
                roots.update(mailbox.root_of(message.id) for message in batch)
        roots &= listed
        self.marked |= roots
        self.redraw()
        self.tell(f"{len(roots)} thread{'s' * (len(roots) != 1)} marked")

    def take_marks_away(self) -> bool:
        """Take all marks away; say whether there were any."""
        had = bool(self.marked)
        self.marked.clear()
        if had:
            self.redraw()
        return had
