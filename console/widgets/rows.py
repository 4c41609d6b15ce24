"""Rows of a virtual list: what shows them, how each is styled, and the lines that were rendered."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from textwrap import wrap
from typing import Generic, Protocol, TypeVar

from msgspec import Struct
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from console.widgets.line_view import blank

MOST_ROWS = 512
"""Rows kept rendered: more than any screen shows."""


class RowStyle(Struct, frozen=True):
    """How a row is drawn: at the cursor, in a focused list, and on top of which style."""

    is_cursor: bool = False
    is_focused: bool = False
    base: Style = Style.null()


class RowSource(Protocol):
    """The rows of a list, known by keys, so that the selection survives insertions."""

    row_height: int

    def __len__(self) -> int: ...

    def key(self, index: int) -> str: ...

    def index(self, key: str) -> int | None: ...

    def selectable(self, index: int) -> bool: ...

    def content(self, index: int) -> object:
        """Return all that a row shows, for comparison: a row with equal content is not rendered again."""

    def render(self, index: int, width: int, style: RowStyle) -> list[Strip]: ...


class NoRows:
    """The source of a list that has no rows yet."""

    row_height = 1

    def __len__(self) -> int:
        return 0

    def key(self, index: int) -> str:
        raise IndexError(index)

    def index(self, key: str) -> int | None:
        return None

    def selectable(self, index: int) -> bool:
        return False

    def content(self, index: int) -> object:
        return None

    def render(self, index: int, width: int, style: RowStyle) -> list[Strip]:
        return []


class HasKey(Protocol):
    """A row that is known by its key."""

    @property
    def key(self) -> str:
        """What tells it from all others."""


Row = TypeVar("Row", bound=HasKey)


class KeyedRows(Generic[Row]):
    """Rows that are all there, found by their keys."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self._index = {row.key: at for at, row in enumerate(rows)}

    def __len__(self) -> int:
        return len(self.rows)

    def key(self, index: int) -> str:
        return self.rows[index].key

    def index(self, key: str) -> int | None:
        return self._index.get(key)


class RowCache:
    """The rendered lines of rows, for as long as their content, width and style stay the same."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[object, list[Strip]]] = {}

    def lines(self, source: RowSource, row: int, width: int, style: RowStyle) -> list[Strip]:
        """Return a row's lines, always the same ones until something about them changes."""
        key, content = source.key(row), (source.content(row), width, style)
        known = self._known.get(key)
        if known is None or known[0] != content:
            if len(self._known) >= MOST_ROWS:
                self._known.clear()
            lines = [line.adjust_cell_length(width, style.base) for line in source.render(row, width, style)]
            known = self._known[key] = content, lines
        return known[1]

    def clear(self) -> None:
        """Forget all lines."""
        self._known.clear()


def placeholder_lines(texts: tuple[str, ...], width: int, height: int, style: Style) -> list[Strip]:
    """Center a text in an empty list."""
    shown = _wrapped(texts, width)[:height]
    above = (height - len(shown)) // 2
    lines = [Strip([Segment(text.center(width), style)]).adjust_cell_length(width, style) for text in shown]
    empty = blank(width, style)
    return [empty] * above + lines + [empty] * (height - len(shown) - above)


@lru_cache(maxsize=16)
def _wrapped(lines: tuple[str, ...], width: int) -> list[str]:
    """Break lines that are longer than the list is wide."""
    return [part for line in lines for part in (wrap(line, max(8, width - 2)) or [""])]
