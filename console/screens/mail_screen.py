"""The main screen as its parts know it: where you are in the mail, and what they may ask for."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from msgspec.structs import replace

from console.panes.sidebar import Sidebar
from console.screens.layout import Layout
from console.screens.listing import Listing
from console.screens.location import LocationHistory, ScreenLocation
from console.session import Session
from console.words.styles import TextStyles
from mailstore.records.message import Message
from mailstore.state.views import View

if TYPE_CHECKING:
    from textual.events import Key
    from textual.widget import Widget

    from console.panes.slider import Slider


class MailScreen(Layout):
    """Goes to views, threads and messages; a subclass draws them and tells the parts (docs/decisions/0042)."""

    def __init__(self, session: Session, styles: TextStyles, location: ScreenLocation) -> None:
        super().__init__(session, styles, location)
        self.listing = Listing(self)
        self._history = LocationHistory()

    # What a subclass does

    @abstractmethod
    def retitle(self) -> None:
        """Title the conversation again: other messages are in sight."""

    @property
    @abstractmethod
    def is_behind(self) -> bool:
        """Whether something came that is not drawn yet."""

    @abstractmethod
    def location_changed(self) -> None:
        """Hear that another view is shown from now on."""

    @abstractmethod
    def thread_shown(self) -> None:
        """Hear that another thread or stream is shown."""

    # Where you are

    def full_location(self) -> ScreenLocation:
        """Return the location with all that is restored when the console is opened again."""
        return replace(
            self.location,
            message=self.conversation.cursor_key,
            filter_text=self.listing.filter_text,
            only_unread=self.listing.only_unread,
        )

    def show_view(self, view: View, root: str | None = None) -> None:
        """Show the threads of a view, and one of them."""
        if view != self.location.view:
            self._history.leave(self.location)
            self.location = ScreenLocation(view, root)
            self.listing.enter_view()
        self._go(self.location if root is None else replace(self.location, root=root))

    def step_history(self, step: int) -> bool:
        """Go back (-1) or forward (+1) through the views that were shown; return whether there was one."""
        location = self._history.step(self.location, step)
        if location is None:
            return False
        self.location = location
        self.listing.release_read()
        self._go(location)
        return True

    def _go(self, location: ScreenLocation) -> None:
        self.listing.end_search()
        self.location_changed()
        self.location = location
        self.threads.begin()
        if self.has_conversation:
            self.conversation.show(None)
        self.sidebar.select(Sidebar.key_of(location.view))
        self.redraw()
        if location.root is not None:
            self.threads.select(location.root)
        if self.has_conversation and self.conversation.is_stream:
            self.thread_shown()

    def show_thread(self, root: str | None, message: str | None = None) -> None:
        """Show a thread in the conversation, with a message of it in sight."""
        self.location = replace(self.location, root=root)
        self.conversation.show(root, at=message)
        self.retitle()
        self.thread_shown()

    def show_message(self, message_id: str) -> None:
        """Show a message of the mailbox, in a view that lists it."""
        mailbox, root = self.session.mailbox, self.session.mailbox.root_of(message_id)
        if self.conversation.move_to(message_id):
            return
        if root != self.conversation.root and (self.is_streamed or root not in mailbox.threads(self.location.view)):
            message = mailbox.message(message_id)
            self.show_view(View("archive" if message is not None and message.archived else "all"))
        self.threads.select(root)
        self.show_thread(root, message_id)

    # What parts may ask for

    def selected_message(self, otherwise: str = "No message selected") -> Message | None:
        """Return the selected message; where there is none, say so and return None."""
        message = self.conversation.message
        if message is None:
            self.tell(otherwise)
        return message

    def copy_to_clipboard(self, text: str) -> None:
        """Copy a text to the clipboard, through the terminal."""
        self.app.copy_to_clipboard(text)

    def press(self, key: Key) -> None:
        """Handle a key as if it were pressed now."""
        self.app.post_message(key)

    def add_slider(self, slider: Slider) -> None:
        """Mount the line that says which moment of the past is shown."""
        self.mount(slider, before="#footer")

    def add_above(self, widget: Widget) -> None:
        """Mount something above the columns."""
        self.mount(widget, before="#columns")

    def add_below(self, widget: Widget) -> None:
        """Mount something under the conversation."""
        self.query_one("#right").mount(widget, before="#composer")

    def close_composer(self) -> None:
        """Close the composer; its draft is kept."""
        if self.has_all_panes:
            self.composer.close()

    def exit(self) -> None:
        """End the application."""
        self.app.exit()
