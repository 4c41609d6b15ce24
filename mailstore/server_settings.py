"""What the user has set for a kind of mailbox: in the environment, or in a table of the program's settings.

A program that has settings of its own gives them with `use_settings`; nothing is read before a store asks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from mailstore.errors import StoreError

S = TypeVar("S", bound=Struct)


class ProgramSettings:
    """The settings of a program that has none; others replace the methods."""

    file = Path("config.toml")
    """Where they are, for messages; what is kept beside them is in its folder."""

    def table(self, name: str) -> Mapping[str, object]:
        """Return what is set in a table, each invalid value replaced by its default; empty if there is no table."""
        return {}

    def checked(self, name: str, model: type[S]) -> S:
        """Return a table that must be right as a whole. Raises MailError and OSError."""
        return model()

    def add(self, header: str, fields: Mapping[str, object]) -> tuple[str, str]:
        """Add a table, with its header such as `[[a.b]]`; return its text, and why it could not be added, if so."""
        return "", "the program has no settings"


_make: Callable[[], ProgramSettings] = ProgramSettings


def use_settings(make: Callable[[], ProgramSettings]) -> None:
    """Let stores find a program's settings; `make` is called whenever one asks."""
    global _make
    _make = make


def program_settings() -> ProgramSettings:
    """Return the settings of the program."""
    return _make()


def variable(table: str, name: str) -> str:
    """Return the environment variable for a setting, such as SIGNALBOX_TABLE_NAME."""
    return f"SIGNALBOX_{table}_{name}".upper()


def server_settings(table: str, *names: str) -> dict[str, object]:
    """Return those of some settings that are set and not empty; the environment goes first."""
    found = {name: os.environ.get(variable(table, name), "") for name in names}
    settings = program_settings().table(table) if not all(found.values()) else {}
    given = {name: found[name] or settings.get(name) for name in names}
    return {name: value for name, value in given.items() if value}


def file_setting(table: str, name: str, value: object) -> Path:
    """Return the path that a setting gives, with `~` expanded. Raises StoreError."""
    try:
        return Path(str(value)).expanduser()
    except RuntimeError as error:
        raise StoreError(f'{name} of [{table}] can\'t be found ("{value}")', "use the full path", "E270") from error
