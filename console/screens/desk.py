"""What is looked at: mail comes in here, and is drawn from here."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual import on, work
from textual.content import Content
from textual.timer import Timer

from console import later
from console.panes.header import Header, headline
from console.panes.placeholders import empty_list, empty_mailbox
from console.panes.sidebar import Sidebar
from console.panes.thread_notes import notes_for
from console.panes.thread_rows import ThreadRows
from console.panes.titles import as_title, status_words, view_title
from console.screens.front import Front
from console.screens.location import Location
from console.screens.undoing import Undoing
from console.session import Session
from console.styles import TextStyles
from console.widgets.virtual_list import VirtualList
from mailstore.records.scope import label_of
from mailstore.state.views import View

if TYPE_CHECKING:
    pass

__all__ = ["Desk"]

FRAME_SECONDS = 1 / 60
MOST_AT_ONCE = 8
STORM_SECONDS = 0.2
LOADING_SECONDS = 0.2
SHARE = 4
"""How many times longer than drawing took the pause between two frames is at least: keys come first."""
MOST_NEW = 100
"""So many arrivals are looked at, to say how many of them are out of sight."""
NEWS_TICKS = 30
"""After how many seconds another console's marks are looked for though its state seems not to have changed."""


class Desk(Front):
    """Knows what is looked at, and draws what changes."""

    def __init__(self, session: Session, styles: TextStyles, look: Location) -> None:
        super().__init__(session, styles, look)
        self._past: list[Location] = []
        self._future: list[Location] = []
        self._drawn = 0.0
        self._drawing_took = self._last_took = 0.0
        self._drawn_messages = 0
        self._drawing: Timer | None = None
        self._wanted_root: str | None = None
        self._ticks = 0
        self._stamp: tuple[int, int] | None = None
        self._sighted: set[str] = set()
        """What came and was in sight in the list of threads since."""
        self.has_conversation = self.is_furnished = False

    async def furnish(self, moment: Callable[[], Awaitable[None]]) -> None:
        """Add what the first frame did without, the thread first, in moments in which nobody types.

        Keys that do more than move wait for it.
        """
        await later.fetch("MainScreen", "Conversation")
        await moment()
        self.__class__ = later.MainScreen
        conversation = later.Conversation(self.session, self.text_styles, id="conversation")
        conversation.is_flat = self.look.is_flat
        await self.query_one("#right").mount(conversation)
        self.has_conversation = True
        self.redraw()
        await later.fetch("render_markdown", "Composer", "SearchBar")
        await moment()
        composer = later.Composer(self.session, id="composer")
        search = later.SearchBar(id="search")
        problem = later.SearchProblem(id="search-problem", markup=False)
        composer.display = search.display = problem.display = False
        await self.query_one("#right").mount(composer)
        await moment()
        await self.query_one("#middle").mount(search, problem, before=0)
        self.is_furnished = True
        self.thread_shown()

    # What is looked at

    def on_mount(self) -> None:
        """Show where the person left off."""
        self._wanted_root = self.look.root
        self.redraw()
        self.sidebar.select(Sidebar.key_of(self.look.view))
        self.set_focus(self.threads)
        self.set_interval(20.0, self.threads.redraw_rows)

    def place(self) -> Location:
        """Return what is looked at, as it is found again when the console is opened anew."""
        return replace(
            self.look,
            message=self.conversation.cursor_key,
            filter_text=self.filter_text,
            only_unread=self.only_unread,
            is_flat=self.conversation.is_flat,
        )

    def show_view(self, view: View, root: str | None = None) -> None:
        """Show a view's threads, and one of them."""
        if view != self.look.view:
            self._past.append(self.look)
            self._future.clear()
            self.look = Location(view, root)
            self.filter_text = ""
            self.marked.clear()
            self.let_go()
        self._go(self.look if root is None else replace(self.look, root=root))

    def step_history(self, step: int) -> bool:
        """Go back (-1) or forward (+1) through the views that were looked at."""
        source, target = (self._past, self._future) if step < 0 else (self._future, self._past)
        if not source:
            return False
        target.append(self.look)
        self.look = source.pop()
        self.let_go()
        self._go(self.look)
        return True

    def _go(self, look: Location) -> None:
        self.look = look
        self.threads.begin()
        if self.has_conversation:
            self.conversation.show(None)
        self.sidebar.select(Sidebar.key_of(look.view))
        self.redraw()
        if look.root is not None:
            self.threads.select(look.root)

    def show_thread(self, root: str | None, message: str | None = None) -> None:
        """Show a thread, with a message of it in sight."""
        self.look = replace(self.look, root=root)
        self.conversation.show(root, at=message)
        self._title_conversation()
        self.thread_shown()

    def show_message(self, message_id: str) -> None:
        """Show a message that is there, in a view that lists it."""
        mailbox, root = self.session.mailbox, self.session.mailbox.root_of(message_id)
        if root != self.conversation.root and root not in mailbox.threads(self.look.view):
            message = mailbox.message(message_id)
            self.show_view(View("archive" if message is not None and message.archived else "all"))
        self.threads.select(root)
        self.show_thread(root, message_id)

    def thread_shown(self) -> None:
        """Another thread came into the conversation; parts of the screen may care."""

    @on(VirtualList.Highlighted, "#sidebar")
    def _place_highlighted(self, event: VirtualList.Highlighted) -> None:
        if event.key != self.sidebar.cursor_key:
            return  # the cursor has gone on since: two such messages would chase each other for ever
        view = self.sidebar.view_of(event.key)
        if view is not None and view != self.look.view:
            self.show_view(view)

    @on(VirtualList.Chosen)
    def _row_chosen(self) -> None:
        self.run_worker(self.run_action("enter"), group="chosen")

    @on(VirtualList.Highlighted, "#threads")
    def _thread_highlighted(self, event: VirtualList.Highlighted) -> None:
        self._title_threads(len(self.threads.source))
        if self.has_conversation and event.key == self.threads.cursor_key and event.key != self.conversation.root:
            hit = (self.hits() or {}).get(event.key)
            self.show_thread(event.key, hit.id if hit else None)

    # Drawing

    @property
    def is_drawn(self) -> bool:
        """Say whether everything that was folded is on the screen."""
        return self._drawing is None and self.is_furnished and not self.is_sifting

    def mail_changed(self, is_loading: bool) -> None:
        """Draw what the feed folded, at once or with the next frame."""
        self.session.is_loading = is_loading
        if self.session.moment is not None:
            self._head()
            return
        is_first = len(self.session.mailbox) > 0 and not self._drawn_messages
        came = len(self.session.mailbox) - self._drawn_messages
        # more comes than can be read: nobody misses a frame, and keys find the loop free
        pause = STORM_SECONDS if came > MOST_AT_ONCE else FRAME_SECONDS
        if is_loading and self._drawn and not is_first:
            pause = LOADING_SECONDS
        wait = self._drawn + max(pause, SHARE * self._drawing_took) - monotonic()
        if wait <= 0:
            self.redraw()
        elif self._drawing is None:
            self._drawing = self.set_timer(wait, self.redraw)

    def redraw(self) -> None:
        """Draw everything that may have changed, without moving what is looked at."""
        if self._drawing is not None:
            self._drawing.stop()
            self._drawing = None
        self._drawn = monotonic()
        self._drawn_messages = len(self.session.mailbox)
        roots = self.roots_to_draw()
        self.sidebar.show(self.session, self.text_styles)
        self.threads.placeholder = tuple(self._placeholder())
        notes = notes_for(self.session.mailbox, self.look.view, self.session.now())
        had = self.threads.cursor_key
        rows = ThreadRows(
            self.session.mailbox, roots, self.text_styles, self.session.now, self.hits(), notes, self.marked
        )
        self.threads.set_source(rows)
        self._title_threads(len(roots))
        if self._wanted_root is not None and self.threads.select(self._wanted_root):
            self._wanted_root = None
        if self.has_conversation:
            is_emptied = had is not None and self.threads.cursor_key is None and not self.session.is_loading
            if is_emptied and len(self.session.mailbox):
                self.show_thread(None)
            self._redraw_conversation()
        if self.is_furnished and self.composer.is_open:
            self.composer.update_reach()
        self._head()
        for sheet in self.app.screen_stack:
            if sheet is not self and isinstance(sheet, Undoing):
                sheet.redraw()
        took, self._last_took = self._last_took, monotonic() - self._drawn
        self._drawing_took = min(took, self._last_took)  # one alone may have waited for something else

    def _redraw_conversation(self) -> None:
        key = self.threads.cursor_key
        if self.conversation.root is None and key is not None:
            self.show_thread(key, self.look.message if key == self.look.root else None)
        self.conversation.refresh_mail()
        self._title_conversation()

    def _placeholder(self) -> list[str]:
        if not len(self.session.mailbox):
            return empty_mailbox(self.session, self.session.is_loading)
        if self.is_sifting:
            return ["Looking…"]
        return empty_list(
            self.session, self.look.view, is_filtered=bool(self.filter_text or self.only_unread or self.found == {})
        )

    def _title_threads(self, listed: int) -> None:
        title = view_title(self.session.mailbox, self.look.view)
        if self.found is not None:
            title = "Search"
        marks = [
            mark
            for mark, is_on in (
                ("only unread", self.only_unread),
                (f"\\{self.filter_text}", self.filter_text),
            )
            if is_on
        ]
        marked = len(self.marked_roots())
        above = (f"{marked} marked · " if marked else "") + self._new_above()
        width = self.threads.size.width - 4 - len(above)
        below = above + status_words(self.session.mailbox, self.look.view, listed, width, is_all=not self.is_sifting)
        self.threads.set_titles(as_title(" · ".join([title, *marks])), Content(below))

    def _new_above(self) -> str:
        """Say how much of what came since the console was opened waits above what is in sight."""
        in_sight = self.threads.rows_in_sight() if self.is_current and self.threads.is_on_screen else range(0)
        mailbox, source = self.session.mailbox, self.threads.source
        number = 0
        for key in islice(reversed(self.session.arrived), MOST_NEW):
            if key in self._sighted or key not in mailbox or (at := source.index(mailbox.root_of(key))) is None:
                continue
            if at in in_sight:
                self._sighted.add(key)
            elif at < self.threads.rows_above():
                number += self.session.new_among([key])
        more = "+" if len(self.session.arrived) > MOST_NEW else ""
        return f"{number}{more} new above · " if number else ""

    def _title_conversation(self) -> None:
        pane, mailbox = self.conversation, self.session.mailbox
        first = next(pane.messages, None)
        if first is None:
            pane.set_titles(Content(), Content())
            return
        summary = mailbox.summary(mailbox.root_of(first.id))
        label = label_of(summary.root) if mailbox.mailboxes() else ""
        title = as_title(f"{label} · {summary.subject}" if label else summary.subject)
        new = self.session.new_among(pane.keys_below())
        below = f" · {new} new below" if new else ""
        number = f"{summary.messages} message{'s' * (summary.messages != 1)}"
        following = " · following" if pane.is_following else ""
        pane.set_titles(title, Content(f"{number}{below}{following}"))

    def tick(self) -> None:
        """Let a second pass: show the time, and what came with it."""
        self._ticks += 1
        stamp = self.session.state.stamp()
        if not self.session.is_loading and (stamp != self._stamp or self._ticks % NEWS_TICKS == 0):
            self._stamp = stamp
            self._look_for_news()
        if self.session.live.advance(self.session.clock()) and self.session.moment is None:
            self.redraw()
        else:
            self._head()

    @work(group="news", exclusive=True, exit_on_error=False)
    async def _look_for_news(self) -> None:
        """Take over what another console of the same person marked as seen."""
        news = await asyncio.to_thread(self.session.news)
        if news:
            self.session.live.fold(news, self.session.clock())
            self.redraw()

    def _head(self) -> None:
        for header in self.query(Header):  # it is the first to go when the console closes
            header.headline = headline(self.session)

    def set_text_styles(self, styles: TextStyles) -> None:
        """Write everything in other colours, after the theme changed."""
        self.text_styles = styles
        self.conversation.set_text_styles(styles)
        for bar in (self.query_one("#header", Header), self.footer, *self.query(later.Slider)):
            bar.text_styles = styles
            bar.refresh()
        self.redraw()
