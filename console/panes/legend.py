"""The legend of glyphs, made from the tables that lists and conversations draw them from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

from console.panes.facts import Row
from console.symbols import ACTIVITIES, AGENTS, CONNECTION, NEVER_SEEN, SIGNS, STALE, STATES, TYPE_GLYPHS, Symbol
from mailstore.records.roster import Status
from mailstore.rules.delivery import State

__all__ = ["LEGEND", "Flow", "legend_rows"]

STATE_WORDS = {
    State.READ: "read",
    State.UNREAD: "unread",
    State.WAITING: "on hold",
    State.FROZEN: "recipient frozen",
    State.ARCHIVED: "archived",
    State.UNRECORDED: "not recorded",
    State.EXPIRED: "expired",
    State.DEAD: "dead letter",
    State.UNKNOWN: "no such recipient",
}
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


def _types() -> Iterator[tuple[Symbol, str]]:
    """Yield each glyph of a type once, with the type that is named first."""
    named: dict[str, str] = {}
    for kind, glyph in TYPE_GLYPHS.items():
        named.setdefault(glyph, kind)
    return ((Symbol(glyph, "accent"), kind) for glyph, kind in named.items())


LEGEND: tuple[tuple[str, tuple[tuple[Symbol, str], ...]], ...] = (
    ("Receipts", tuple((symbol, STATE_WORDS[state]) for state, symbol in STATES.items())),
    (
        "Agents",
        (
            *((AGENTS[status], words) for status, words in zip(Status, ("living", "frozen", "ended"), strict=True)),
            *((symbol, words) for words, symbol in ACTIVITIES.items()),
            (STALE, "not seen for long"),
            (NEVER_SEEN, "never seen"),
        ),
    ),
    ("Messages", tuple(_types())),
    ("Signs", tuple((symbol, words) for words, symbol in SIGNS.items())),
    ("Mailbox", tuple((symbol, words) for words, symbol in CONNECTION.items())),
)
"""All glyphs by where they appear, each with its meaning."""


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


def _begins(word: str, text: str) -> bool:
    return any(each.startswith(word) for each in text.split())


def legend_rows(words: Iterable[str] = ()) -> list[Row]:
    """Return the legend as rows of a page: of each group, the glyphs that are looked for or whose meaning fits."""
    wanted = [word.lower() for word in words]
    rows: list[Row] = []
    for title, symbols in LEGEND:
        items = [
            Content.assemble((symbol.glyph, COLOURS[symbol.colour]), f" {meaning}")
            for symbol, meaning in symbols
            if all(word == symbol.glyph or _begins(word, f"{title} {meaning}".lower()) for word in wanted)
        ]
        if items:
            rows.append((Content.styled(f"  {title:<10}", "$muted"), Flow(items)))
    return rows
