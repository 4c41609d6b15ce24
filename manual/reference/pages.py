"""Every page of the reference by its path below docs/."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

from console.settings.config_schema import config_schema
from manual.reference.commands_page import commands_page
from manual.reference.json_page import json_page, schemas
from manual.reference.keys_page import keys_page
from manual.reference.markdown import page
from manual.reference.query_page import query_page
from manual.reference.settings_page import settings_page
from manual.reference.themes_page import themes_page
from manual.reference.troubleshooting_page import troubleshooting_page

FOLDER = Path(__file__).parents[2] / "docs"
INDEX = """\
| page | has |
|---|---|
| [Commands](commands.md) | every command at a glance, and each with its actions, arguments, options and exit statuses |
| [Keys](keys.md) | every command of the console with its keys and its id, and every glyph |
| [Settings](settings.md) | every key of `config.toml` with its type, default, meaning and an example |
| [Themes](themes.md) | what a theme file holds, and the colours of those that ship |
| [Query language](query-language.md) | words, fields, values and times |
| [JSON output](json.md) | what each command prints with `--json`, and its JSON Schema |
| [Troubleshooting](../troubleshooting.md) | every message of an error, its cause and its remedy |

These pages are made from the code, and a test says that they are current."""
MADE: dict[str, Callable[[], str]] = {
    "reference/README.md": lambda: page("# Reference", INDEX),
    "reference/commands.md": commands_page,
    "reference/keys.md": keys_page,
    "reference/settings.md": settings_page,
    "reference/themes.md": themes_page,
    "reference/query-language.md": query_page,
    "reference/json.md": json_page,
    "troubleshooting.md": troubleshooting_page,
}


@cache
def pages() -> dict[str, str]:
    """Return the text of every page and of every schema."""
    found = {path: make() for path, make in MADE.items()}
    every = {**schemas(), "config.toml": config_schema()}
    return found | {
        f"reference/schemas/{name}.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        for name, schema in every.items()
    }
