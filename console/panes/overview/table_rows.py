"""The rows of the overview's tables: lines over the bars of time, all on one scale."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import ceil

from rich.style import Style
from textual.strip import Strip

from console.overview.lengths import scale_line
from console.overview.model import OverviewModel
from console.panes.list_rows import layout_line
from console.panes.overview.columns import Column, fitted, heading
from console.widgets.rows import KeyedRows, Row
from console.words.styles import TextStyles


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
