"""The settings as a TOML file: what each does, its value, and where that is set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import fields

from console.settings.config import Config
from console.settings.field_meanings import field_meanings
from console.settings.toml_errors import in_toml

NAMED = {"keymap": '"search" = "f3"', "views": 'questions = "type:question is:unread"'}
"""Tables whose keys are the user's own, with an example of one."""


def settings_text(config: Config) -> str:
    """Return all settings with their meaning; those that have their default value are commented out."""
    return "\n".join([*_table(config, ()), ""])


def _table(values: Struct, name: tuple[str, ...]) -> Iterator[str]:
    tables: list[tuple[str, Any]] = []
    default = type(values)()
    meanings = field_meanings(type(values))
    if name:
        yield f"[{'.'.join(name)}]"
    for setting in fields(values):
        value = getattr(values, setting.name)
        if isinstance(value, list) and value and all(isinstance(each, Struct) for each in value):
            tables += [(setting.name, each) for each in value]
            continue
        if isinstance(value, Struct | dict):
            tables.append((setting.name, value))
            continue
        is_default = value == getattr(default, setting.name)
        if meaning := meanings.get(setting.name):
            yield f"# {meaning}"
        given = "(not set)" if value is None else in_toml(value)
        yield f"{'# ' if is_default else ''}{setting.name} = {given}"
    for key, value in tables:
        yield ""
        if isinstance(value, Struct):
            yield from [f"# {meanings[key]}"] if key in meanings else []
            yield from _table(value, (*name, key))
            continue
        yield f"# {meanings[key]}"
        yield f"[{'.'.join((*name, key))}]"
        yield from (f"{in_toml(each)} = {in_toml(what)}" for each, what in value.items())
        yield from [] if value else [f"# {NAMED[key]}"]
