"""`signalbox keys`: list the console's keys."""

from __future__ import annotations

import argparse
from itertools import groupby

from console.cli.document import put_json
from console.cli.options import json_option
from console.cli.output import KeyRow
from console.cli.plain import bold, put
from console.commands import COMMANDS
from console.config_file import load_config
from console.keymap import read_keymap
from console.render.safe import visible_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print the keys, as set in the user's keymap, in the groups of the console's help."""
    keymap = read_keymap(load_config()[0].keymap)[0]
    rows = [KeyRow(it.id, it.keys_label(keymap), it.help, it.group) for it in COMMANDS]
    if args.json:
        put_json(rows)
        return 0
    width = max(len(row.keys) for row in rows)
    for group, members in groupby(rows, key=lambda row: row.group):
        put(bold(group))
        for row in members:
            put(visible_line(f"  {row.keys:<{width}}  {row.help}  ({row.id})"))
    return 0
