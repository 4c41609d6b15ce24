"""The rows of the overview's tables, with columns that fit, over the bars of time; all are on one scale."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from textual.strip import Strip

from console.overview.model import OverviewModel
from console.overview.words import scale_line
from console.panes.list_rows import Piece, layout_line
from console.render.safe import visible_line
from console.render.short_text import shorten_middle
from console.widgets.rows import KeyedRows, Row
from console.words.styles import TextStyles

GAP = 2
NAME_MOST, LINE_LEAST, LINE_MOST = 30, 8, 60


class Column(NamedTuple):
    """A column: its key and heading, its least width, and its rank (0 is always there, the highest goes first).

    `grows` by this share of what is left; `most` is the largest width that makes sense.
    """

    key: str
    title: str
    width: int
    rank: int = 0
    grows: int = 0
    most: int = 0
    is_left: bool = False


class Cell(NamedTuple):
    """The text of a cell, and its style."""

    text: str
    style: Style


def fitted(columns: Sequence[Column], width: int) -> list[Column]:
    """Return the columns that fit into a width, each with the width it gets; the least important are left out."""
    kept = list(columns)
    while len(kept) > 1 and _total(kept) > width and any(column.rank for column in kept):
        kept.remove(max(kept, key=lambda column: column.rank))
    spare = max(0, width - _total(kept))
    for _ in range(2):  # what one column has no use for, another may have
        growing = [column for column in kept if column.grows and column.width < column.most]
        shares = sum(column.grows for column in growing)
        grown = {column.key: min(column.most - column.width, spare * column.grows // shares) for column in growing}
        kept = [column._replace(width=column.width + grown.get(column.key, 0)) for column in kept]
        spare -= sum(grown.values())
    return kept


def _total(columns: Sequence[Column]) -> int:
    return sum(column.width for column in columns) + GAP * (len(columns) - 1)


def heading(columns: Sequence[Column], style: Style) -> list[Piece]:
    """Return the line of headings."""
    return pieces(columns, {column.key: Cell(column.title, style) for column in columns}, style)


def pieces(columns: Sequence[Column], cells: dict[str, Cell], plain: Style) -> list[Piece]:
    """Return one row: names at the left of their columns, numbers and lines at the right."""
    result: list[Piece] = []
    for at, column in enumerate(columns):
        cell = cells.get(column.key, Cell("", plain))
        text = shorten_middle(visible_line(cell.text), column.width)
        blank = " " * (column.width - cell_len(text))
        if at:
            result.append((" " * GAP, plain))
        result.append((set_cell_size(text, cell_len(text)) + blank if column.is_left else blank + text, cell.style))
    return result


class TableRows(KeyedRows[Row], ABC):
    """A table as a source for the virtual list; its column `sent` is a line."""

    row_height = 1

    def __init__(
        self, rows: Sequence[Row], columns: Sequence[Column], model: OverviewModel, styles: TextStyles
    ) -> None:
        super().__init__(rows)
        self._all_columns = columns
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
            self._fitted[width] = fitted(self._all_columns, width)
        return self._fitted[width]

    def heading(self, width: int, base: Style) -> Strip:
        """Return the line above the table."""
        return layout_line(heading(self.columns(width), self._styles.muted), [], width, base)

    @abstractmethod
    def _largest(self, width: int) -> int:
        """Return the largest number in any cell of lines of a width."""

    def _top_of(self, width: int) -> int:
        """Return the largest number in any cell of lines of a width, found once."""
        if width not in self._tops:
            self._tops[width] = self._largest(width)
        return self._tops[width]

    def scale(self, width: int) -> str:
        """Return what the heights of the lines mean."""
        room = next(column.width for column in self.columns(width) if column.key == "sent")
        bars = self._model.bars
        return scale_line(self._top_of(room), ceil(bars.number / room) * bars.length)
