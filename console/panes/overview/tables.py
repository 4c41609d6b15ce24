"""The tables of the overview: a line of headings over a list, in one frame."""

from __future__ import annotations

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.strip import Strip
from textual.widget import Widget

from console.overview.model import ChannelLine, OverviewModel, hot_symbol
from console.panes.list_rows import layout_line
from console.panes.overview.agents import AgentRows
from console.panes.overview.table_rows import Cell, Column, TableRows, pieces
from console.render.short_text import count
from console.widgets.charts import grouped, sparkline
from console.widgets.line_view import Titled
from console.widgets.rows import RowStyle
from console.widgets.virtual_list import VirtualList
from console.words.styles import TextStyles


class _Heading(Widget):
    """The line above a list: as wide as the list's rows."""

    def __init__(self, table: _Table) -> None:
        super().__init__()
        self._table = table

    def render_line(self, y: int) -> Strip:
        """Render the line."""
        width = self._table.rows.scrollable_content_region.width
        line = self._table.heading(width) if y == 0 and width else Strip([])
        return line.adjust_cell_length(self.size.width, self.rich_style)


class _Table(Titled, Vertical):
    """A frame with headings and rows; its captions are in its border."""

    def __init__(self, styles: TextStyles, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.text_styles = styles
        self.model: OverviewModel | None = None

    def compose(self) -> ComposeResult:
        yield _Heading(self)
        yield VirtualList(id=f"{self.id}-rows")

    @property
    def rows(self) -> VirtualList:
        """The list."""
        return self.query_one(VirtualList)

    def show(self, model: OverviewModel) -> None:
        """Show another picture; the cursor stays on its row."""
        self.model = model
        self.rows.placeholder = self.placeholder()
        self.fill(model)
        self.query_one(_Heading).refresh()

    def scale(self) -> str:
        """Return what the heights of the lines mean, for the title."""
        source, width = self.rows.source, self.rows.scrollable_content_region.width
        return source.scale(width) if isinstance(source, TableRows) and width else ""

    def placeholder(self) -> tuple[str, ...]:
        """Return what is shown if there are no rows."""
        raise NotImplementedError

    def fill(self, model: OverviewModel) -> None:
        """Give the list its rows."""
        raise NotImplementedError

    def heading(self, width: int) -> Strip:
        """Return the line of headings."""
        source = self.rows.source
        return source.heading(width, self.rich_style) if isinstance(source, TableRows) else Strip([])


class AgentPane(_Table):
    """All agents, the busiest first."""

    def placeholder(self) -> tuple[str, ...]:
        return ("No agents, and no messages in this time.",)

    def fill(self, model: OverviewModel) -> None:
        self.rows.set_source(AgentRows(model, self.text_styles))


class ChannelPane(_Table):
    """All channels, the busiest first."""

    def placeholder(self) -> tuple[str, ...]:
        return ("No channels.",)

    def fill(self, model: OverviewModel) -> None:
        self.rows.set_source(ChannelRows(model, self.text_styles))


def _columns(model: OverviewModel) -> list[Column]:
    longest = max((cell_len(model.label(channel.key)) for channel in model.channels), default=8)
    return [
        Column("hot", "", 1),
        Column("name", "channel", 12, grows=2, most=max(12, min(30, longest)), is_left=True),
        Column("sent", "sent", 8, grows=3, most=max(8, min(48, model.bars.number))),
        Column("number", "", 5),
        Column("senders", "senders", 7, 1),
        Column("new", "new to you", 10, 2),
    ]


class ChannelRows(TableRows[ChannelLine]):
    """The channels as a source for the virtual list."""

    def __init__(self, model: OverviewModel, styles: TextStyles) -> None:
        super().__init__(model.channels, _columns(model), model, styles)

    def render(self, index: int, width: int, style: RowStyle) -> list[Strip]:
        line, styles, columns = self.rows[index], self._styles, self.columns(width)
        room = next(column.width for column in columns if column.key == "sent")
        number = sum(line.sent)
        hot = hot_symbol(line.hot) if line.hot is not None else None
        tone = styles.text if number else styles.muted
        cells = {
            "name": Cell(self._model.label(line.key), tone),
            "hot": Cell(hot.glyph, getattr(styles, hot.colour)) if hot is not None else Cell("", tone),
            "sent": Cell(sparkline(line.sent, room, self._top_of(room)), styles.accent),
            "number": Cell(count(number) if number else "·", tone),
            "senders": Cell(count(line.senders) if line.senders else "·", tone),
            "new": Cell(count(line.unseen), styles.strong) if line.unseen else Cell("·", styles.muted),
        }
        return [layout_line(pieces(columns, cells, styles.text), [], width, style.base)]

    def _largest(self, width: int) -> int:
        return max((max(grouped(row.sent, width), default=0) for row in self.rows), default=0)
