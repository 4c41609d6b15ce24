"""The rows of a full-screen list: laid out beforehand, one or two lines each, marked or not."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from textual.strip import Strip

from console.panes.row_layout import MARK, Piece, layout_line
from console.styles import TextStyles
from console.widgets.virtual_list import RowLook

__all__ = ["ListRow", "ListRows"]


@dataclass(frozen=True, slots=True)
class ListRow:
    """One row, known by its key: what stands at the left and the right of its lines.

    Texts must be safe to show. A row without a second line is one line high where none has a second.
    """

    key: str
    left: tuple[Piece, ...]
    right: tuple[Piece, ...] = ()
    left_below: tuple[Piece, ...] = ()
    right_below: tuple[Piece, ...] = ()


class ListRows:
    """Rows as a source for the virtual list; `marked` are the keys that the person marked."""

    def __init__(self, rows: Sequence[ListRow], styles: TextStyles, marked: Collection[str] = ()) -> None:
        self.rows = rows
        self.row_height = 2 if any(row.left_below or row.right_below for row in rows) else 1
        self._text_styles = styles
        self._marked = marked
        self._index = {row.key: at for at, row in enumerate(rows)}

    def __len__(self) -> int:
        return len(self.rows)

    def key(self, index: int) -> str:
        return self.rows[index].key

    def index(self, key: str) -> int | None:
        return self._index.get(key)

    def selectable(self, index: int) -> bool:
        return True

    def face(self, index: int) -> object:
        row = self.rows[index]
        return row, row.key in self._marked, self.row_height, self._text_styles

    def render(self, index: int, width: int, look: RowLook) -> list[Strip]:
        row, styles = self.rows[index], self._text_styles
        mark: Piece = (MARK, styles.accent) if row.key in self._marked else ("  ", styles.text)
        lines = [layout_line([mark, *row.left], row.right, width, look.base)]
        if self.row_height > 1:
            lines.append(layout_line([("  ", styles.text), *row.left_below], row.right_below, width, look.base))
        return lines
