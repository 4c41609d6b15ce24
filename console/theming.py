"""Themes from TOML files: read, checked before Textual sees them, reloaded as they are saved."""

from __future__ import annotations

import tomllib
from collections.abc import AsyncIterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pygments.styles import get_all_styles
from textual.color import Color, ColorParseError
from textual.theme import Theme

__all__ = ["DEFAULTS", "builtin_themes", "code_style", "load_themes", "read_theme", "theme_changes"]

DEFAULTS = {
    "mail-unread": "foreground",
    "mail-mine": "accent",
    "mail-intervention": "accent",
    "mail-border": "panel",
    "mail-border-focused": "accent",
    "mail-cursor": "surface",
    "mail-cursor-blurred": "panel",
    "state-read": "success",
    "state-unread": "muted",
    "state-waiting": "warning",
    "state-frozen": "warning",
    "state-unrecorded": "muted",
    "state-expired": "muted",
    "state-dead": "error",
    "state-unknown": "error",
}
"""For each variable of ours, the colour it takes where a theme is silent."""


class Colours(BaseModel):
    """The nine colours that a theme must name."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    background: str
    surface: str
    panel: str
    foreground: str
    muted: str
    accent: str
    success: str
    warning: str
    error: str


class ThemeFile(BaseModel):
    """A theme as a person writes it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    dark: bool
    code: str = "default"
    colours: Colours
    mail: dict[str, str] = Field(default_factory=dict)


def read_theme(text: str) -> Theme:
    """Read a theme; raises ValueError with one sentence that says what is wrong."""
    try:
        found = ThemeFile.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"no TOML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg'].lower()}") from error
    if unknown := sorted(set(found.mail) - set(DEFAULTS)):
        raise ValueError(f"mail.{unknown[0]}: there is no such colour (there are {', '.join(DEFAULTS)})")
    if found.code not in set(get_all_styles()):
        raise ValueError(f"code: pygments has no style {found.code!r}")
    colours: dict[str, str] = found.colours.model_dump()
    mail = {name: found.mail.get(name, colours[fallback]) for name, fallback in DEFAULTS.items()}
    for name, value in {**colours, **mail}.items():
        try:
            Color.parse(value)
        except ColorParseError as error:
            raise ValueError(f"{name}: {value!r} is no colour") from error
    return Theme(
        name=found.name,
        dark=found.dark,
        primary=colours["accent"],
        secondary=colours["muted"],
        accent=colours["accent"],
        foreground=colours["foreground"],
        background=colours["background"],
        surface=colours["surface"],
        panel=colours["panel"],
        success=colours["success"],
        warning=colours["warning"],
        error=colours["error"],
        variables={
            **mail,
            "muted": colours["muted"],
            "code-style": found.code,
            "block-cursor-background": mail["mail-cursor"],
            "block-cursor-foreground": colours["foreground"],
            "block-cursor-blurred-background": mail["mail-cursor-blurred"],
            "input-selection-background": mail["mail-cursor"],
            "border": mail["mail-border-focused"],
            "border-blurred": mail["mail-border"],
        },
    )


def code_style(theme: Theme) -> str:
    """Return the style that a theme highlights code in."""
    return theme.variables.get("code-style", "default")


def builtin_themes() -> dict[str, Theme]:
    """Return the themes that come with the program."""
    texts = [file.read_text(encoding="utf-8") for file in files("themes").iterdir() if file.name.endswith(".toml")]
    found = sorted((read_theme(text) for text in texts), key=lambda theme: theme.name)
    return {theme.name: theme for theme in found}


def load_themes(folder: Path) -> tuple[dict[str, Theme], list[str]]:
    """Return our themes and the user's, theirs winning, and what is wrong, a sentence a file."""
    themes = builtin_themes()
    problems: list[str] = []
    for path in sorted(folder.glob("*.toml")) if folder.is_dir() else []:
        try:
            theme = read_theme(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            problems.append(f"{path}: {error}: the theme is left out")
        else:
            themes[theme.name] = theme
    return themes, problems


async def theme_changes(folder: Path) -> AsyncIterator[Any]:
    """Yield whenever something in the folder of the user's themes changes; ends when there is none."""
    if not folder.is_dir():
        return
    from watchfiles import awatch

    async for changes in awatch(folder, watch_filter=None, debounce=200, step=50):
        yield changes
