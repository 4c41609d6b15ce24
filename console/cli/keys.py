"""`signalbox keys`: list the console's glyphs and keys."""

from __future__ import annotations

import argparse
from itertools import groupby

from console.cli.document import JsonOutput
from console.cli.options import json_option
from console.cli.plain import bold, put
from console.cli.setup_output import KeyRow
from console.commands.command import fits
from console.commands.keymap import read_keymap
from console.commands.table import COMMANDS
from console.render.safe import visible_line
from console.settings.config_file import load_config
from console.words.symbols import LEGEND, is_meant

ROWS = JsonOutput(list[KeyRow])
OUTPUTS = (ROWS,)

STATUSES = {1: "no key is found"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="WORD", help="a key, a glyph, or beginnings of words to look for")
    json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print the legend and the keys, as set in the user's keymap; 1 if nothing is found."""
    keymap = read_keymap(load_config()[0].keymap)[0]
    query = " ".join(args.words)
    rows = [
        KeyRow(command.id, command.keys_label(keymap), command.help, command.group)
        for command in COMMANDS
        if fits(command, query, keymap)
    ]
    if args.json:
        ROWS.put(rows)
        return 0 if rows else 1
    wanted = query.lower().split()
    glyphs = [
        (title, f"{symbol.glyph} {meaning}")
        for title, symbols in LEGEND
        for symbol, meaning in symbols
        if is_meant(wanted, title, symbol, meaning)
    ]
    for title, meanings in groupby(glyphs, key=lambda glyph: glyph[0]):
        put(bold(title))
        put("  " + "   ".join(meaning for _, meaning in meanings))
    groups = list(dict.fromkeys(row.group for row in rows))
    rows.sort(key=lambda row: groups.index(row.group))
    width = max((len(row.keys) for row in rows), default=0)
    for group, members in groupby(rows, key=lambda row: row.group):
        put(bold(group))
        for row in members:
            put(visible_line(f"  {row.keys:<{width}}  {row.help}  ({row.id})"))
    return 0 if rows or glyphs else 1
