"""The main screen: it draws the mail, runs commands, and tells its parts what happens."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, cast

from textual import on

from console.panes.sidebar import Sidebar
from console.render.short_text import local_day
from console.running.idle import load_modules
from console.screens.base_screen import Action
from console.screens.counting import MOVES, Move
from console.screens.dialog import ClosesOnce
from console.screens.drawing import Drawing
from console.screens.location import ScreenLocation
from console.screens.mail_screen import MailScreen
from console.session import Session
from console.widgets.virtual_list import VirtualList
from console.words.styles import TextStyles

if TYPE_CHECKING:
    from textual.timer import Timer

    from console.panes.search_bar import SearchBar
    from console.screens.parts import Parts
    from console.widgets.block_view import BlockView
    from mailstore.state.views import ViewKind

AGES_SECONDS = 20.0
"""How often everything is drawn again where no mail comes: it says how old mail is, and when agents were seen."""
JUMP_SECONDS = 5.0
"""By how much more or less than the time that passed the clock must have moved, if it was set or the machine slept."""


class MainScreen(MailScreen):
    """What the first frame needs; everything else that it can do is done by its parts (docs/decisions/0042)."""

    def __init__(self, session: Session, styles: TextStyles, location: ScreenLocation) -> None:
        super().__init__(session, styles, location)
        self.parts: Parts | None = None
        self._drawing = Drawing(self)
        self._timer: Timer | None = None
        """Until what changed is drawn."""
        self._ticked = self._day_and_offset(session.clock())

    # The parts

    async def load_parts(self) -> Parts:
        """Return the parts, which are imported and made when they are first needed."""
        if self.parts is None:
            await load_modules("console.screens.parts")
            from console.screens.parts import Parts

            if self.parts is None:  # another command may have made them meanwhile
                self.parts = Parts(self)
        return self.parts

    async def mount_remaining(self, idle: Callable[[], Awaitable[None]]) -> None:
        """Add what the first frame did without, the conversation first, each in an idle moment."""
        await self.load_parts()
        await load_modules("console.panes.reader")
        from console.panes.reader import ReadingPane

        await idle()
        await self.add_conversation(ReadingPane(self.session, self.text_styles, id="conversation"))
        self.redraw()
        await load_modules("console.render.markdown", "console.panes.composer", "console.panes.search_bar")
        from console.panes.composer import Composer
        from console.panes.search_bar import SearchBar, SearchProblem
        from console.widgets.offers import Offers

        await idle()
        await self.add_composer(Composer(self.session, id="composer"))
        await idle()
        await self.add_search(
            SearchBar(self.session, Offers(), id="search"), SearchProblem(id="search-problem", markup=False)
        )
        self.thread_shown()

    # Commands

    def actions(self) -> Mapping[str, Action]:
        return super().actions() if self.parts is None else {**super().actions(), **self.parts.actions}

    async def action_run(self, command: str) -> None:
        """Run a command; all but moves wait for the parts."""
        if command not in MOVES:
            await self.load_parts()
        await self.run(command, self.actions()[command])

    async def action_go_view(self, kind: str) -> None:
        """Show a view that the header names, and go to its threads."""
        (await self.load_parts()).navigation.go_view(cast("ViewKind", kind))

    async def travel(self, moment: float) -> None:
        """Show the mailbox as it was at a moment (seconds since the epoch)."""
        (await self.load_parts()).time_travel.go_to(moment)

    async def action_go_back_to(self, key: str) -> None:
        """Go to what a part of the card is about that says what happened while you were away."""
        (await self.load_parts()).away.go(key)

    async def action_dismiss_card(self) -> None:
        """Take that card away."""
        (await self.load_parts()).away.dismiss()

    def move(self, how: Move) -> None:
        """Move the cursor of the focused pane; messages that come into sight are marked as seen."""
        super().move(how)
        if self.parts is not None:
            self.parts.moved()

    # What happens

    def on_mount(self) -> None:
        """Show the location that was restored."""
        self.redraw()
        self.sidebar.select(Sidebar.key_of(self.location.view))
        self.set_focus(self.threads)
        self.set_interval(AGES_SECONDS, self._draw_ages)

    def location_changed(self) -> None:
        if self.parts is not None:
            self.parts.location_changed()

    def thread_shown(self) -> None:
        if self.parts is not None and self.has_all_panes:
            self.parts.thread_shown()

    def tick(self) -> None:
        """Draw what a second that passed has changed: the time, and what became of mail meanwhile."""
        now = self.session.clock()
        has_expired, has_jumped = self.session.live.advance(now), self._has_jumped(now)
        if self.session.moment is not None or not (has_expired or has_jumped):
            self._drawing.draw_header()
        elif has_jumped:
            self.redraw()
        elif not self.is_behind:  # else it is drawn with the mail that came
            self._draw(is_change=False)
        if self.parts is not None:
            self.parts.ticked()

    def _has_jumped(self, now: float) -> bool:
        """Return whether since the last tick another day began, the clock was set, or the machine slept."""
        before, self._ticked = self._ticked, self._day_and_offset(now)
        return before[0] != self._ticked[0] or abs(before[1] - self._ticked[1]) > JUMP_SECONDS

    @staticmethod
    def _day_and_offset(now: float) -> tuple[int, float]:
        """Return the local day, and how far the clock is ahead of a timer that can't be set and stops in a sleep."""
        return local_day(now), now - monotonic()

    # Drawing

    def _draw_ages(self) -> None:
        """Draw what changes with time alone, unless a drawing is due anyway; in the past, nothing does."""
        if self.app.is_running and self.session.moment is None and not self.is_behind:
            self._drawing.draw()
            self._redraw_others()

    @property
    def is_drawn(self) -> bool:
        """Whether everything that was folded is on the screen."""
        return not self.is_behind and self.has_all_panes and not self.listing.is_sifting

    @property
    def is_behind(self) -> bool:
        return self._timer is not None

    def keep_place(self) -> None:
        """Come back to what is shown once a mailbox that is read again has it."""
        self._drawing.keep_place()

    def mail_changed(self, is_loading: bool) -> None:
        """Draw what was folded, at once or with the next frame; of the past, only the header changes."""
        session = self.session
        is_whole = session.is_loading and not is_loading
        session.is_loading = is_loading
        if session.moment is not None:
            self._drawing.draw_header()
        elif (wait := self._drawing.pacing.wait(len(session.mailbox), is_loading=is_loading, is_whole=is_whole)) <= 0:
            self.redraw()
        elif self._timer is None or is_whole:
            self._stop_timer()
            self._timer = self.set_timer(wait, self.redraw)
        if is_whole and self.parts is not None:
            self.parts.mail_loaded()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def redraw(self) -> None:
        self._draw(is_change=True)

    def _draw(self, *, is_change: bool) -> None:
        if not self.app.is_running:
            return  # it ends, and takes its panes away one by one
        self._stop_timer()
        self._drawing.draw()
        self._redraw_others()
        if self.parts is not None:
            self.parts.drawn(is_change=is_change)

    def _redraw_others(self) -> None:
        """Draw the screens over this one."""
        for screen in self.app.screen_stack:
            if screen is not self and isinstance(screen, ClosesOnce):
                screen.redraw()

    def retitle(self) -> None:
        self._drawing.title_conversation()

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
        self.run_task(self.action_run("open"), group="chosen")

    def on_block_view_highlighted(self, event: BlockView.Highlighted) -> None:
        if self.parts is not None:
            self.parts.message_highlighted(event.key)

    def on_search_bar_typed(self, event: SearchBar.Typed) -> None:
        if self.parts is not None:
            self.parts.searching.typed(event)

    def on_search_bar_left(self, event: SearchBar.Left) -> None:
        if self.parts is not None:
            self.parts.searching.left(event)
