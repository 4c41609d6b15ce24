"""Lay out the main screen: its panes, their sizes, which of them has the focus, and moving the cursor in it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.css.query import NoMatches
from textual.events import DescendantFocus, MouseDown, MouseMove, Resize
from textual.geometry import Region
from textual.reactive import Reactive
from textual.strip import Strip
from textual.widget import Widget

from console.commands.command import Situation
from console.panes.footer import footer_keys
from console.panes.header import Header
from console.panes.sidebar import Sidebar
from console.panes.thread_rows import ThreadListPane
from console.screens.base_screen import BaseScreen, bindings, situation_of
from console.screens.counting import Move
from console.screens.location import ScreenLocation
from console.session import Session
from console.widgets.line_view import LineView
from console.words.styles import TextStyles

if TYPE_CHECKING:
    from rich.console import RenderableType

    from console.panes.composer import Composer
    from console.panes.reader import ReadingPane
    from console.panes.search_bar import SearchBar, SearchProblem


class Backdrop(Widget):
    """A container with a plain background: one blank line is drawn once and used for all."""

    def render(self) -> RenderableType:
        """Render nothing: Textual would show the widget's name."""
        return ""

    def render_lines(self, crop: Region) -> list[Strip]:
        """Render the background behind the panes: Textual asks for it although it is covered."""
        return super().render_lines(Region(crop.x, crop.y, crop.width, 1)) * crop.height


PANES = ("sidebar", "threads", "conversation", "composer")
RESTYLED = "#sidebar, #middle, #right, #conversation, #composer"
"""What looks different for the pane that has the focus, or the whole screen."""
REMEMBERED = "panes"
"""What the sizes are remembered under."""
LEAST = {"sidebar": 16, "list": 30, "right": 34, "composer": 7}
"""Cells that a pane keeps, and lines that the composer keeps."""
USUAL = {
    "sidebar": 26,
    "sidebar-medium": 28,
    "sidebar-huge": 40,
    "list": 3 / 7,
    "list-medium": 5 / 11,
    "composer": 12,
    "composer-low": 10,
}
"""What the style sheet says, which keys and drags start from."""
MEDIUM, WIDE, HUGE = 70, 100, 160
"""Cells from which on two columns are shown, three, and three that have sizes of their own."""
LOW = 30
PLACE = "-place"
"""The class of the composer below a stream, which has one size."""


