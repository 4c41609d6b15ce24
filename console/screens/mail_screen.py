"""The main screen as its parts know it: where you are in the mail, which threads are listed, what they may ask for."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING

from msgspec.structs import replace

from console.panes.quiet_rows import ThreadsOnTop, returned_threads
from console.panes.sidebar import Sidebar, own_threads
from console.screens.layout import Layout
from console.screens.location import LocationHistory, ScreenLocation
from console.session import Session
from console.words.styles import TextStyles
from mailstore.columns.lists import MarkedRows, ThreadList
from mailstore.records.message import Message
from mailstore.state.thread_filter import FilteredThreads
from mailstore.state.views import View

if TYPE_CHECKING:
    from textual.events import Key
    from textual.timer import Timer
    from textual.widget import Widget

    from console.panes.hit_rows import HitRows
    from console.panes.slider import Slider
    from mailstore.errors import QueryError
    from mailstore.queries.grouping import HitCounts
    from mailstore.records.details import AgentNote

SLICE_SECONDS = 0.004
PAUSE_SECONDS = 0.004
SHOW_SECONDS = 0.1
"""How often a list is drawn while it is still being filtered."""
COMPUTED = ("dead", "waiting")
"""Views of the mailbox whose few threads are computed each time, rather than filtered out of all threads."""


class Listing:
    """The threads of the list, and the marks on them. A long list is filtered in slices between other work."""

    def __init__(self, screen: Layout) -> None:
        self._screen = screen
        self.only_unread = screen.location.only_unread
        self.filter_text = screen.location.filter_text
        self.found: dict[str, Message] | None = None
        """The hits of the typed search, by thread; None without a search."""
        self.query = ""
        """The text of the typed search whose hits these are."""
        self.hit_count = self.unreadable_texts = 0
        """How many messages were found, and how many could not be read for that."""
        self.rows: MarkedRows | None = None
        """The messages that were found, once all are."""
        self.counts: HitCounts | None = None
        """How many hits each sender, channel and type has, once all are found."""
        self.is_searching = self.is_cut = False
        """Whether more hits are being looked for, and whether there are older ones that are not listed."""
        self.suggestion = ""
        """Without hits, the query in the nearest spelling that occurs."""
        self.noted: Sequence[AgentNote] = ()
        """What the typed search finds in notes of agents."""
        self.query_problem: QueryError | None = None
        """Why the query that was typed can't be read."""
        self.marked: set[str] = set()
        self._hit_rows: tuple[str, HitRows | None] = ("", None)
        self.finding = ""
        """What is sought within the stream that is shown."""
        self.is_followed = False
        """Whether the thread with the newest message is followed."""
        self._sifted_for: tuple[object, ...] = ()
        self._sifted: FilteredThreads | None = None
        self._timer: Timer | None = None
        self._shows_at = 0.0

    def roots(self) -> Sequence[str]:
        """Return the listed threads: the view's or a search's; while they are filtered, those found so far."""
        mailbox, view = self._screen.session.mailbox, self._screen.location.view
        if self.found is not None:
            self._end_sifting()
            return list(self.found)
        if is_unread := self.only_unread or view.kind == "unread":
            mailbox.keep_read(True)
        among = list(self.hits() or {}) if view.kind == "saved" else own_threads(self._screen.session, view)
        if view.kind in COMPUTED:
            among = mailbox.threads(view)
        has_hidden = view.kind == "for-you" and bool(mailbox.own_marks().snoozed)
        roots: Sequence[str]
        if is_unread or self.filter_text or has_hidden or view.kind in ("recent", "muted"):
            roots = self._sift(among)
        else:
            self._end_sifting()
            roots = mailbox.threads(view) if among is None else among
        if view.kind in ("for-you", "unread") and not self.filter_text:
            top = returned_threads(self._screen.session)
            return ThreadsOnTop(top, roots) if top else roots
        return roots

    def roots_to_draw(self) -> Sequence[str]:
        """Return the listed threads for drawing now, brought up to date with changed threads."""
        roots = self.roots()
        if self._sifted is not None:
            self._sifted.settle(SLICE_SECONDS)
            self._shows_at = monotonic() + SHOW_SECONDS
        return roots

    def all_roots(self) -> Sequence[str]:
        """Return all listed threads, however long criteria takes."""
        roots = self.roots()
        if self._sifted is not None and not self._sifted.is_whole:
            self._sifted.finish()
            self._screen.redraw()
        return roots

    @property
    def is_sifting(self) -> bool:
        """Whether more threads may follow."""
        return self._sifted is not None and not self._sifted.is_whole

    def _sift(self, among: Sequence[str] | None) -> FilteredThreads:
        """Return the threads filtered so far; start over for another view, filter or mailbox."""
        session, location = self._screen.session, self._screen.location
        asked = (session.mailbox, location.view, self.only_unread, self.filter_text, among)
        sifted, now = self._sifted, session.now()
        holds = sifted is not None and sifted.holds(now)
        if sifted is None or not holds or asked != self._sifted_for:
            self._end_sifting()
            criteria = session.mailbox.thread_filter(
                location.view,
                session.config.retention.rule(),
                now,
                text=self.filter_text,
                only_unread=self.only_unread,
                among=among,
            )
            first = [] if location.root is None else [location.root]
            wider = sifted if sifted is not None and holds and sifted.criteria.is_wider(criteria) else None
            sifted = self._sifted = FilteredThreads(criteria, first, wider)
            self._sifted_for = asked
            sifted.settle(SLICE_SECONDS)
            sifted.look(SLICE_SECONDS)
        self._continue()
        return sifted

    def _continue(self) -> None:
        if self._timer is None and self.is_sifting:
            self._timer = self._screen.set_timer(PAUSE_SECONDS, self._next_slice)

    def _next_slice(self) -> None:
        self._timer = None
        if self._sifted is None:
            return
        self._sifted.look(SLICE_SECONDS)
        if self._sifted.is_at_end or monotonic() >= self._shows_at:
            self._screen.redraw()
        else:
            self._continue()

    def _end_sifting(self) -> None:
        if self._sifted is not None:
            self._sifted.end()
            self._sifted = None

    def hits(self) -> dict[str, Message] | None:
        """Return the hits by thread, of the search that was typed or of the saved view; None in other views."""
        view = self._screen.location.view
        if self.found is not None or view.kind != "saved":
            return self.found
        kept = self._screen.session.found.get(view.name)
        return self.still_there(kept.hits) if kept is not None else {}

    def shown_view(self) -> View:
        """Return what is listed: the hits of the typed search, else the view."""
        return self._screen.location.view if self.found is None else View("found", self.query)

    def found_rows(self) -> MarkedRows | None:
        """Return all messages that the typed search or the saved view found; None in other views."""
        screen, view = self._screen, self._screen.location.view
        if self.found is not None:
            return self.rows
        if view.kind != "saved":
            return None
        kept = screen.session.found.get(view.name)
        return None if kept is None else kept.rows

    def sought(self) -> HitRows | None:
        """Return how the rows show what the typed search or the saved view sought; None in other views."""
        screen, view = self._screen, self._screen.location.view
        query = screen.session.personal.views.get(view.name, "") if view.kind == "saved" else ""
        query = self.query if self.found is not None else self.finding or query
        if query != self._hit_rows[0]:
            self._hit_rows = query, self._new_hit_rows(query) if query else None
        return self._hit_rows[1]

    def _new_hit_rows(self, query: str) -> HitRows | None:
        from console.panes.hit_rows import hit_rows

        screen = self._screen
        return hit_rows(screen.session, query, lambda work: screen.run_task(work, group="text"), screen.redraw_rows)

    def still_there(self, messages: dict[str, Message]) -> dict[str, Message]:
        """Return the hits that the mailbox on the screen has in the same threads."""
        mailbox = self._screen.session.mailbox
        return {root: hit for root, hit in messages.items() if hit.id in mailbox and mailbox.root_of(hit.id) == root}

    @property
    def is_narrowed(self) -> bool:
        """Whether a filter or a search without hits leaves threads of the view out."""
        return bool(self.filter_text or self.only_unread or self.found == {})

    def enter_view(self) -> None:
        """Drop the filter and the marks, which belong to the view that was left."""
        self.filter_text = self.finding = ""
        self.marked.clear()
        self.release_read()

    def end_search(self) -> None:
        """Drop the search, its hits and what was wrong with its query."""
        self.found = self.query_problem = self.counts = self.rows = None
        self.query, self.suggestion, self.noted = "", "", ()
        self.is_searching = self.is_cut = False

    def release_read(self) -> None:
        """Stop listing threads among the unread ones that were read meanwhile."""
        self._screen.session.mailbox.keep_read(False)

    def marked_roots(self) -> list[str]:
        """Return the marked threads in the order of the list."""
        roots = self.roots() if self.marked else []
        if not isinstance(roots, ThreadList | ThreadsOnTop):
            return [root for root in roots if root in self.marked]
        places = {root: roots.index(root) for root in self.marked if root in roots}
        return sorted(places, key=places.__getitem__)

    def clear_marks(self) -> bool:
        """Take all marks away; return whether there were any."""
        had = bool(self.marked)
        self.marked.clear()
        if had:
            self._screen.redraw()
        return had


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
