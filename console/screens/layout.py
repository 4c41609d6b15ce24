"""Lay out the main screen: its panes, which of them has the focus, and moving the cursor in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.events import DescendantFocus, MouseDown, MouseMove, Resize
from textual.reactive import Reactive
from textual.widget import Widget

from console.bindings import bindings, footer_keys
from console.command import Situation
from console.panes.header import Header
from console.panes.sidebar import Sidebar
from console.panes.threads import ThreadListPane
from console.screens.base_screen import BaseScreen, situation_of
from console.screens.sizes.pane_sizes import PaneSizes
from console.session import Session
from console.styles import TextStyles
from console.widgets.backdrop import Backdrop
from console.widgets.line_view import LineView

if TYPE_CHECKING:
    from console.panes.composer import Composer
    from console.panes.reader import ReadingPane
    from console.panes.search_bar import SearchBar, SearchProblem

PANES = ("sidebar", "threads", "conversation", "composer")
RESTYLED = "#sidebar, #middle, #right, #conversation, #composer"
"""What looks different for the pane that has the focus, or the whole screen."""


class Layout(BaseScreen[None], Backdrop):
    """Three columns between a header and a footer.

    The third column is empty in the first frame, in which the cursor can be moved already; `add_…` fills it.
    """

    # what the focus changes is painted by what it changes: Textual would paint the whole screen
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)

    AUTO_FOCUS: ClassVar[str | None] = "#threads"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings()]

    def __init__(self, session: Session, styles: TextStyles) -> None:
        super().__init__(session, styles)
        self._is_streamed = False
        self._conversation: ReadingPane | None = None
        self._composer: Composer | None = None
        self._search_bar: SearchBar | None = None
        self.sizes = PaneSizes(self)

    def compose(self) -> ComposeResult:
        yield Header(self.text_styles, id="header")
        with Backdrop(id="columns"):
            yield Sidebar(id="sidebar")
            with Backdrop(id="middle"):
                yield ThreadListPane(id="threads")
            yield Backdrop(id="right")
        yield self.new_footer()

    async def add_conversation(self, conversation: ReadingPane) -> None:
        """Mount the conversation."""
        await self.query_one("#right").mount(conversation)
        self._conversation = conversation

    async def add_composer(self, composer: Composer) -> None:
        """Mount the composer, closed."""
        composer.display = False
        await self.query_one("#right").mount(composer)
        self._composer = composer
        self.sizes.apply()

    async def add_search(self, bar: SearchBar, problem: SearchProblem) -> None:
        """Mount the search bar, the line below it and its list of candidates, closed."""
        bar.display = problem.display = False
        await self.query_one("#middle").mount(bar, problem, bar.offers, before=0)
        self._search_bar = bar

    # Panes

    @property
    def sidebar(self) -> Sidebar:
        return self.query_one("#sidebar", Sidebar)

    @property
    def threads(self) -> ThreadListPane:
        return self.query_one("#threads", ThreadListPane)

    def redraw_rows(self) -> None:
        """Draw the rows of the list whose content changed."""
        self.threads.redraw_rows()

    @property
    def has_conversation(self) -> bool:
        return self._conversation is not None

    @property
    def conversation(self) -> ReadingPane:
        assert self._conversation is not None, "the conversation is not mounted yet"
        return self._conversation

    @property
    def composer(self) -> Composer:
        assert self._composer is not None, "the composer is not mounted yet"
        return self._composer

    @property
    def search_bar(self) -> SearchBar:
        assert self._search_bar is not None, "the search bar is not mounted yet"
        return self._search_bar

    @property
    def has_all_panes(self) -> bool:
        """Whether everything that the first frame does without is mounted."""
        return self._search_bar is not None

    @property
    def header(self) -> Header | None:
        """The line at the top; None once the console closes, when it is the first to go."""
        return next(iter(self.query(Header)), None)

    @property
    def is_streamed(self) -> bool:
        """Whether the place is read as a stream, which has the room of the list and the conversation together."""
        return self._is_streamed

    def set_streamed(self, is_streamed: bool) -> bool:
        """Give the list's room to the conversation, or take it back; return whether that is a change."""
        if is_streamed == self._is_streamed:
            return False
        self._is_streamed = is_streamed
        columns = [self.query_one("#middle"), self.query_one("#right")]
        for column in columns:
            column.set_class(is_streamed, "-stream", update=False)
        self.app.stylesheet.update_nodes(columns)  # what is in them looks the same
        if is_streamed and self.focused is self.threads:
            self.set_focus(self.conversation)
        return True

    def show_list(self) -> None:
        """Show the list of threads, for a search, also where a stream is read."""
        self.set_streamed(False)

    @property
    def is_looked_at(self) -> bool:
        """Whether the person sees this screen, as far as the terminal reports it."""
        return self.is_current and self.app.app_focus

    def pane(self) -> str:
        """Return the name of the pane that has the focus."""
        at: Widget | None = self.focused
        while at is not None:
            if at.id in PANES:
                return at.id
            at = at.parent if isinstance(at.parent, Widget) else None
        return "threads"

    def focus_pane(self, name: str) -> None:
        """Give the focus to a pane; to the stream if the list is not shown."""
        self.set_focus(self.query_one("#conversation" if name == "threads" and self.is_streamed else f"#{name}"))

    @property
    def is_unfocused(self) -> bool:
        """Whether nothing has the focus."""
        return self.focused is None

    def action_move(self, how: str) -> None:
        """Move the cursor of the focused pane; of the list while a message is being written."""
        pane = self.pane()
        self.move_in(self.threads if pane == "composer" else self.query_one(f"#{pane}", LineView), how)

    def toggle_zoom(self) -> None:
        """Give the focused pane the whole screen, or restore the columns."""
        self._zoom("" if self.is_zoomed else self.pane())

    def _zoom(self, pane: str) -> None:
        zooms = {f"-zoom-{name}": name == pane for name in PANES}
        self._mark({"-zoomed": bool(pane), **zooms})
        self.sizes.apply()

    def _mark(self, classes: dict[str, bool]) -> None:
        """Set classes of the screen that concern panes, and restyle those only: the whole screen takes a frame."""
        self.update_classes(classes, update=False)
        self.app.stylesheet.update_nodes(self.query(RESTYLED))

    @property
    def is_zoomed(self) -> bool:
        """Whether one pane has the whole screen."""
        return self.has_class("-zoomed")

    @property
    def is_narrow(self) -> bool:
        """Whether there is room for one column only."""
        return self.has_class("-narrow")

    def on_resize(self, event: Resize) -> None:
        """Show as many columns as fit: three, two below 100 cells, one below 70."""
        width = event.size.width
        self.update_classes({"-medium": 70 <= width < 100, "-narrow": width < 70, "-low": event.size.height < 30})
        self.sizes.apply()

    def panes_by_name(self) -> dict[str, Widget]:
        """Return the widgets whose sizes can be changed."""
        found: dict[str, Widget] = {name: self.query_one(f"#{name}") for name in ("sidebar", "middle", "right")}
        return found if self._composer is None else {**found, "composer": self._composer}

    def on_mouse_down(self, event: MouseDown) -> None:
        """Take hold of a border between panes."""
        if event.button == 1 and self.sizes.grab(event.screen_x, event.screen_y):
            self.capture_mouse()

    def on_mouse_move(self, event: MouseMove) -> None:
        """Move the border that is held."""
        if self.sizes.is_held:
            self.sizes.drag(event.screen_x, event.screen_y)

    async def on_mouse_up(self) -> None:
        """Let go of the border, and remember where."""
        if self.sizes.drop():
            self.release_mouse()
            await self.run_action("part('resizing', 'keep')")

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """Tell the style sheet and the footer which pane has the focus."""
        pane = self.pane()
        if not self.has_class(f"-at-{pane}"):
            self._mark({f"-at-{name}": name == pane for name in PANES})
            self.sizes.apply()
        if self.is_zoomed and not self.has_class(f"-zoom-{pane}") and not self._is_below_zoomed(pane):
            self._zoom(pane)  # a pane with the focus is never hidden
        self.show_keys()

    def _is_below_zoomed(self, pane: str) -> bool:
        return pane == "composer" and self.has_class("-zoom-conversation")

    def situation(self) -> Situation:
        """Return what decides which commands can act now."""
        return situation_of(self.session, has_row=self.threads.cursor_key is not None or self.is_streamed)

    def show_keys(self) -> None:
        """Name in the footer the keys of the focused pane, as far as they can act now."""
        session = self.session
        if self._search_bar is not None and self.focused is self._search_bar:
            self.footer.keys = self._search_bar.keys
            return
        self.footer.keys = footer_keys(self.pane(), session.keymap, session.why_not, self.situation())

    def on_input_changed(self) -> None:
        """Clear the footer's notice while the person types."""
        self.footer.notice = ""

    def on_text_area_changed(self) -> None:
        """Clear the footer's notice while the person types."""
        self.footer.notice = ""
