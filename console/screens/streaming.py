"""Read a view or the hits of a search as one stream, and follow the newest message of what is selected."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import aclosing
from itertools import chain
from typing import TYPE_CHECKING

from msgspec.structs import replace

from console.render.safe import visible_line
from console.running.stepping import stepped
from console.screens.location import GONE_TO, PLACES, REMEMBERED, mode_of, modes_of, set_mode
from console.screens.mail_screen import MailScreen
from mailstore.state.views import View
from mailstore.store import Capability

if TYPE_CHECKING:
    from console.screens.reading import Reading
    from console.screens.searching import Searching
    from console.screens.writing.composing import Composing
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
        from console.screens.prompt import QueryPrompt

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
        from console.search.hits import search_context
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
        messages = (mailbox.message(keys[place]) for place in places)
        return (message for message in messages if message is not None)


MODE_WORDS = {
    "tree": "Threads, each as a tree of replies",
    "flat": "Threads, sorted by time",
    "stream": "One stream, the newest at the bottom",
}


class Streaming:
    """Decides nothing about which messages a stream has: that is asked of the mailbox."""

    def __init__(self, screen: MailScreen, reading: Reading, composing: Composing, searching: Searching) -> None:
        self._screen = screen
        self._reading = reading
        self._composing = composing
        self._searching = searching
        self._finding = StreamSearch(screen)
        self._passed: View | None = None
        """The view whose stream came in sight as the modes were gone through."""
        self._begun: View | None = None
        """The view in whose stream a key moved."""

    def cycle(self) -> None:
        """Read this place as trees, sorted by time, or as a stream where it can be; remembered for the place."""
        screen, personal, view = self._screen, self._screen.session.personal, self._screen.listing.shown_view()
        modes = modes_of(view)
        mode = modes[(modes.index(mode_of(personal, view)) + 1) % len(modes)]
        set_mode(personal, view, mode)
        screen.run_task(asyncio.to_thread(personal.save_remembered, REMEMBERED), group="marks")
        self._passed, self._begun = view if mode == "stream" else None, None
        screen.redraw()
        screen.tell(MODE_WORDS[mode])

    def of_type(self) -> None:
        """Ask for a type of messages, and show all of that type as one stream, or those of every type."""
        from console.screens.prompt import Prompt
        from console.widgets.offers import Candidate

        screen = self._screen
        types = screen.session.mailbox.types()

        def answered(text: str | None) -> None:
            if text is not None:
                screen.show_view(View("type", text))
                screen.focus_pane("threads")

        def wrong(text: str) -> str:
            known = ", ".join(map(visible_line, types)) or "none"
            return "" if text in ("", *types) else f"No message has this type; there are {known}"

        candidates = [Candidate(visible_line(each)) for each in types]
        question, detail = "All messages of the type", "Nothing: messages of every type"
        screen.ask(Prompt(question, detail=detail, candidates=lambda: candidates, check=wrong), answered)

    def enter(self) -> None:
        """Open a place that is read as a stream, with the cursor in what will be written to it."""
        screen = self._screen
        screen.focus_pane("conversation")
        self.read()
        if screen.location.view.kind in PLACES and not screen.session.why_not(
            Capability.SEND, screen.location.view.name
        ):
            self._composing.compose()

    def open_thread(self) -> None:
        """Open the thread of the message at the cursor."""
        screen = self._screen
        message = screen.conversation.message
        if message is not None:
            screen.show_thread(screen.session.mailbox.root_of(message.id), message.id)
            screen.focus_pane("conversation")

    def filter(self) -> None:
        """Find within the stream that is shown; elsewhere, filter the list."""
        if self._screen.conversation.is_stream:
            self._finding.begin()
        else:
            self._searching.filter()

    def next(self, step: int) -> None:
        """Go to the next hit of what is sought in the stream, or the one before; else to the next new message."""
        self._begin()
        if self._screen.conversation.is_stream and self._finding.is_on:
            self._finding.step(step)
        else:
            self._reading.next_unread(step)

    def back(self) -> bool:
        """Seek nothing any longer, or go back from a thread to its stream; return whether there was either."""
        screen = self._screen
        if screen.conversation.is_stream and self._finding.end():
            return True
        if not screen.is_streamed or not screen.conversation.is_above_stream:
            return False
        screen.conversation.back_to_stream()
        screen.redraw()
        return True

    def message_highlighted(self, key: str) -> None:
        """Have commands for a thread act on that of the message at the cursor of the stream."""
        screen = self._screen
        if screen.conversation.is_stream:
            screen.location = replace(screen.location, root=screen.session.mailbox.root_of(key))

    @property
    def is_only_shown(self) -> bool:
        """Whether the stream in sight is yet to be read: unless it was gone to as a place, a key in it begins that."""
        view = self._screen.listing.shown_view()
        is_passed = view == self._passed or (view.kind not in GONE_TO and view != self._begun)
        return self._screen.conversation.is_stream and is_passed

    def _begin(self) -> None:
        self._passed, self._begun = None, self._screen.listing.shown_view()

    def read(self) -> None:
        """Mark as seen what is in sight from now on."""
        self._begin()
        self.moved()

    def left(self) -> None:
        """Forget which stream was begun: the user went to another view."""
        self._passed = self._begun = None

    def moved(self) -> None:
        """Mark as seen what is in sight in a stream that the user reads or writes to; retitle it."""
        screen = self._screen
        if not screen.is_streamed:
            return
        is_read = screen.pane() in ("conversation", "composer") and not self.is_only_shown
        if screen.conversation.is_stream and screen.is_looked_at and is_read:
            self._reading.see(screen.conversation.visible_keys())
        screen.retitle()


class Following:
    """Follows a thread or a stream; from the sidebar, whichever thread of a place has the newest message."""

    def __init__(self, screen: MailScreen) -> None:
        self._screen = screen
        self._view: View | None = None
        """The place whose newest thread is followed."""

    def follow(self) -> None:
        """Show the newest message of what is selected and follow it; stop where that is done already."""
        screen, pane = self._screen, self._screen.conversation
        is_place = screen.pane() == "sidebar" and not screen.is_streamed
        view = screen.location.view if is_place else None
        if pane.is_following and pane.is_at_newest() and self._view == view:
            self._end()
            pane.is_following = False
        elif view is not None:
            self._view = view
            screen.listing.is_followed = True
            self._show_newest_thread()
        else:
            self._end()
            pane.is_following = True
            pane.show_newest()
        screen.redraw()
        notice = "Following the newest message"
        screen.tell(notice if pane.is_following else "No longer following")

    def moved(self) -> None:
        """Stop following a place once the user chose another thread of it."""
        screen = self._screen
        if self._view is not None and screen.threads.cursor_key != screen.conversation.root:
            screen.conversation.is_following = False
            self._end()
            screen.redraw()

    def drawn(self) -> None:
        """Go to the thread that has the newest message by now; stop if the user went elsewhere."""
        screen = self._screen
        if self._view is None:
            return
        if screen.location.view != self._view or not screen.conversation.is_following:
            self._end()
        else:
            self._show_newest_thread()

    def _show_newest_thread(self) -> None:
        screen, pane = self._screen, self._screen.conversation
        root = next(iter(screen.listing.roots()), None)
        if root is None or (root == pane.root and pane.is_following):
            return
        screen.threads.select(root)
        if root != pane.root:
            screen.show_thread(root)
        pane.is_following = True
        pane.show_newest()
        screen.retitle()

    def _end(self) -> None:
        self._view = None
        self._screen.listing.is_followed = False
