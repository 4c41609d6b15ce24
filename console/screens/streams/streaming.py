"""Read a channel, an agent or a role as one stream: choose the mode, open threads from it, write into it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from msgspec.structs import replace

from console.render.safe import visible_line
from console.screens.mail_screen import MailScreen
from console.screens.streams.finding import StreamSearch
from console.screens.streams.reading_modes import REMEMBERED, mode_of, modes_of, set_mode
from mailstore.state.views import View
from mailstore.store import Capability

if TYPE_CHECKING:
    from console.screens.reading import Reading
    from console.screens.searching import Searching
    from console.screens.writing.composing import Composing

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

    def cycle(self) -> None:
        """Read this place as trees, sorted by time, or as a stream where it can be; remembered for the place."""
        screen, personal, view = self._screen, self._screen.session.personal, self._screen.location.view
        modes = modes_of(view)
        mode = modes[(modes.index(mode_of(personal, view)) + 1) % len(modes)]
        set_mode(personal, view, mode)
        screen.run_task(asyncio.to_thread(personal.save_remembered, REMEMBERED), group="marks")
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
        self.moved()
        if not screen.session.why_not(Capability.SEND, screen.location.view.name):
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

    def moved(self) -> None:
        """Mark as seen what is in sight in a stream that the person reads or writes to; retitle it."""
        screen = self._screen
        if not screen.is_streamed:
            return
        if screen.conversation.is_stream and screen.is_looked_at and screen.pane() in ("conversation", "composer"):
            self._reading.see(screen.conversation.visible_keys())
        screen.retitle()
