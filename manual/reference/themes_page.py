"""The page of themes: what a theme file holds, what each colour is for, and the themes that ship."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import msgspec

import themes
from console.settings.field_meanings import field_meanings
from console.settings.theme_files import DEFAULTS, FOLLOWING, Colours, ThemeFile
from manual.reference.markdown import code, page, prose, table

INTRO = """\
A theme is a TOML file in `~/.config/signalbox/themes/` (`signalbox config path --json` says where); the console
reloads it when it is saved, and names file and line of what is wrong in it. `theme = "NAME"` in the
[settings](settings.md#settings) chooses it, and `:` with its name shows it at once. A theme of yours with the name
of one that ships replaces it. A colour is `#rrggbb`, `#rgb`, `rgb(…)`, `hsl(…)`, a name of CSS, or one of the
terminal's own sixteen (`ansi_red`, `ansi_bright_black` …, `ansi_default`)."""
MAIL = {
    "mail-unread": "subjects and senders of mail that is new to you",
    "mail-mine": "what you wrote",
    "mail-intervention": "what you did to settle mail",
    "mail-hit": "words that a search has found",
    "mail-border": "the lines between panes",
    "mail-border-focused": "the frame of the pane with the keys",
    "mail-cursor": "the background of the selected row",
    "mail-cursor-blurred": "the same in panes without the keys",
}


def themes_page() -> str:
    """Return the page."""
    shipped = {path.stem: tomllib.loads(path.read_text("utf-8")) for path in sorted(_folder().glob("*.toml"))}
    return page(
        "# Themes",
        INTRO,
        "## The file",
        table(("key", "type", "", "default"), _keys()),
        "## The table [colours]",
        "All nine must be there.",
        table(("colour", "for"), ((code(it), prose(words)) for it, words in field_meanings(Colours).items())),
        "## The table [mail]",
        "Each may be there; the default is one of the nine.",
        table(("colour", "for", "default"), (_mail(name, fallback) for name, fallback in DEFAULTS.items())),
        "## The themes that ship",
        "`signalbox themes` lists them with yours. Two names follow the terminal's background:",
        table(("name", "dark", "light"), ((code(name), *map(code, both)) for name, both in FOLLOWING.items())),
        table(("colour", *map(code, shipped)), _colours(shipped)),
        "## Example",
        f"```toml\n{(_folder() / 'timetable.toml').read_text('utf-8').strip()}\n```",
    )


def _folder() -> Path:
    return Path(themes.__file__).parent


def _keys() -> list[tuple[str, ...]]:
    types = {"name": "text", "dark": "true or false", "colours": "table", "code": "text", "mail": "table"}
    meanings = field_meanings(ThemeFile)
    return [
        (code(it.name), types[it.name], prose(meanings[it.name]), "must be set" if it.required else
         code('"default"') if it.name == "code" else "empty")
        for it in msgspec.structs.fields(ThemeFile)
    ]  # fmt: skip


def _mail(name: str, fallback: str) -> tuple[str, ...]:
    state = name.removeprefix("state-")
    words = f"the receipt of mail that is {state}" if state != name else MAIL[name]
    return code(name), words, code(fallback)


def _colours(shipped: dict[str, dict[str, Any]]) -> list[tuple[str, ...]]:
    return [
        (code(it.name), *(code(theme["colours"][it.name]) for theme in shipped.values()))
        for it in msgspec.structs.fields(Colours)
    ]
