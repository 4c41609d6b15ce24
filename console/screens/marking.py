"""Mark threads, to act on several at once."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from console.running.stepping import stepped
from console.screens.mail_screen import MailScreen

if TYPE_CHECKING:
    from mailstore.queries.query import Query


class Marking:
    """Sets marks, which last until they are taken away or another view is shown."""

    def __init__(self, screen: MailScreen) -> None:
        self._screen = screen
        self._last_marked: str | None = None

    def toggle(self) -> None:
        """Mark the thread under the cursor, or take its mark away, and move to the next thread."""
        screen = self._screen
        root = screen.threads.cursor_key
        if root is None:
            screen.tell("Nothing to mark")
            return
        screen.listing.marked ^= {root}
        self._last_marked = root
        screen.redraw()
        screen.threads.action_cursor_down()

    def mark_range(self) -> None:
        """Mark all threads from the one that was marked last to the one under the cursor."""
        screen = self._screen
        roots, here = screen.listing.all_roots(), screen.threads.cursor_key
        if here is None or here not in roots:
            screen.tell("Nothing to mark")
            return
        start = roots.index(self._last_marked) if self._last_marked in roots else roots.index(here)
        first, last = sorted((start, roots.index(here)))
        screen.listing.marked.update(roots[first : last + 1])
        self._last_marked = here
        screen.redraw()

    def mark_query(self) -> None:
        """Ask for a query and mark the listed threads that match it."""
        from console.screens.prompt import QueryPrompt
        from mailstore.queries.query import parse

        screen, session = self._screen, self._screen.session

        def answered(text: str | None) -> None:
            if text:
                coroutine = self._mark_found(parse(text, session.now()), set(screen.listing.all_roots()))
                screen.run_task(coroutine, group="search", exclusive=True)

        screen.ask(QueryPrompt(session, "Mark threads matching"), answered)

    async def _mark_found(self, query: Query, listed: set[str]) -> None:
        from console.search.hits import search_context
        from mailstore.queries.search import judged

        screen, session = self._screen, self._screen.session
        mailbox, context = session.mailbox, search_context(session)
        mail = (
            thread_message
            for root in listed
            if mailbox.root_of(root) == root
            for thread_message in mailbox.thread_messages(root)
        )
        roots: set[str] = set()
        async with aclosing(stepped(judged(mail, query, context), session.rest)) as batches:
            async for batch in batches:
                roots.update(mailbox.root_of(message.id) for message in batch)
        roots &= listed
        screen.listing.marked |= roots
        screen.redraw()
        screen.tell(f"{len(roots)} thread{'s' * (len(roots) != 1)} marked")
