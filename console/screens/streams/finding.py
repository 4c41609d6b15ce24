"""Find messages within the stream that is shown, from the cursor up or down, round and round."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import aclosing
from itertools import chain
from typing import TYPE_CHECKING

from console.running.stepping import stepped
from console.screens.mail_screen import MailScreen

if TYPE_CHECKING:
    from mailstore.queries.query import Query
    from mailstore.records.message import Message


class StreamSearch:
    """Looks for the nearest hit only, so that it costs no more than the way there."""

    def __init__(self, screen: MailScreen) -> None:
        self._screen = screen
        self._due: list[int] = []
        """Steps that were asked for while the search for the hit before is still running, that one first."""

    @property
    def is_on(self) -> bool:
        """Whether something was sought, so that n and N go through its hits."""
        return bool(self._screen.listing.finding)

    def begin(self) -> None:
        """Ask for a query, and go to its nearest hit above the cursor."""
        from console.screens.query_prompt import QueryPrompt

        screen = self._screen

        def answered(text: str | None) -> None:
            if text is None:
                return
            screen.listing.finding = text
            screen.redraw()
            if text:
                self.step(-1, is_first=True)

        value = screen.listing.finding
        asked = QueryPrompt(
            screen.session, "Find in this stream", value=value, detail="n, N: next, previous", may_be_empty=True
        )
        screen.ask(asked, answered)

    def end(self) -> bool:
        """Seek nothing any longer; return whether something was sought."""
        was_on = self.is_on
        self._screen.listing.finding = ""
        self._due.clear()
        if was_on:
            self._screen.redraw()
        return was_on

    def step(self, step: int, *, is_first: bool = False) -> None:
        """Go to the next hit (1) or the previous one (-1); the first may be at the cursor."""
        from mailstore.queries.query import parse

        screen = self._screen
        query = parse(screen.listing.finding, screen.session.now())
        if self._due and not is_first:
            self._due.append(step)
            return
        self._due = [step]
        screen.run_task(self._take_steps(query, self._due, is_first=is_first), group="find", exclusive=True)

    async def _take_steps(self, query: Query, due: list[int], *, is_first: bool) -> None:
        try:
            while due:
                await self._look(query, due[0], is_first=is_first)
                is_first = False
                del due[:1]
        finally:
            due.clear()

    async def _look(self, query: Query, step: int, *, is_first: bool) -> None:
        from console.search.context import search_context
        from mailstore.queries.search import judged

        screen, session, text = self._screen, self._screen.session, self._screen.listing.finding
        messages = self._from_cursor(step, is_first=is_first)
        screen.tell(f"Looking for {text}…")
        async with aclosing(stepped(judged(messages, query, search_context(session)), session.rest)) as batches:
            async for batch in batches:
                if batch:
                    screen.tell("")
                    if screen.conversation.move_to(batch[0].id):
                        screen.conversation.seek(batch[0].id)
                    return
        screen.tell(f"Nothing in this stream for {text}")

    def _from_cursor(self, step: int, *, is_first: bool) -> Iterator[Message]:
        """Yield the messages in the order in which they are looked at; the one at the cursor first or last."""
        pane, mailbox = self._screen.conversation, self._screen.session.mailbox
        keys, at = pane.source.keys, pane.place_of(pane.cursor_key) or 0
        begin = at if is_first else at + step
        places = (
            chain(range(begin, len(keys)), range(at + 1))
            if step > 0
            else chain(range(begin, -1, -1), range(len(keys) - 1, at - 1, -1))
        )
        found = (mailbox.message(keys[place]) for place in places)
        return (message for message in found if message is not None)
