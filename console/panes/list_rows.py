"""The rows of a full-screen list, prepared beforehand."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct
from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from console.render.short_text import LONGEST_CHARACTER
from console.widgets.line_view import LineStrip
from console.widgets.rows import KeyedRows, RowStyle
from console.words.styles import TextStyles

MARK = "▪ "
"""The prefix of a marked row."""

Piece = tuple[str, Style]


def layout_line(left: Sequence[Piece], right: Sequence[Piece], width: int, base: Style) -> Strip:
    """Return a line of exactly `width` cells; what does not fit at the left is cut with `…`."""
    longest = LONGEST_CHARACTER * max(width, 1)  # texts can be of any length: measure only so much
    if any(len(text) > longest for text, _ in left):
        left = [(text if len(text) <= longest else f"{text[:longest]}…", style) for text, style in left]
    fixed = sum(cell_len(text) for text, _ in right)
    room = max(0, width - fixed - (1 if right else 0))
    wanted = sum(cell_len(text) for text, _ in left)
    segments = _cut(left, room, base) if wanted > room else [Segment(text, base + style) for text, style in left]
    gap = width - fixed - min(wanted, room)
    if gap > 0:
        segments.append(Segment(" " * gap, base))
    segments.extend(Segment(text, base + style) for text, style in right)
    return LineStrip(segments, width) if gap >= 0 else Strip(segments).adjust_cell_length(width, base)


def _cut(pieces: Sequence[Piece], room: int, base: Style) -> list[Segment]:
    segments: list[Segment] = []
    left = room
    for text, style in pieces:
        size = cell_len(text)
        if size >= left:
            segments.append(Segment(set_cell_size(text, left - 1) + "…" if left else "", base + style))
            break
        segments.append(Segment(text, base + style))
        left -= size
    return segments


class ListRow(Struct, frozen=True):
    """One row of one or two lines: what is at the left and at the right of each, safe to print.

    All rows have two lines if any has a second one.
    """

    key: str
    left: tuple[Piece, ...]
    right: tuple[Piece, ...] = ()
    left_below: tuple[Piece, ...] = ()
    right_below: tuple[Piece, ...] = ()


class ListRows(KeyedRows[ListRow]):
    """Rows as a source for the virtual list; `marked` are the keys of the rows that the user marked."""

    def __init__(self, rows: Sequence[ListRow], styles: TextStyles, marked: Collection[str] = ()) -> None:
        super().__init__(rows)
        self.row_height = 2 if any(row.left_below or row.right_below for row in rows) else 1
        self._text_styles = styles
        self._marked = marked

    def selectable(self, index: int) -> bool:
        return True

    def content(self, index: int) -> object:
        row = self.rows[index]
        return row, row.key in self._marked, self.row_height, self._text_styles

    def render(self, index: int, width: int, style: RowStyle) -> list[Strip]:
        row, styles = self.rows[index], self._text_styles
        mark: Piece = (MARK, styles.accent) if row.key in self._marked else ("  ", styles.text)
        lines = [layout_line([mark, *row.left], row.right, width, style.base)]
        if self.row_height > 1:
            lines.append(layout_line([("  ", styles.text), *row.left_below], row.right_below, width, style.base))
        return lines
