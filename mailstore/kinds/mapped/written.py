"""A guessed mapping as a TOML file, and how the records look through it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from mailstore.kinds.mapped.guess import Guess
from mailstore.records.message import Message, Problem

MOST_LOOKED_AT = 10
BEYOND_LATIN = 0x250
"""From here on code points include invisible ones: all are written as numbers."""


def toml(found: Guess) -> str:
    """Return the mapping as TOML that can be loaded as it is, without invisible characters."""
    lines = ["[source]", *(f"{key} = {_value(value)}" for key, value in found.source.items()), "", "[message]"]
    lines += [f"{it.field} = {_value(_shortest(it.found))}" for it in found.choices]
    return "\n".join(lines) + "\n"


def _shortest(finder: dict[str, Any]) -> Any:
    return finder["path"] if set(finder) == {"path"} else finder


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    text = str(value)
    if "\\" in text and "'" not in text and text.isascii() and text.isprintable():
        return f"'{text}'"
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable() and ord(char) < BEYOND_LATIN:
        return char
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


def look(text: str) -> tuple[list[Message], list[Problem]]:
    """Return the newest messages that a mapping gives, and what in its source is none. Raises StoreError."""
    from mailstore.kinds.mapped.store import MappedStore

    with tempfile.TemporaryDirectory(prefix="signalbox-") as folder:
        path = Path(folder) / "mapping.toml"
        path.write_text(text, encoding="utf-8")
        messages: list[Message] = []
        problems: list[Problem] = []
        with MappedStore.open(path) as store:
            for batch in store.scan():
                messages += (event for event in batch if isinstance(event, Message))
                problems += (event for event in batch if isinstance(event, Problem))
                messages = sorted(messages, key=lambda message: -message.time)[:MOST_LOOKED_AT]
    return messages, problems
