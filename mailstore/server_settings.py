"""What the user has set for a server that a kind of store talks to: in the environment, or in the program's settings.

A program that has settings of its own says with `read_settings_with` how to read them; nothing is read before a store
asks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from mailstore.errors import StoreError

ReadTable = Callable[[str], Mapping[str, object]]


def _none(table: str) -> Mapping[str, object]:
    return {}


_read: ReadTable = _none


def read_settings_with(read: ReadTable) -> None:
    """Let `read` return a table of the program's settings by its name; it is empty where nothing is set."""
    global _read
    _read = read


def variable(table: str, name: str) -> str:
    """Return the environment variable for a setting: SIGNALBOX_TABLE_NAME."""
    return f"SIGNALBOX_{table}_{name}".upper()


def server_settings(table: str, *names: str) -> dict[str, object]:
    """Return those of some settings that are set and not empty; the environment goes first."""
    found = {name: os.environ.get(variable(table, name), "") for name in names}
    settings = _read(table) if not all(found.values()) else {}
    given = {name: found[name] or settings.get(name) for name in names}
    return {name: value for name, value in given.items() if value}


def file_setting(table: str, name: str, value: object) -> Path:
    """Return the path that a setting gives, with `~` expanded. Raises StoreError."""
    try:
        return Path(str(value)).expanduser()
    except RuntimeError as error:
        raise StoreError(f'{name} of [{table}] can\'t be found ("{value}")', "use the full path") from error
