"""Check all of a user's settings at once: config.toml, the keymap, saved queries and theme files."""

from __future__ import annotations

import time
from difflib import get_close_matches
from functools import partial

from console.commands.keymap import read_keymap
from console.settings.config import config_folder
from console.settings.config_file import LoadedConfig, load_config, place_of
from console.settings.theme_files import FOLLOWING, load_themes
from mailstore.errors import QueryError
from mailstore.queries.query import parse


def settings_problems() -> list[str]:
    """Return a message for each problem, each with its file and, where it is known, its line; reads the files."""
    return problems_of(load_config())


def problems_of(loaded: LoadedConfig) -> list[str]:
    """Return the problems in settings, and those that only other files show: of themes, keys and saved queries."""
    config, problems = loaded.config, [*loaded.problems]
    themes, in_themes = load_themes(config_folder() / "themes")
    if config.theme not in (*FOLLOWING, *themes) and not any(f"{config.theme}.toml:" in known for known in in_themes):
        near = get_close_matches(config.theme, [*FOLLOWING, *themes], n=1)
        hint = f"did you mean {near[0]}?" if near else "see signalbox themes"
        problems.append(f'{place_of((), "theme")}: no theme "{config.theme}": {hint}')
    problems += read_keymap(config.keymap, partial(place_of, ("keymap",)))[1]
    for name, query in config.views.items():
        try:
            parse(query, time.time())
        except QueryError as error:
            problems.append(f'{place_of(("views",), name)}: the view "{name}" can\'t be read: {error}')
    return [*problems, *in_themes]
