"""Show the fleet at a glance: its heartbeat, who sends and reads, the channels, and who writes to whom."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal
from textual.events import DescendantFocus, Resize
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget

from console.commands.command import Situation
from console.overview.model import OverviewModel
from console.overview.words import totals
from console.panes.footer import footer_keys
from console.panes.header import Header, headline
from console.panes.overview.heartbeat import Heartbeat
from console.panes.overview.matrix import MatrixPane
from console.panes.overview.span_bar import SpanBar
from console.panes.overview.tables import AgentPane, ChannelPane
from console.panes.titles import as_title
from console.screens.base_screen import Action, BaseScreen, bindings, situation_of
from console.screens.counting import Move
from console.screens.overview.cells import OverviewCells
from console.screens.overview.computing import OverviewWork
from console.screens.overview.place import SECTIONS, Departure, OverviewPlace
from console.screens.pages import show_help
from console.screens.undoing import Undoing
from console.session import Session
from console.widgets.virtual_list import VirtualList
from console.words.styles import TextStyles
from mailstore.overview.bars import MOST_BARS, SPANS

NAME = "overview"
SECONDS = 1.0
LEAST_BARS, AROUND_BARS = 24, 8
MOVES: dict[Move, int] = {
    "cursor_down": 1,
    "cursor_up": -1,
    "page_down": 5,
    "page_up": -5,
    "half_page_down": 3,
    "half_page_up": -3,
    "first": -(10**6),
    "last": 10**6,
}
WIDE, TALL = 100, 30
"""From this size on all sections are shown; on smaller screens one at a time."""
LOW = 20
"""From so many lines on the heartbeat is shown above each of the others."""
AROUND = 3
"""The lines above and below the sections."""
HEARTBEAT, LOW_HEARTBEAT, MOST_HEARTBEAT = 9, 8, 16
TABLE_AROUND, MATRIX_AROUND = 3, 5
LEAST_BELOW = 10


class Overview(BaseScreen[Departure | None]):
    """The fleet's traffic over a span of time; enter opens the threads behind a cell."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(frozenset({NAME}))]

    def __init__(self, session: Session, styles: TextStyles, place: OverviewPlace) -> None:
        super().__init__(session, styles)
        self._place = place
        self._undoing = Undoing(self)
        self._work = OverviewWork(session)
        self._model = place.model if place.moment == session.moment else None
        self._is_shown = False
        self._arranged: Size | None = None

    def compose(self) -> ComposeResult:
        yield Header(self.text_styles, id="header")
        yield SpanBar(self.text_styles, id="spans")
        with Container(id="picture"):
            yield Heartbeat(self.text_styles, id="heartbeat")
            yield AgentPane(self.text_styles, id="agents")
            with Horizontal(id="lower"):
                yield ChannelPane(self.text_styles, id="channels")
                yield MatrixPane(self.text_styles, id="matrix")
        yield self.new_footer()

    def on_mount(self) -> None:
        """Show the last picture, and compute a new one."""
        self._is_shown, self._arranged = True, self.app.size
        self.heartbeat.brush, self.matrix.place = self._place.brush, self._place.pair
        for table, key in ((self.agents, self._place.agent), (self.channels, self._place.channel)):
            table.rows.cursor_key = key
        self.set_interval(SECONDS, self.redraw)
        self._arrange()
        self.redraw()
        self._focus(self._place.section)

    def pane(self) -> str:
        return NAME

    def situation(self) -> Situation:
        return situation_of(self.session, has_row=True)

    # The sections

    @property
    def heartbeat(self) -> Heartbeat:
        return self.query_one(Heartbeat)

    @property
    def agents(self) -> AgentPane:
        return self.query_one(AgentPane)

    @property
    def channels(self) -> ChannelPane:
        return self.query_one(ChannelPane)

    @property
    def matrix(self) -> MatrixPane:
        return self.query_one(MatrixPane)

    def _focus(self, section: str) -> None:
        self._place.section = section
        self._arrange()
        target: Widget = self.query_one(f"#{section}")
        self.set_focus(target.rows if isinstance(target, (AgentPane, ChannelPane)) else target)
        self._tell_cells()

    def _arrange(self) -> None:
        """Show all sections, or as many as fit beside the one with the focus."""
        arrange(self, self._place.section, self._model)

    def on_resize(self, event: Resize) -> None:
        """Show as many sections as fit, and as many bars."""
        if event.size != self._arranged:
            self._arranged = event.size
            self._arrange()
            self.redraw()

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """Remember the section that was clicked."""
        at: Widget | None = event.widget
        while at is not None and at.id not in SECTIONS:
            at = at.parent if isinstance(at.parent, Widget) else None
        if at is not None and at.id is not None and at.id != self._place.section:
            self._place.section = at.id
        self._tell_cells()

    # The picture

    def redraw(self) -> None:
        """Draw what is known; compute again if it is time."""
        if not self._is_shown:
            return
        self.query_one(Header).headline = headline(self.session)
        if self._work.is_due(self._place.span, self._most_bars()):
            self.run_task(self._compute(), group="overview", exclusive=True)
        self._show()

    def _most_bars(self) -> int:
        """Return how many bars there is room for; few on a narrow screen, so that each has its column."""
        return max(LEAST_BARS, min(MOST_BARS, self.app.size.width - AROUND_BARS))

    async def _compute(self) -> None:
        async for model in self._work.run(self._place.span, self._most_bars()):
            self._model = self._place.model = model
            self._place.moment = self.session.moment
            self._show()

    def _show(self) -> None:
        model = self._model
        if model is None:
            self.query_one(SpanBar).show(self._place.span, "computing…")
            return
        self.query_one(SpanBar).show(self._place.span, totals(model))
        self._arrange()
        for pane in (self.heartbeat, self.agents, self.channels, self.matrix):
            pane.show(model)
        self.footer.keys = footer_keys(NAME, self.session.keymap, self.session.why_not, self.situation())
        self._tell_cells()

    def _cells(self, model: OverviewModel) -> OverviewCells:
        return OverviewCells(model, self.heartbeat, self.agents, self.channels, self.matrix)

    def _tell_cells(self) -> None:
        """Say in the frame of each section what is at its cursor."""
        model = self._model
        if model is None:
            return
        cells = self._cells(model)
        titles, words = cells.titles(), {name: cells.words(name) for name in SECTIONS}
        for name in SECTIONS:
            pane = self.query_one(f"#{name}")
            assert isinstance(pane, (Heartbeat, AgentPane, ChannelPane, MatrixPane))
            pane.set_titles(as_title(titles[name]), as_title(words[name]))

    # Keys

    def actions(self) -> Mapping[str, Action]:
        return {
            **super().actions(),
            "help": partial(show_help, self),
            "back": self.back,
            "overview.open": self.enter,
            "overview.section": partial(self.next_section, 1),
            "overview.section-back": partial(self.next_section, -1),
            "overview.heartbeat": partial(self._focus, "heartbeat"),
            "overview.agents": partial(self._focus, "agents"),
            "overview.channels": partial(self._focus, "channels"),
            "overview.matrix": partial(self._focus, "matrix"),
            "overview.left": partial(self.go_side, -1),
            "overview.right": partial(self.go_side, 1),
            "overview.extend-left": partial(self.extend, -1),
            "overview.extend-right": partial(self.extend, 1),
            "overview.range": self.toggle_range,
            "overview.shorter": partial(self.change_span, -1),
            "overview.longer": partial(self.change_span, 1),
            "overview.travel": self.travel,
            "overview.close": partial(self._leave, None),
            "agent.status": self.choose_status,
            "undo": self._undoing.undo,
            "redo": self._undoing.redo,
        }

    def choose_status(self) -> None:
        """Ask what to do with the agent at the cursor of the agents; with all together, if there is none."""
        from console.screens.agent_status import AgentStatus

        name = (self.agents.rows.cursor_key or "") if self._place.section == "agents" else ""
        AgentStatus(self).choose(name if self.session.mailbox.roster.get(name) is not None else "")

    def move(self, how: Move) -> None:
        match self._place.section:
            case "heartbeat":
                self.heartbeat.move(
                    {"first": -(10**6), "last": 10**6}.get(how, -MOVES[how] if abs(MOVES[how]) > 1 else 0)
                )
            case "matrix":
                self.matrix.move(MOVES[how], 0)
            case "agents":
                self.move_in(self.agents.rows, how)
            case _:
                self.move_in(self.channels.rows, how)

    def go_side(self, step: int) -> None:
        """Move the cursor to the left or to the right."""
        if self._place.section == "heartbeat":
            self.heartbeat.move(step)
        elif self._place.section == "matrix":
            self.matrix.move(0, step)

    def extend(self, step: int) -> None:
        """Extend the brush."""
        if self._place.section == "heartbeat":
            self.heartbeat.move(step, is_extending=True)

    def toggle_range(self) -> None:
        """Begin or end a range of bars."""
        self._focus("heartbeat")
        self.heartbeat.toggle_range()

    def next_section(self, step: int) -> None:
        """Go to the next section."""
        self._focus(SECTIONS[(SECTIONS.index(self._place.section) + step) % len(SECTIONS)])

    def change_span(self, step: int) -> None:
        """Show a longer span of time, or a shorter one."""
        at = SPANS.index(self._place.span) + step
        if 0 <= at < len(SPANS):
            self._choose(SPANS[at])
        else:
            self.tell("This is the longest span" if step > 0 else "This is the shortest span")

    def _choose(self, span: str) -> None:
        self._place.span = span
        self.redraw()

    def enter(self) -> None:
        """List the threads behind the cell at the cursor."""
        model = self._model
        if model is None:
            return
        if query := self._cells(model).query(self._place.section):
            self._leave(Departure(query))

    def travel(self) -> None:
        """Show the mailbox as it was at the end of the brush; from the past, go back to live."""
        if self.session.moment is not None:
            self._leave(Departure(moment=None))
        elif self._model is not None:
            _, last = self.heartbeat.selection
            bars = self._model.bars
            if last >= bars.number - 1:
                self._focus("heartbeat")
                self.tell("Choose an earlier bar: left and right move, T goes there")
            else:
                self._leave(Departure(moment=bars.edge(last + 1)))

    def _leave(self, departure: Departure | None) -> None:
        place = self._place
        place.brush, place.pair = self.heartbeat.brush, self.matrix.place
        place.agent, place.channel = self.agents.rows.cursor_key, self.channels.rows.cursor_key
        self.dismiss(departure)

    def back(self) -> None:
        """Give up a range, else go back to the mail."""
        if not self.heartbeat.clear_range():
            self._leave(None)

    # The mouse, and what the panes say

    @on(SpanBar.Chosen)
    def _span_chosen(self, event: SpanBar.Chosen) -> None:
        self._choose(event.span)

    @on(Heartbeat.Moved)
    def _brush_moved(self, event: Heartbeat.Moved) -> None:
        self._cell_moved(is_chosen=event.is_chosen)

    @on(MatrixPane.Moved)
    def _matrix_moved(self, event: MatrixPane.Moved) -> None:
        self._cell_moved(is_chosen=event.is_chosen)

    def _cell_moved(self, *, is_chosen: bool) -> None:
        if is_chosen:
            self.enter()
        else:
            self._tell_cells()

    @on(VirtualList.Highlighted)
    def _row_highlighted(self) -> None:
        self._tell_cells()

    @on(VirtualList.Chosen)
    def _row_chosen(self) -> None:
        self.enter()


