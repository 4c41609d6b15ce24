"""The legend of glyphs, made from the tables that lists and conversations draw them from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

from console.legend import LEGEND, is_meant
from console.panes.facts import Row

COLOURS = {
    "good": "$success",
    "warn": "$warning",
    "bad": "$error",
    "muted": "$muted",
    "accent": "$accent",
    "success": "$success",
    "warning": "$warning",
    "error": "$error",
    "unread": "$mail-unread",
    "intervention": "$mail-intervention",
}
"""Variables of a theme, by the names of colours in the tables of glyphs."""

GAP = 3


class Flow(Visual):
    """Short texts one after another, as many in a line as fit."""

    def __init__(self, items: Sequence[Content]) -> None:
        self._items = items

    def _lines(self, width: int) -> list[Content]:
        column = max((item.cell_length for item in self._items), default=0) + GAP
        columns = max(1, (width + GAP) // column)
        rows = [self._items[at : at + columns] for at in range(0, len(self._items), columns)]
        return [Content.assemble(*(item.pad_right(column - item.cell_length) for item in row)) for row in rows]

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        return [line.render_strips(width, 1, style, options)[0] for line in self._lines(width)]

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        return container_width

    def get_height(self, rules: RulesMap, width: int) -> int:
        return len(self._lines(width))


def legend_rows(words: Iterable[str] = ()) -> list[Row]:
    """Return the legend as rows of a page: of each group, the glyphs that are looked for or whose meaning fits."""
    wanted = [word.lower() for word in words]
    rows: list[Row] = []
    for title, symbols in LEGEND:
        items = [
            Content.assemble((symbol.glyph, COLOURS[symbol.colour]), f" {meaning}")
            for symbol, meaning in symbols
            if is_meant(wanted, title, symbol, meaning)
        ]
        if items:
            rows.append((Content.styled(f"  {title:<10}", "$muted"), Flow(items)))
    return rows
