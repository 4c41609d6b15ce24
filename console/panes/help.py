"""The help page, built from the commands: ten basic keys, all of a pane, those of other panes, then a legend."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from re import IGNORECASE, escape, finditer

from msgspec import Struct
from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

from console.browser.place import BROWSER_KEYS, is_in_browser
from console.commands.command import Command, Situation, fits, has_key
from console.commands.table import COMMANDS, basic_commands, commands_for
from console.panes.facts import FactPage, Row
from console.render.safe import visible_line
from console.words.symbols import LEGEND, is_meant
from mailstore.store import Capability

EMPTY = Content(), Content()
KEY_CELLS, FEW_KEY_CELLS = 18, 7
"""The column of the keys, where there is room and where there is little; longer ones need more."""
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


class HelpTopic(Struct, frozen=True):
    """What a help page is about: a pane, the user's keys, and what can be done there now."""

    pane: str
    keymap: Mapping[str, str]
    ask: Callable[[Capability], str]
    situation: Situation = Situation()


def help_page(topic: HelpTopic, query: str = "", key_cells: int = KEY_CELLS) -> FactPage:
    """Return the keys that match a query, and the legend: first what has it as a key, then words that begin with it.

    Without a query, the basic keys of the pane come first.
    """
    words = query.split()
    here = commands_for(topic.pane)
    parts: list[Row] = []
    if not words:
        parts += [
            _heading("Basic keys"),
            *(_row(basic_command, topic, (), True, key_cells) for basic_command in basic_commands(topic.pane)),
        ]
    parts += _browser_rows(query, key_cells)
    keyed = [command for command in COMMANDS if has_key(command, query, topic.keymap)]
    if keyed:
        keyed.sort(key=lambda command: command not in here)
        parts += [
            _heading(f"Key {query.strip()}"),
            *(_row(command, topic, (), command in here, key_cells) for command in keyed),
        ]
    for title, commands in ((f"in {topic.pane}", here), ("elsewhere", [c for c in COMMANDS if c not in here])):
        unbound = [command for command in commands if command not in keyed and fits(command, query, topic.keymap)]
        if parts and unbound:
            parts += [EMPTY, (Content(), Content.styled(f"── {title} " + "─" * key_cells, "$muted"))]
        for group in dict.fromkeys(command.group for command in unbound):
            parts.append(_heading(group))
            members = (command for command in unbound if command.group == group)
            parts += [_row(command, topic, words, command in here, key_cells) for command in members]
    if legend := legend_rows(words):
        parts += [*([EMPTY] if parts else []), _heading("Glyphs"), *legend]
    if not parts:
        parts.append((Content(), Content.styled(f"Nothing found for {visible_line(query.strip())}", "$warning")))
    return FactPage(parts)


def _browser_rows(query: str, key_cells: int) -> list[Row]:
    """Return what a browser does with keys, where the console is in one."""
    if not is_in_browser():
        return []
    words = query.lower().split()
    rows = [
        (Content.styled(f"  {keys:<{key_cells}} ", "bold"), Content(told))
        for keys, told in BROWSER_KEYS
        if all(word in f"{keys} {told}".lower() for word in words)
    ]
    return [_heading("In the browser"), *rows] if rows else []


def _heading(title: str) -> Row:
    return Content(), Content.styled(title, "bold $accent")


def _row(command: Command, topic: HelpTopic, words: Sequence[str], is_here: bool, key_cells: int) -> Row:
    keys = command.keys_label(topic.keymap)
    name = f"  [{command.cli}]" if command.cli else ""
    reason = command.why_not(topic.ask, topic.situation if is_here else None)
    why = f"  unavailable: {visible_line(reason)}" if reason else ""
    faint = "$muted" if reason or not is_here else ""
    content = Content.assemble((command.help, faint), (name, "$muted"), (why, "$warning"))
    for word in words:
        for begun in finditer(rf"(?<!\w){escape(word)}", command.help, IGNORECASE):
            content = content.stylize("underline", *begun.span())
    return Content.styled(f"  {keys:<{key_cells}} ", "$muted" if faint else "bold"), content


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
