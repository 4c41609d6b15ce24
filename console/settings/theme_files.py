"""Themes from TOML files: read, checked before Textual sees them, reloaded as they are saved."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct, ValidationError, convert
from msgspec.json import decode
from msgspec.structs import asdict
from textual.color import Color, ColorParseError
from textual.theme import BUILTIN_THEMES, Theme

import themes
from console.words.symbols import STATES
from mailstore.errors import reason_of
from mailstore.files.folder import may_exist
from mailstore.files.whole import read_text

AUTO = "auto"
FOLLOWING = {AUTO: ("night-box", "timetable"), "terminal": ("terminal-dark", "terminal-light")}
"""Names that mean one theme on a dark background and another on a light one."""

OURS = Path(themes.__file__).parent

ANSI_CODE = ("ansi_dark", "ansi_light")
"""Styles for code in the terminal's sixteen colours, which Rich has beside those of Pygments."""

SAVING_SECONDS = 0.2
"""How long an editor may take to save a theme."""

DEFAULTS = {
    "mail-unread": "foreground",
    "mail-mine": "accent",
    "mail-intervention": "accent",
    "mail-hit": "accent",
    "mail-border": "panel",
    "mail-border-focused": "accent",
    "mail-cursor": "surface",
    "mail-cursor-blurred": "panel",
    **{f"state-{state.value}": symbol.colour for state, symbol in STATES.items()},
}
"""For each variable of ours, the colour it takes where a theme is silent."""


class ThemeError(ValueError):
    """What is wrong in a theme, and the key that it is about, with its table."""

    def __init__(self, words: str, key: str) -> None:
        super().__init__(words)
        self.key = key


class Colours(Struct, frozen=True, forbid_unknown_fields=True):
    """The nine colours that a theme must name."""

    background: Annotated[str, "The background of the screen."]
    surface: Annotated[str, "The background of dialogs, inputs and selected rows."]
    panel: Annotated[str, "The background of titles and footers, and lines between panes."]
    foreground: Annotated[str, "Text."]
    muted: Annotated[str, "Text that matters less: times, counts, hints."]
    accent: Annotated[str, "What has the keys, links, and yourself."]
    success: Annotated[str, "What is well: mail that was read, living agents."]
    warning: Annotated[str, "What may need you: agents that are frozen or not seen for long."]
    error: Annotated[str, "What is wrong: dead letters, unknown names, errors."]


class ThemeFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A theme as a user writes it."""

    name: Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]*$"), "Its name: small letters, digits and hyphens."]
    dark: Annotated[bool, "Whether its background is dark."]
    colours: Annotated[Colours, "The nine colours that it must name."]
    code: Annotated[str, "A style of Pygments for code, or ansi_dark or ansi_light for the terminal's own colours."] = (
        "default"
    )
    mail: Annotated[dict[str, str], "Further colours, for what is special to mail."] = {}


def read_theme(text: str) -> Theme:
    """Read a theme; raises ValueError, which says what is wrong and, before a colon, in which line: `:7: ...`."""
    from console.settings.toml_errors import InvalidToml, invalid_toml, line_of, read_toml

    try:
        return _theme(read_toml(text))
    except InvalidToml as error:
        raise ValueError(invalid_toml(error, text)) from error
    except ThemeError as error:
        *tables, key = error.key.split(".")
        raise ValueError(f"{line_of(text, tuple(tables), key)}: {error}") from error


def read_ours(text: str) -> Theme:
    """Read one of our own themes, which need no more of TOML than tables of texts: its parser is slow to import."""
    found: dict[str, Any] = {}
    table = found
    for line in text.splitlines():
        if line.startswith("["):
            table = found[line.strip("[]")] = {}
        elif line and not line.startswith("#"):
            key, _, value = line.partition(" = ")
            table[key] = decode(value)
    return _theme(found)


def _theme(values: dict[str, Any]) -> Theme:
    try:
        file = convert(values, ThemeFile)
    except ValidationError as error:
        from console.settings.toml_errors import must_be

        words = must_be(error)
        raise ThemeError(words, words.partition(" ")[0]) from error
    if unknown := sorted(set(file.mail) - set(DEFAULTS)):
        raise ThemeError(f"unknown colour mail.{unknown[0]} (known: {', '.join(DEFAULTS)})", f"mail.{unknown[0]}")
    colours: dict[str, str] = asdict(file.colours)
    mail = {name: file.mail.get(name, colours[fallback]) for name, fallback in DEFAULTS.items()}
    for name, value in {**colours, **mail}.items():
        try:
            Color.parse(value)
        except ColorParseError as error:
            table = "mail" if name in file.mail else "colours"
            raise ThemeError(f'{name} = "{value}" is not a colour', f"{table}.{name}") from error
    is_ansi = colours["background"].startswith("ansi_")
    return Theme(
        name=file.name,
        dark=file.dark,
        ansi=is_ansi,
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
            **(_ansi_variables(file.dark) if is_ansi else {}),
            **mail,
            "muted": colours["muted"],
            "code-style": file.code,
            "block-cursor-background": mail["mail-cursor"],
            "block-cursor-foreground": colours["foreground"],
            "block-cursor-blurred-background": mail["mail-cursor-blurred"],
            "input-selection-background": mail["mail-cursor"],
            "border": mail["mail-border-focused"],
            "border-blurred": mail["mail-border"],
        },
    )


def _ansi_variables(is_dark: bool) -> dict[str, str]:
    """Return what Textual's own themes of sixteen colours define, for where no other colours can be mixed."""
    return dict(BUILTIN_THEMES["ansi-dark" if is_dark else "ansi-light"].variables)


