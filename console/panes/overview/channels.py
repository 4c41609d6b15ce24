"""The table of channels: the messages to each over time, and how many write there."""

from __future__ import annotations

from rich.cells import cell_len
from textual.strip import Strip

from console.overview.model import ChannelLine, OverviewModel, hot_symbol
from console.panes.overview.columns import Cell, Column, pieces
from console.panes.overview.table_rows import TableRows
from console.panes.row_layout import layout_line
from console.render.short_text import count
from console.styles import TextStyles
from console.widgets.rows import RowStyle
from console.widgets.sparkline import grouped, sparkline


def _columns(model: OverviewModel) -> list[Column]:
    longest = max((cell_len(model.label(it.key)) for it in model.channels), default=8)
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
        room = next(it.width for it in columns if it.key == "sent")
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
        return max((max(grouped(it.sent, width), default=0) for it in self.rows), default=0)