class Layout(BaseScreen[None], Backdrop):
    """Three columns between a header and a footer.

    The third column is empty in the first frame, in which the cursor can be moved already; `add_…` fills it.
    """

    # what the focus changes is painted by what it changes: Textual would paint the whole screen
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)

    AUTO_FOCUS: ClassVar[str | None] = "#threads"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings()]

    def __init__(self, session: Session, styles: TextStyles, location: ScreenLocation) -> None:
        super().__init__(session, styles)
        self.location = location
        """Where you are in the mail."""
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
        try:
            return self.query_one("#header", Header)  # which Textual remembers: it is asked for at every drawing
        except NoMatches:
            return None

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
        """Whether the user sees this screen, as far as the terminal reports it."""
        return self.is_current and self.app.app_focus

    def pane(self) -> str:
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

    def move(self, how: Move) -> None:
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

    def _mark(self, classes: dict[str, bool], restyled: str = RESTYLED) -> None:
        """Set classes of the screen that concern panes, and restyle those only: the whole screen takes a frame."""
        self.update_classes(classes, update=False)
        if restyled:
            self.app.stylesheet.update_nodes(self.query(restyled))

    @property
    def is_zoomed(self) -> bool:
        """Whether one pane has the whole screen."""
        return self.has_class("-zoomed")

    @property
    def is_narrow(self) -> bool:
        """Whether there is room for one column only."""
        return self.has_class("-narrow")

    @property
    def _shows_all(self) -> bool:
        """Whether all columns are shown, whichever has the focus."""
        return not (self.is_zoomed or self.is_narrow or self.has_class("-medium"))

    def on_resize(self, event: Resize) -> None:
        """Show as many columns as fit: three, two below 100 cells, one below 70."""
        width = event.size.width
        classes = {"-huge": width >= HUGE, "-medium": MEDIUM <= width < WIDE, "-narrow": width < MEDIUM}
        self.update_classes({**classes, "-low": event.size.height < LOW})
        self.sizes.apply()

    def panes_by_name(self) -> dict[str, Widget]:
        """Return the widgets whose sizes can be changed."""
        panes: dict[str, Widget] = {name: self.query_one(f"#{name}") for name in ("sidebar", "middle", "right")}
        return panes if self._composer is None else {**panes, "composer": self._composer}

    def on_mouse_down(self, event: MouseDown) -> None:
        """Take hold of a border between panes."""
        if event.button == 1 and self.sizes.grab(event.screen_x, event.screen_y):
            self.capture_mouse()

    def on_mouse_move(self, event: MouseMove) -> None:
        """Move the border that is held."""
        if self.sizes.is_held:
            self.sizes.drag(event.screen_x, event.screen_y)

    def on_mouse_up(self) -> None:
        """Let go of the border, and remember where."""
        if self.sizes.drop():
            self.release_mouse()
            self.run_task(asyncio.to_thread(self.sizes.save), group="panes")

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """Tell the style sheet and the footer which pane has the focus."""
        pane = self.pane()
        if not self.has_class(f"-at-{pane}"):
            of_composer = pane == "composer" or self.has_class("-at-composer")
            restyled = RESTYLED if not self._shows_all else "#composer" if of_composer else ""
            self._mark({f"-at-{name}": name == pane for name in PANES}, restyled)
            self.sizes.apply()
        if self.is_zoomed and not self.has_class(f"-zoom-{pane}") and not self._is_below_zoomed(pane):
            self._zoom(pane)  # a pane with the focus is never hidden
        self.show_keys()

    def _is_below_zoomed(self, pane: str) -> bool:
        return pane == "composer" and self.has_class("-zoom-conversation")

    def situation(self) -> Situation:
        return situation_of(self.session, has_row=self.threads.cursor_key is not None or self.is_streamed)

    def show_keys(self) -> None:
        """Name in the footer the keys of the focused pane, as far as they can act now."""
        session = self.session
        if self._search_bar is not None and self.focused is self._search_bar:
            self.footer.keys = self._search_bar.keys
            return
        self.footer.keys = footer_keys(self.pane(), session.keymap, session.why_not, self.situation())

    def on_input_changed(self) -> None:
        """Clear the footer's notice while the user types."""
        self.footer.notice = ""

    def on_text_area_changed(self) -> None:
        """Clear the footer's notice while the user types."""
        self.footer.notice = ""