def code_style(theme: Theme) -> str:
    """Return the style that a theme highlights code in."""
    return theme.variables.get("code-style", "default")


def builtin_themes() -> dict[str, Theme]:
    """Return the themes that come with the program."""
    return {path.stem: read_ours(path.read_text(encoding="utf-8")) for path in sorted(OURS.glob("*.toml"))}


def load_themes(folder: Path) -> tuple[dict[str, Theme], list[str]]:
    """Return our themes and the user's, theirs winning, and what is wrong, a sentence a file."""
    found = builtin_themes()
    problems: list[str] = []
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".toml")
    except (FileNotFoundError, NotADirectoryError):
        paths = []
    except OSError as error:
        paths = []
        problems.append(f"{folder}: can't be read ({reason_of(error)}); the themes in it are ignored")
    for path in paths:
        try:
            text = read_text(path)
            theme = read_theme(text)
            _check_code_style(code_style(theme), text)
        except UnicodeDecodeError as error:
            problems.append(f"{path}: can't be read ({error}); the theme is ignored")
        except OSError as error:
            problems.append(f"{path}: can't be read ({reason_of(error)}); the theme is ignored")
        except ValueError as error:
            problems.append(f"{path}{error}; the theme is ignored")
        else:
            found[theme.name] = theme
    return found, problems


def first_themes(folder: Path, wanted: str) -> tuple[dict[str, Theme], list[str]]:
    """Return as few themes as a first screen in the wanted one needs, and what is wrong, a sentence a file."""
    path = OURS / f"{wanted}.toml"
    if may_exist(folder) or Path(wanted).name != wanted or not path.is_file():
        return load_themes(folder)
    return {wanted: read_ours(path.read_text(encoding="utf-8"))}, []


def _check_code_style(name: str, text: str) -> None:
    """Raise ValueError, as `read_theme` does, for an unknown style for code."""
    from pygments.styles import get_all_styles

    from console.settings.toml_errors import line_of

    if name not in {*get_all_styles(), *ANSI_CODE}:
        raise ValueError(f'{line_of(text, (), "code")}: unknown style for code "{name}"')


Stamps = set[tuple[str, int, int]]


async def file_changes(folder: Path, known: Stamps | None = None) -> AsyncIterator[None]:
    """Yield whenever a TOML file in a folder has changed; ends if the folder does not exist.

    `known` are the stamps of the files when they were read, before this began.
    """
    if not os.path.isdir(folder):  # noqa: PTH112 - it never raises
        return
    from mailstore.files.watch import wakeups

    known, is_first = file_stamps(folder) if known is None else known, True
    async with aclosing(wakeups(folder)) as waking:
        async for has_changed in waking:
            if (has_changed or is_first) and file_stamps(folder) != known:
                await asyncio.sleep(SAVING_SECONDS)
                known = file_stamps(folder)
                yield
            is_first = False


def file_stamps(folder: Path) -> Stamps:
    """Return name, size and time of change of the TOML files in a folder."""
    stamps: Stamps = set()
    with suppress(OSError):
        for path in folder.glob("*.toml"):
            with suppress(OSError):
                facts = path.stat()
                stamps.add((path.name, facts.st_size, facts.st_mtime_ns))
    return stamps
