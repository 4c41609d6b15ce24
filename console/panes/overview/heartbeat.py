"""Messages over time as a histogram with a brush; hot spots are marked below the bars in which they began."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from math import ceil, floor
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.events import Click
from textual.message import Message
from textual.strip import Strip

from console.overview.model import OverviewModel, hot_symbol
from console.panes.overview.brush import Brush
from console.panes.overview.picture import Picture
from console.widgets.charts import axis_labels, bar_rows, grouped, gutter, round_top
from console.widgets.line_view import blank
from console.words.styles import TextStyles
from mailstore.overview.bars import TimeBars
from mailstore.overview.standing import HotSpot

LOW = 4
"""With fewer lines the scale is left out: one line of bars, and the time."""
HOUR, DAY = 3600, 86400
STEPS = (300, 600, 1800, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, *(DAY * days for days in (1, 2, 7, 14, 28, 91, 182, 364)))
MONDAY = 4 * DAY
"""Weeks begin so long after the epoch."""
APART, WIDER_APART = 8, 10
"""The least number of cells from one label to the next: of times and days, and of months."""


class _Columns(NamedTuple):
    """How bars become columns: how many of each, cells to a column, cells left of the first, scale and numbers."""

    bars: int
    size: int
    wide: int
    left: int
    scale: tuple[str, ...]
    values: list[int]

    def first(self, column: int) -> int:
        """Return the first bar of a column; bars are added up from the newest, so the first column may have fewer."""
        return self.bars - (len(self.values) - column) * self.size

    def column(self, bar: int) -> int:
        """Return the column of a bar."""
        return len(self.values) - 1 - (self.bars - 1 - bar) // self.size


class Heartbeat(Picture):
    """The fleet's messages by time; the brush is one bar or a range of bars."""

    class Moved(Message):
        """The brush was moved, or a bar was chosen."""

        def __init__(self, sender: Heartbeat, *, is_chosen: bool = False) -> None:
            super().__init__()
            self.heartbeat = sender
            self.is_chosen = is_chosen

    def __init__(self, styles: TextStyles, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.text_styles = styles
        self.model: OverviewModel | None = None
        self.brush = Brush()

    def show(self, model: OverviewModel) -> None:
        """Show another picture; the brush stays at its time."""
        self.model = model
        self.brush = self.brush.within(model.bars)
        self.repaint()

    @property
    def selection(self) -> tuple[int, int]:
        """Return the first and the last bar of the columns that the brush covers."""
        if self.model is None:
            return 0, 0
        layout, (first, last) = self._layout(), self.brush.bars(self.model.bars)
        return max(0, layout.first(layout.column(first))), layout.first(layout.column(last)) + layout.size - 1

    def _layout(self) -> _Columns:
        """Return how the bars are spread over the cells; if they are too many, several are added up in a column."""
        assert self.model is not None
        width, height = self.scrollable_content_region.size
        sent, left = self.model.picture.sent, 0
        scale: tuple[str, ...] = ("",) * max(1, height)
        values = grouped(sent, max(1, width))
        if height >= LOW:
            for _ in range(3):  # a wider scale leaves less room, and what is added up needs a wider scale
                values = grouped(sent, max(1, width - left))
                scale = tuple(gutter(height - 3, round_top(max(values, default=0))))
                if len(scale[0]) <= left:
                    break
                left = len(scale[0])
            scale = tuple(line.rjust(left) for line in scale)
        wide = max(1, (width - left) // max(1, len(values)))
        return _Columns(len(sent), ceil(len(sent) / max(1, len(values))), wide, left, scale, values)

    def move(self, step: int, *, is_extending: bool = False) -> None:
        """Move the brush by a column, or its end if a range is being chosen."""
        if self.model is None:
            return
        self.brush = self.brush.moved(self.model.bars, step * self._layout().size, is_extending=is_extending)
        self._tell()

    def go_to(self, is_last: bool) -> None:
        """Move the brush to the first bar or the last."""
        if self.model is not None:
            self.move(self.model.bars.number * (1 if is_last else -1))

    def toggle_range(self) -> None:
        """Begin a range at the brush, or end it."""
        if self.model is not None:
            self.brush = self.brush.toggled(self.model.bars)
            self._tell()

    def clear_range(self) -> bool:
        """Shrink the brush to one bar; return whether it was a range."""
        was = self.brush.is_range
        if was:
            self.brush = self.brush.single()
            self._tell()
        return was

    def _tell(self) -> None:
        self.repaint()
        self.post_message(self.Moved(self))

    def on_click(self, event: Click) -> None:
        """Move the brush to the clicked bar, with shift extend it; a click at the brush chooses it."""
        offset = event.get_content_offset(self)
        if offset is None or self.model is None:
            return
        layout, before = self._layout(), self.brush
        column = (offset.x - layout.left) // layout.wide
        if offset.x < layout.left or column >= len(layout.values):
            return
        last = layout.first(column) + layout.size - 1
        was = before.bars(self.model.bars)
        self.brush = before.placed(self.model.bars, last, is_extending=event.shift)
        self._tell()
        if was == self.brush.bars(self.model.bars) and not event.shift:
            self.post_message(self.Moved(self, is_chosen=True))

    # Drawing

    def draw(self, width: int, height: int) -> list[Strip]:
        """Draw the bars, the axis with the brush, marks and times."""
        base, styles, model = self.component_style(), self.text_styles, self.model
        if model is None or not width or not height:
            return [blank(width, base)] * height
        layout = self._layout()
        first, last = (layout.column(bar) for bar in self.brush.bars(model.bars))
        shows_brush = self.has_focus or self.brush.is_range
        chosen = [shows_brush and first <= at <= last for at in range(len(layout.values))]
        tones = [styles.accent if it or not shows_brush else styles.muted for it in chosen]
        tall = height >= LOW
        rows = height - 3 if tall else max(1, height - 2)
        lines: list[list[Segment]] = []
        for at, row in enumerate(bar_rows(layout.values, rows, round_top(max(layout.values, default=0)))):
            cells = [Segment(char * layout.wide, base + tone) for char, tone in zip(row, tones, strict=True)]
            lines.append([Segment(layout.scale[at] if tall else "", base + styles.muted), *cells])
        if tall:
            axis = [
                Segment(("━" if it else "─") * layout.wide, base + (styles.accent if it else styles.muted))
                for it in chosen
            ]
            lines.append([Segment(layout.scale[-1], base + styles.muted), *axis])
        if height >= 2:
            lines.append([Segment(" " * layout.left, base), *self._marks(model, layout, base)])
        if height >= 3:
            lines.append([Segment(" " * layout.left + _times(model.bars, layout), base + styles.muted)])
        return [Strip(line).adjust_cell_length(width, base) for line in lines[:height]]

    def _marks(self, model: OverviewModel, layout: _Columns, base: Style) -> Iterator[Segment]:
        """Yield the hot spots, the most urgent of each column."""
        spots = model.standing.by_bar(model.bars) if model.standing is not None else {}
        columns: dict[int, HotSpot] = {}
        for bar, spot in spots.items():
            columns.setdefault(layout.column(bar), spot)
        for at in range(len(layout.values)):
            glyph, colour = hot_symbol(columns[at]) if at in columns else (" ", "text")
            yield Segment(glyph.ljust(layout.wide), base + getattr(self.text_styles, colour))


def _times(bars: TimeBars, layout: _Columns) -> str:
    """Return the line of times, each at its column."""
    marks = time_marks(bars.edge(layout.first(0)), layout.size * bars.length, len(layout.values), layout.wide)
    return axis_labels(marks, len(layout.values) * layout.wide)


def time_marks(start: float, length: float, columns: int, wide: int) -> list[tuple[int, str]]:
    """Return labels by the cell at which they begin, for columns of so many seconds and cells from a time on."""
    years = ceil(WIDER_APART * length / wide / STEPS[-1]) * STEPS[-1]
    step = next((it for it in STEPS if it * wide >= _apart(it) * length), years)
    offset = _offset(start) - (MONDAY if step >= 7 * DAY else 0)
    marks = []
    for column in range(columns):
        begin = start + column * length + offset
        round_time = ceil(begin / step) * step
        if round_time < begin + length:
            marks.append((column * wide, _words(round_time - offset, step)))
    return marks


def _apart(step: float) -> int:
    return WIDER_APART if step >= 91 * DAY else APART


def _offset(time: float) -> float:
    """Return how many seconds the local clock is ahead of UTC."""
    try:
        offset = datetime.fromtimestamp(floor(time)).astimezone().utcoffset()
    except (OverflowError, ValueError, OSError):
        return 0.0
    return 0.0 if offset is None else offset.total_seconds()


def _words(time: float, step: float) -> str:
    try:
        then = datetime.fromtimestamp(time)
    except (OverflowError, ValueError, OSError):
        return ""
    if step >= 91 * DAY:
        return f"{then:%b %Y}"
    if step >= DAY:
        return f"{then.day} {then:%b}"
    return f"{then:%a} {then.day}" if then.hour == then.minute == 0 and step >= 3 * HOUR else f"{then:%H:%M}"
