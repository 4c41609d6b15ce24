"""Select cells of lines by dragging, as a terminal does, and return their text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

SELECTED = Style(reverse=True)
"""As terminals show it: readable in any theme, and without colours."""
LEAST = 2
"""Cells in a line: a hand that trembles while it clicks selects nothing."""

Place = tuple[int, int]
"""A line, counted from the first of all, and a cell in it."""


class CellSelection:
    """The cells between where the button was pressed and where the pointer is, both included.

    Lines are remembered as they were shown, since those that were scrolled away are not drawn any more. Of each line
    only the text right of its margin is selected.
    """

    def __init__(self, anchor: Place) -> None:
        self._anchor = self._head = anchor
        self._seen: dict[int, tuple[Strip, int]] = {}
        self.has_begun = False
        """Whether the pointer went far enough for this to be more than a click."""

    def extend(self, head: Place) -> None:
        """Select up to another place."""
        self._head = head
        (line, cell), (other, cell_there) = self._anchor, head
        self.has_begun = self.has_begun or line != other or abs(cell - cell_there) >= LEAST

    def _cells(self, at: int, line: Strip, margin: int) -> tuple[int, int] | None:
        """Return the first cell of a line that is selected, and the one after the last; None if none is."""
        begin, end = sorted((self._anchor, self._head))
        if not self.has_begun or not begin[0] <= at <= end[0]:
            return None
        first = max(margin, begin[1] if at == begin[0] else 0)
        last = end[1] + 1 if at == end[0] else line.cell_length
        return whole_characters(line.text, first, last) if last > first else None

    def show(self, top: int, lines: Sequence[Strip], margin_at: Callable[[int], int]) -> list[Strip]:
        """Return the lines in sight, of which the first has a number, with the selected cells marked."""
        shown: list[Strip] = []
        for at, line in enumerate(lines, top):
            margin = margin_at(at)
            self._seen[at] = line, margin
            cells = self._cells(at, line, margin)
            shown.append(line if cells is None else _marked(line, *cells))
        return shown

    @property
    def text(self) -> str:
        """The selected text; blanks at the ends of lines are left out."""
        first, last = sorted((self._anchor[0], self._head[0]))
        lines: list[str] = []
        for at in range(first, last + 1):
            line, margin = self._seen.get(at, (Strip([]), 0))
            cells = self._cells(at, line, margin)
            lines.append(line.crop(*cells).text.rstrip() if cells is not None else "")
        return "\n".join(lines).strip("\n")


def whole_characters(text: str, begin: int, end: int) -> tuple[int, int]:
    """Return a range of cells, widened so that no character of a line is cut in two."""
    at, first, last = 0, begin, end
    for letter in text:
        after = at + cell_len(letter)
        if at < begin < after:
            first = at
        if at < end < after:
            last = after
        if at >= end:
            break
        at = after
    return first, last


def _marked(line: Strip, begin: int, end: int) -> Strip:
    """Return a line with some cells in the style of a selection."""
    width = line.cell_length
    begin, end = min(begin, width), min(end, width)
    selected = Strip([*line.crop(begin, end)]).apply_style(SELECTED)
    return Strip([*line.crop(0, begin), *selected, *line.crop(end, width)], width)
