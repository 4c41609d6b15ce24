"""The table of channels: the messages to each over time, and how many write there."""

from __future__ import annotations

from math import ceil

from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

from console.overview.lengths import scale_line
from console.overview.model import ChannelLine, OverviewModel, hot_symbol
from console.panes.overview.columns import Cell, Column, fitted, heading, pieces
from console.panes.row_layout import layout_line
from console.render.short_text import count
from console.styles import TextStyles
from console.widgets.rows import KeyedRows, RowStyle
from console.widgets.sparkline import grouped, sparkline

__all__ = ["ChannelRows"]


def _columns(model: OverviewModel, width: int) -> list[Column]:
    longest = max((cell_len(model.label(it.key)) for it in model.channels), default=8)
    return fitted(
        (
            Column("hot", "", 1),
            Column("name", "channel", 12, grows=2, most=max(12, min(30, longest)), is_left=True),
            Column("sent", "sent", 8, grows=3, most=max(8, min(48, model.bars.number))),
            Column("number", "", 5),
            Column("senders", "senders", 7, 1),
            Column("new", "new to you", 10, 2),
        ),
        width,
    )


class ChannelRows(KeyedRows[ChannelLine]):
    """The channels as a source for the virtual list."""

    row_height = 1

    def __init__(self, model: OverviewModel, styles: TextStyles) -> None:
        super().__init__(model.channels)
        self._model = model
        self._styles = styles
        self._tops: dict[int, int] = {}
        self._fitted: dict[int, list[Column]] = {}

    def selectable(self, index: int) -> bool:
        return True

    def content(self, index: int) -> object:
        return self  # all lines have one scale: another picture draws every row again

    def columns(self, width: int) -> list[Column]:
        """Return the columns that fit into a width."""
        if width not in self._fitted:
            self._fitted[width] = _columns(self._model, width)
        return self._fitted[width]

    def heading(self, width: int, base: Style) -> Strip:
        """Return the line above the table."""
        return layout_line(heading(self.columns(width), self._styles.muted), [], width, base)

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

    def _top_of(self, width: int) -> int:
        """Return the largest number in any cell of lines of a width: all lines have one scale."""
        if width not in self._tops:
            self._tops[width] = max((max(grouped(it.sent, width), default=0) for it in self.rows), default=0)
        return self._tops[width]

    def scale(self, width: int) -> str:
        """Return what the heights of the lines mean."""
        room = next(it.width for it in self.columns(width) if it.key == "sent")
        bars = self._model.bars
        return scale_line(self._top_of(room), ceil(bars.number / room) * bars.length)
