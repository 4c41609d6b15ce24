"""Go from pane to pane, from row to row and from view to view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.screens.layout import PANES
from console.screens.mail_screen import MailScreen
from mailstore.state.views import View, ViewKind

if TYPE_CHECKING:
    from console.screens.away import Away
    from console.screens.desks.desks import Desks
    from console.screens.overview.overviewing import Overviewing
    from console.screens.reading import Reading
    from console.screens.searching import Searching
    from console.screens.streaming import Streaming
    from console.screens.time_travel import TimeTravel
    from console.screens.writing.composing import Composing

SIDEWAYS = 12
"""Cells."""


class Navigation:
    """Moves the user about; changes nothing but what they have seen on the way."""

    def __init__(
        self,
        screen: MailScreen,
        reading: Reading,
        composing: Composing,
        searching: Searching,
        streaming: Streaming,
        time_travel: TimeTravel,
        desks: Desks,
        overviewing: Overviewing,
        away: Away | None = None,
    ) -> None:
        self._screen = screen
        self._reading = reading
        self._composing = composing
        self._searching = searching
        self._streaming = streaming
        self._time_travel = time_travel
        self._desks = desks
        self._overviewing = overviewing
        self._away = away

    def go_pane(self, number: int) -> None:
        """Go to a pane by its number; the fourth is the composer, which opens."""
        name = PANES[number - 1]
        if name == "composer":
            self._composing.open_or_focus()
        elif name != "threads" or not self._open_place():
            self._go_to(name)

    def _go_to(self, name: str) -> None:
        """Give the focus to a pane; the list of a view that is a desk is only glanced at, and the desk opens."""
        screen = self._screen
        if name == "threads" and self._desks.is_desk(screen.location.view) and screen.listing.found is None:
            self._desks.open_view(screen.location.view)
        else:
            screen.focus_pane(name)

    def _open_place(self) -> bool:
        """Open the screen of the place at the cursor of the sidebar, if it has one; return whether it has."""
        screen = self._screen
        command = screen.sidebar.command if screen.pane() == "sidebar" else ""
        if command:
            screen.run_task(screen.action_run(command), group="chosen")
        return bool(command)

    def go_view(self, kind: ViewKind) -> None:
        """Show the threads of a view, and go to them."""
        self._screen.show_view(View(kind))
        self._screen.focus_pane("threads")

    def next_pane(self, step: int = 1) -> None:
        """Go to the next pane (or the previous one), round and round; in the composer, first through its fields."""
        pane, composer = self._screen.pane(), self._screen.composer
        if pane == "composer" and composer.next_field(step):
            return
        hidden = {"" if composer.is_open else "composer", "threads" if self._screen.is_streamed else ""}
        panes = [name for name in PANES if name not in hidden]
        at = panes.index(pane) if pane in panes else 0
        self.go_pane(PANES.index(panes[(at + step) % len(panes)]) + 1)

    def scroll_conversation(self, lines: int) -> None:
        """Scroll the conversation while the list keeps the focus."""
        self._screen.conversation.scroll_relative(y=lines, animate=False)

    def enter(self) -> None:
        """Open what is under the cursor: the view's threads, the thread's conversation."""
        pane = self._screen.pane()
        if pane == "sidebar" and self._screen.is_streamed:
            self._streaming.enter()
        elif pane == "sidebar":
            self.go_pane(2)
        elif pane == "threads" and self._searching.take_suggestion():
            return
        elif pane == "conversation" and self._screen.conversation.is_stream:
            self._streaming.open_thread()
        elif pane == "threads" and self._screen.location.root is not None:
            self._screen.focus_pane("conversation")
            self._reading.start()
        elif pane == "conversation" and not self._screen.conversation.toggle_whole():
            self._screen.tell("This message is shown whole")

    def toggle_text(self) -> None:
        """Show the whole of a long message, or cut it to a screenful again."""
        if not self._screen.conversation.toggle_text():
            self._screen.tell("This message is shown whole")

    def scroll_sideways(self, step: int) -> None:
        """Scroll wide code and tables of the conversation."""
        if not self._screen.conversation.scroll_sideways(step * SIDEWAYS):
            self._screen.tell("Nothing further right" if step > 0 else "Nothing further left")

    def back(self) -> None:
        """Go back one step: out of full screen, the composer, a search, the past, or to the pane at the left."""
        screen, pane = self._screen, self._screen.pane()
        if screen.is_zoomed:
            screen.toggle_zoom()
        elif pane == "composer":
            self._close_composer()
        elif self._away is not None and self._away.dismiss():
            pass
        elif pane == "conversation":
            if not self._desks.come_back() and not self._streaming.back() and not self._end_found_stream():
                self._go_to("sidebar" if screen.is_streamed else "threads")
        elif (pane == "threads" and screen.listing.clear_marks()) or self._overviewing.come_back():
            pass
        elif not self._searching.clear() and (screen.listing.marked or not self._time_travel.end()):
            screen.focus_pane("sidebar")

    def _end_found_stream(self) -> bool:
        """End the search whose hits are read as a stream; return whether one was."""
        if not self._screen.is_streamed or not self._searching.clear():
            return False
        self._screen.focus_pane("threads")
        return True

    def _close_composer(self) -> None:
        composer = self._screen.composer
        composer.flush()
        is_kept = not composer.writing.is_blank
        composer.close()
        self._screen.focus_pane("conversation" if composer.writing.thread else "threads")
        self._screen.redraw()
        self._screen.tell("Draft kept" if is_kept else "")
        self._composing.left(None)

    def left(self) -> None:
        """Fold the replies, else go to the message's parent, else to the pane at the left."""
        screen, pane = self._screen, self._screen.pane()
        if pane == "conversation":
            parent = screen.conversation.parent_key()
            if screen.conversation.fold(True):
                return
            if parent is not None and screen.conversation.scroll_to_key(parent):
                return
            if self._streaming.back():
                return
        if pane == "sidebar":
            screen.tell("Nothing further left")
            return
        self.go_pane(1 if screen.is_streamed else PANES.index(pane))

    def right(self) -> None:
        """Unfold the replies, else go to the first of them; in a list, open."""
        conversation = self._screen.conversation
        if self._screen.pane() != "conversation" or conversation.is_stream:
            self.enter()
        elif not conversation.fold(False) and (reply := conversation.first_reply()) is not None:
            conversation.scroll_to_key(reply)

    def history(self, step: int) -> None:
        """Go back or forward through the views that were shown."""
        if not self._screen.step_history(step):
            self._screen.tell("Nothing further back" if step < 0 else "Nothing further forward")

    def jump(self, message_id: str) -> None:
        """Go to a message wherever it is listed, if it is in the mailbox."""
        if message_id in self._screen.session.mailbox:
            self._screen.show_message(message_id)
            self._screen.focus_pane("conversation")

    def zoom(self) -> None:
        """Give the focused pane the whole screen, or restore the columns."""
        self._screen.toggle_zoom()
