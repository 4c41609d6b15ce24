"""The page of keys: every command of the console, by its group, and what the glyphs mean."""

from __future__ import annotations

from itertools import groupby

from console.commands.command import LISTS, ROWS, SHEETS, Command, pretty
from console.commands.table import COMMANDS
from console.words.symbols import LEGEND
from manual.reference.markdown import code, page, prose, table

INTRO = """\
Every command of the console. `?` shows those of a pane, `signalbox keys` all of them as they are set, and `:` finds
each by the beginnings of its words: those without a key are run from there. Other keys are set in the table
[\\[keymap\\]](settings.md#keymap) by the id."""
PANES = """\
The panes are those of the main screen (sidebar, threads, conversation, composer) and the screens over it. A command
that the mailbox or the moment doesn't allow says why."""
WHEN = {
    "live": "not in the past",
    "past": "while time travelling",
    "row": "with a row",
    "undo": "with something to undo",
    "redo": "with something to redo",
    "message": "on a message",
    "asked": "on a permission or a question",
    "options": "on a question",
    "dead-letter": "on a dead letter",
    "agent": "on an agent that can be woken",
}


def keys_page() -> str:
    """Return the page."""
    parts = ["# Keys and palette commands", INTRO, PANES]
    order = list(dict.fromkeys(it.group for it in COMMANDS))
    ordered = sorted(COMMANDS, key=lambda it: order.index(it.group))
    for group, commands in groupby(ordered, key=lambda it: it.group):
        parts += [f"## {group}", table(("keys", "does", "where", "id"), map(_row, commands))]
    parts += ["## Glyphs", "`signalbox keys GLYPH` finds what one means."]
    for title, symbols in LEGEND:
        rows = ((code(symbol.glyph), prose(meaning)) for symbol, meaning in symbols)
        parts += [f"### {title}", table(("glyph", "means"), rows)]
    return page(*parts)


def _row(command: Command) -> tuple[str, ...]:
    keys = " ".join(code(pretty(key)) for key in command.keys.split(",") if key) or "palette"
    shell = f" (`signalbox {command.cli}`)" if command.cli else ""
    return keys, prose(command.help) + shell, _where(command), code(command.id)


def _where(command: Command) -> str:
    panes = set(command.panes)
    known = {"every list": ROWS, "main screen": LISTS, "lists over the mail": SHEETS}
    names = []
    for name, whole in known.items():
        if whole <= panes:
            names.append(name)
            panes -= whole
    names += sorted(panes)
    moments = [WHEN[name] for name in command.when.split()]
    return ", ".join(names) + (f"; {', '.join(moments)}" if moments else "")