class PaneSizes:
    """Gives the panes their sizes; changes them by keys and by dragging a border."""

    def __init__(self, screen: Layout) -> None:
        self._screen = screen
        self._applied: dict[str, int | None] = {}
        self._grabbed = ""

    # What is remembered

    def _kept(self, name: str) -> float | None:
        kept = self._screen.session.personal.recall(REMEMBERED)
        value = kept.get(self._key(name)) if isinstance(kept, dict) else None
        return value if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else None

    def _keep(self, name: str, value: float | None) -> None:
        personal = self._screen.session.personal
        kept = personal.recall(REMEMBERED)
        sizes = {**kept} if isinstance(kept, dict) else {}
        sizes.pop(self._key(name), None)
        personal.remember(REMEMBERED, sizes if value is None else {**sizes, self._key(name): value})

    def _key(self, name: str) -> str:
        width, height = self._screen.size
        return f"{name}-{'low' if height < LOW else 'tall'}" if name == "composer" else f"{name}-{width_class(width)}"

    def save(self) -> None:
        """Save the sizes; blocks."""
        self._screen.session.personal.save_remembered(REMEMBERED)

    # Sizes in cells

    @property
    def _is_medium(self) -> bool:
        return width_class(self._screen.size.width) == "medium"

    def _room(self, name: str) -> int:
        """Return how many cells a pane and its neighbour beside or above it have together."""
        width, height = self._screen.size
        if name == "composer":
            return height - 2
        return width if name == "sidebar" or self._is_medium else width - self.now("sidebar")

    def now(self, name: str) -> int:
        """Return the size of the sidebar, the list or the composer."""
        kept, room = self._kept(name), self._room(name)
        if kept is None:
            variant = "low" if name == "composer" and self._screen.size.height < LOW else ""
            variant = width_class(self._screen.size.width) if name != "composer" else variant
            kept = USUAL.get(f"{name}-{variant}", USUAL[name])
        return fitted(name, kept * room if name == "list" else kept, room)

    def set(self, name: str, cells: int) -> bool:
        """Change a size as far as is usable; return whether it did change."""
        before, room = self.now(name), self._room(name)
        after = fitted(name, cells, room)
        if after == before:
            return False
        self._keep(name, after / room if name == "list" else after)
        self.apply()
        return True

    def apply(self) -> None:
        """Give the panes their sizes; where the user chose none, the style sheet says them."""
        screen = self._screen
        names = set() if screen.is_zoomed else {"composer"}
        if not screen.is_zoomed and width_class(screen.size.width):
            both = {"sidebar"} if screen.pane() == "sidebar" else {"list"}
            names |= both if self._is_medium else {"sidebar", "list"}
        panes = screen.panes_by_name()
        if "composer" in panes and panes["composer"].has_class(PLACE):
            names.discard("composer")
        for name, widget in (("sidebar", "sidebar"), ("list", "middle"), ("composer", "composer")):
            if widget not in panes:
                continue
            is_chosen = name in names and (self._kept(name) is not None or (name == "list" and self._is_list_bound()))
            cells = self.now(name) if is_chosen else None
            if self._applied.get(name) != cells:
                self._applied[name] = cells
                setattr(panes[widget].styles, "height" if name == "composer" else "width", cells)

    def _is_list_bound(self) -> bool:
        """Say whether the list keeps its share because the sidebar was changed."""
        return not self._is_medium and self._kept("sidebar") is not None

    # Keys

    def resize(self, cells: int) -> bool:
        """Make the focused pane wider by so many cells (negative: narrower); return whether that was possible."""
        if self._screen.is_zoomed or not width_class(self._screen.size.width):
            return False
        pane = self._screen.pane()
        if pane == "sidebar":
            return self.set("sidebar", self.now("sidebar") + cells)
        return self.set("list", self.now("list") + (cells if pane == "threads" else -cells))

    def reset(self) -> bool:
        """Restore the usual sizes on a screen like this; return whether they were others."""
        names = [name for name in ("sidebar", "list", "composer") if self._kept(name) is not None]
        for name in names:
            self._keep(name, None)
        self.apply()
        return bool(names)

    # Mouse

    def grab(self, x: int, y: int) -> bool:
        """Take hold of the border at a cell; return whether there is one."""
        self._grabbed = "" if self._screen.is_zoomed else self._border_at(x, y)
        return bool(self._grabbed)

    def _border_at(self, x: int, y: int) -> str:
        shown = {name: value for name, value in self._screen.panes_by_name().items() if value.display and value.region}
        panes = {name: value.region for name, value in shown.items()}
        composer = Region() if "composer" not in shown or shown["composer"].has_class(PLACE) else panes["composer"]
        if composer and y in (composer.y - 1, composer.y) and composer.x < x < composer.right - 1:
            return "composer"
        for name, widget, beside in (("sidebar", "sidebar", "middle"), ("list", "middle", "right")):
            left = panes.get(widget, Region())
            if left and beside in panes and x in (left.right - 1, left.right) and left.y <= y < left.bottom:
                return name
        return ""

    def drag(self, x: int, y: int) -> None:
        """Move the border that was taken to a cell."""
        panes = self._screen.panes_by_name()
        if self._grabbed == "composer":
            self.set("composer", panes["composer"].region.bottom - y)
        elif self._grabbed:
            widget = panes["sidebar" if self._grabbed == "sidebar" else "middle"]
            self.set(self._grabbed, x + 1 - widget.region.x)

    def drop(self) -> bool:
        """Let go of the border; return whether one was held."""
        was_held, self._grabbed = bool(self._grabbed), ""
        return was_held

    @property
    def is_held(self) -> bool:
        """Whether a border is being dragged."""
        return bool(self._grabbed)


def width_class(width: int) -> str:
    """Return under which name the widths for a screen are kept: sizes at 80 cells say nothing of those at 200."""
    return "" if width < MEDIUM else "medium" if width < WIDE else "wide" if width < HUGE else "huge"


def fitted(name: str, wanted: float, room: int) -> int:
    """Return a size that leaves what is beside it usable; `room` is what both have together."""
    beside = {"sidebar": LEAST["list"] + LEAST["right"], "list": LEAST["right"], "composer": LEAST["composer"]}[name]
    if name == "sidebar" and room < WIDE:  # only the list is beside it
        beside = LEAST["list"]
    return max(LEAST[name], min(round(wanted), room - beside))
