"""The main screen: what the first frame needs. Everything else that it can do is done by its parts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from inspect import isawaitable
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from msgspec.structs import replace
from textual import on
from textual.events import Key

from console import lazy
from console.panes.sidebar import Sidebar
from console.screens.drawing import Drawing
from console.screens.layout import Layout
from console.screens.listing import Listing
from console.screens.location import LocationHistory, ScreenLocation
from console.session import Session
from console.styles import TextStyles
from console.widgets.virtual_list import VirtualList
from mailstore.errors import log_step
from mailstore.records.message import Message
from mailstore.state.views import View

if TYPE_CHECKING:
    from textual.widget import Widget

    from console.panes.composer import Composer
    from console.panes.search_bar import SearchBar
    from console.panes.slider import Slider
    from console.screens.parts import Parts
    from console.widgets.block_view import BlockView

ROWS_SECONDS = 20.0
"""How often rows are drawn again: they say how old their mail is."""

T = TypeVar("T")


@runtime_checkable
class Redrawn(Protocol):
    """A screen that shows mail, and is drawn again when some came."""

    def redraw(self) -> None: ...


class MainScreen(Layout):
    """Shows a location in the mail, passes actions and messages to its parts (docs/decisions/0042)."""

    def __init__(self, session: Session, styles: TextStyles, location: ScreenLocation) -> None:
        super().__init__(session, styles)
        self.location = location
        self.listing = Listing(self)
        self.parts: Parts | None = None
        self._history = LocationHistory()
        self._drawing = Drawing(self)

    # The parts

    async def load_parts(self) -> Parts:
        """Return the parts, which are imported and made when they are first needed."""
        if self.parts is None:
            await lazy.load("console.screens.parts")
            from console.screens.parts import Parts

            if self.parts is None:  # another action may have made them meanwhile
                self.parts = Parts(self)
        return self.parts

    async def mount_remaining(self, idle: Callable[[], Awaitable[None]]) -> None:
        """Add what the first frame did without, the conversation first, each in an idle moment."""
        await self.load_parts()
        await lazy.load("console.panes.reader")
        from console.panes.reader import ReadingPane

        await idle()
        await self.add_conversation(ReadingPane(self.session, self.text_styles, id="conversation"))
        self.redraw()
        await lazy.load("console.render.markdown", "console.panes.composer", "console.panes.search_bar")
        from console.panes.composer import Composer
        from console.panes.search_bar import SearchBar, SearchProblem
        from console.widgets.offers import Offers

        await idle()
        await self.add_composer(Composer(self.session, id="composer"))
        await idle()
        await self.add_search(
            SearchBar(self.session, Offers(), id="search"), SearchProblem(id="search-problem", markup=False)
        )
        self._thread_shown()

    async def action_part(self, part: str, action: str, *arguments: object) -> None:
        """Run an action of a part, as `console.commands` names it."""
        log_step(f"{part}.{action}")
        done = getattr(getattr(await self.load_parts(), part), action)(*arguments)
        if isawaitable(done):
            await done

    def action_move(self, how: str) -> None:
        """Move the cursor of the focused pane; messages that come into sight are marked as seen."""
        super().action_move(how)
        if self.parts is not None:
            self.parts.moved()

    async def action_back(self) -> None:
        """Go back one step."""
        await self.action_part("navigation", "back")

    async def action_help(self) -> None:
        """Show the keys of the focused pane."""
        await self.action_part("pages", "help")

    async def action_undo(self) -> None:
        """Undo the last action."""
        await self.action_part("undoing", "undo")

    async def action_redo(self) -> None:
        """Redo the action that was undone last."""
        await self.action_part("undoing", "redo")

    # What the parts need

    def selected_message(self, otherwise: str = "No message selected") -> Message | None:
        """Return the selected message; where there is none, say so and return None."""
        message = self.conversation.message
        if message is None:
            self.tell(otherwise)
        return message

    def copy_to_clipboard(self, text: str) -> None:
        """Copy a text to the clipboard, through the terminal."""
        self.app.copy_to_clipboard(text)

    def suspend(self) -> AbstractContextManager[None]:
        """Give the terminal to another program within a context; raises SuspendNotSupported."""
        return self.app.suspend()

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

    # Where the person is

    def on_mount(self) -> None:
        """Show the location that was restored."""
        self.redraw()
        self.sidebar.select(Sidebar.key_of(self.location.view))
        self.set_focus(self.threads)
        self.set_interval(ROWS_SECONDS, self.threads.redraw_rows)

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
        if self.parts is not None:
            self.parts.location_changed()
        self.location = location
        self.threads.begin()
        if self.has_conversation:
            self.conversation.show(None)
        self.sidebar.select(Sidebar.key_of(location.view))
        self.redraw()
        if location.root is not None:
            self.threads.select(location.root)
        if self.has_conversation and self.conversation.is_stream:
            self._thread_shown()

    def show_thread(self, root: str | None, message: str | None = None) -> None:
        """Show a thread in the conversation, with a message of it in sight."""
        self.location = replace(self.location, root=root)
        self.conversation.show(root, at=message)
        self._drawing.title_conversation()
        self._thread_shown()

    def _thread_shown(self) -> None:
        if self.parts is not None and self.has_all_panes:
            self.parts.thread_shown()

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

    # Drawing

    @property
    def is_drawn(self) -> bool:
        """Whether everything that was folded is on the screen."""
        return not self._drawing.is_waiting and self.has_all_panes and not self.listing.is_sifting

    def keep_place(self) -> None:
        """Come back to what is shown once a mailbox that is read again has it."""
        self._drawing.keep_place()

    def mail_changed(self, is_loading: bool) -> None:
        """Draw what the feed folded, at once or with the next frame."""
        was_loading, self.session.is_loading = self.session.is_loading, is_loading
        self._drawing.mail_changed()
        if was_loading and not is_loading and self.parts is not None:
            self.parts.mail_loaded()

    def redraw(self) -> None:
        """Draw everything that may have changed, without moving a cursor or scrolling."""
        if not self.app.is_running:
            return  # it ends, and takes its panes away one by one
        self._drawing.draw()
        if self.parts is not None:
            self.parts.drawn()

    def retitle(self) -> None:
        """Title the conversation again: other messages are in sight."""
        self._drawing.title_conversation()

    def redraw_screens_above(self) -> None:
        """Draw the list screens that cover this one."""
        for screen in self.app.screen_stack:
            if screen is not self and isinstance(screen, Redrawn):
                screen.redraw()

    def set_text_styles(self, styles: TextStyles) -> None:
        """Draw everything in the styles of another theme."""
        self.text_styles = styles
        self.conversation.set_text_styles(styles)
        for bar in (self.header, self.footer):
            if bar is not None:
                bar.text_styles = styles
                bar.refresh()
        if self.parts is not None:
            self.parts.styles_changed(styles)
        self.redraw()

    def tick(self) -> None:
        """Draw what a second that passed has changed: the time, and what became of mail meanwhile."""
        if self.session.live.advance(self.session.clock()) and self.session.moment is None:
            self.redraw()
        else:
            self._drawing.draw_header()
        if self.parts is not None:
            self.parts.ticked()

    # Messages of the panes

    @on(VirtualList.Highlighted, "#sidebar")
    def _place_highlighted(self, event: VirtualList.Highlighted) -> None:
        if event.key != self.sidebar.cursor_key:
            return  # the cursor has moved on since: two such messages would chase each other for ever
        view = self.sidebar.view_of(event.key)
        if view is not None and view != self.location.view:
            self.show_view(view)

    @on(VirtualList.Highlighted, "#threads")
    def _thread_highlighted(self, event: VirtualList.Highlighted) -> None:
        self._drawing.title_threads()
        if (
            self.has_conversation
            and not self.is_streamed
            and event.key == self.threads.cursor_key
            and event.key != self.conversation.root
        ):
            hit = (self.listing.hits() or {}).get(event.key)
            self.show_thread(event.key, hit.id if hit else None)

    @on(VirtualList.Chosen)
    def _row_chosen(self) -> None:
        self.run_task(self.action_part("navigation", "enter"), group="chosen")

    def on_block_view_highlighted(self, event: BlockView.Highlighted) -> None:
        if self.parts is not None:
            self.parts.message_highlighted(event.key)

    def on_composer_sent(self, event: Composer.Sent) -> None:
        if self.parts is not None:
            self.parts.composing.sent(event)

    def on_search_bar_typed(self, event: SearchBar.Typed) -> None:
        if self.parts is not None:
            self.parts.searching.typed(event)

    def on_search_bar_left(self, event: SearchBar.Left) -> None:
        if self.parts is not None:
            self.parts.searching.left(event)