def arrange(screen: Screen[Any], section: str, model: OverviewModel | None) -> None:
    """Show all sections, or as many as fit beside one of them, and give each the lines that it has a use for."""
    width, height = screen.app.size  # the screen's own is not known before its first layout
    is_whole = width >= WIDE and height >= TALL
    below = section if section != "heartbeat" else "agents"
    for name in SECTIONS:
        is_on = is_whole or name == section or (height >= LOW and name in ("heartbeat", below))
        screen.query_one(f"#{name}").display = is_on
    screen.query_one("#lower").display = is_whole or section in ("channels", "matrix")
    heartbeat, agents = screen.query_one("#heartbeat").styles, screen.query_one("#agents").styles
    if not is_whole:
        heartbeat.height = "1fr" if height < LOW else LOW_HEARTBEAT
        agents.height = "1fr"
        return
    heartbeat.height, agents.height = _shares(height - AROUND, model)


def _shares(height: int, model: OverviewModel | None) -> tuple[int, int]:
    """Return the heights of the heartbeat and of the table of agents; the rest is for channels and the matrix."""
    rows = channels = senders = 0
    if model is not None:
        rows, channels = len(model.agents), len(model.channels)
        senders = len(model.pairs)
    wanted = max(senders + MATRIX_AROUND, channels + TABLE_AROUND, LEAST_BELOW)
    lower = min(wanted, max(LEAST_BELOW, (height - HEARTBEAT) * 2 // 5))
    table = min(max(rows, 3) + TABLE_AROUND, height - HEARTBEAT - lower)
    return min(MOST_HEARTBEAT, max(HEARTBEAT, height - table - lower)), table
