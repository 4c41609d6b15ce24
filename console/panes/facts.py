"""Pages of labelled values; long values wrap below their beginning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rich.segment import Segment
from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

from console.render.safe import visible_line

LEAST_ROOM = 12
"""Cells: if a label leaves less, its value starts at the left."""
MOST_SHOWN = 100_000
"""Characters of a text of any length: a page is laid out at once, between two keys."""

Row = tuple[Content, Visual]
"""A label, and a value of one or more lines beside it."""


class FactPage(Visual):
    """Rows, followed by lines that were rendered elsewhere."""

    def __init__(self, rows: Sequence[Row], below: Sequence[Strip] = ()) -> None:
        self.rows = rows
        self.below = below

    def with_below(self, below: Sequence[Strip]) -> FactPage:
        """Return the same rows followed by other lines."""
        return FactPage(self.rows, below)

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        base = style.rich_style
        lines: list[Strip] = []
        for label, text in self.rows:
            indent = _indent(label, width)
            strips = text.render_strips(max(1, width - indent), None, style, options) or [Strip([])]
            first = label.render_strips(label.cell_length, None, style, options)[:1] or [Strip([])]
            for at, line in enumerate(strips):
                left = first[0] if at == 0 and indent else Strip([Segment(" " * indent, base)])
                lines.append(Strip([*left, *line]))
        lines += [line.apply_style(base) for line in self.below]
        lines = [line.adjust_cell_length(width, base) for line in lines]
        return lines if height is None else lines[:height]

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        return container_width

    def get_height(self, rules: RulesMap, width: int) -> int:
        rows = (max(1, text.get_height(rules, max(1, width - _indent(label, width)))) for label, text in self.rows)
        return sum(rows) + len(self.below)


def _indent(label: Content, width: int) -> int:
    return label.cell_length if width - label.cell_length >= LEAST_ROOM else 0


def fact(name: str, value: str | Content, room: int = 9) -> Row:
    """Return a row of a name, in so many cells, and its value."""
    label = Content.styled(f"{visible_line(name):>{room}}  ", "$muted")
    return label, value if isinstance(value, Content) else Content(visible_line(value))


def beginning(text: str, visible: Callable[[str], str] = visible_line, gap: str = " ") -> Content:
    """Return the first `MOST_SHOWN` characters of a text, made `visible`, and how many more there are."""
    left = len(text) - MOST_SHOWN
    shown = Content(visible(text[:MOST_SHOWN]))
    return Content.assemble(shown, (f"{gap}… {left:,} more characters", "$muted")) if left > 0 else shown


def facts(pairs: Sequence[tuple[str, str | Content]], room: int = 9) -> FactPage:
    """Return a page of names and values."""
    return FactPage([fact(name, value, room) for name, value in pairs])


def read_out(value: Any) -> str:
    """Return a value of a record as text."""
    if isinstance(value, dict):
        return ", ".join(f"{name}: {read_out(each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(read_out, value))
    if value is None or isinstance(value, bool):
        return {None: "–", True: "yes", False: "no"}[value]
    return value if isinstance(value, str) else str(value)
