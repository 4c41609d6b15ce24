"""`signalbox themes`: list the built-in themes and the user's own."""

from __future__ import annotations

import argparse

from console.cli.document import JsonOutput
from console.cli.options import json_option
from console.cli.plain import columns, put
from console.cli.setup_output import ThemeRow
from console.cli.terminal_io import warn
from console.settings.config import config_folder
from console.settings.config_file import load_config
from console.settings.theme_files import FOLLOWING, load_themes

ROWS = JsonOutput(list[ThemeRow])
OUTPUTS = (ROWS,)

GROUNDS = {True: "dark", False: "light", None: "as the terminal's"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print one row per theme; report unreadable ones on standard error."""
    config, _ = load_config()
    themes, problems = load_themes(config_folder() / "themes")
    for problem in problems:
        warn(problem)
    rows = [ThemeRow(name, None, name == config.theme) for name in FOLLOWING]
    rows += [ThemeRow(name, theme.dark, name == config.theme) for name, theme in themes.items()]
    if args.json:
        ROWS.put(rows)
    else:
        cells = [("▌" if row.is_chosen else "", row.name, GROUNDS[row.is_dark]) for row in rows]
        put(columns(cells, ("", "theme", "background")))
    return 0
