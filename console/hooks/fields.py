"""Read single fields of a program's input, whatever their types are, and write small JSON objects."""

from __future__ import annotations

from mailstore.files.scan import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LONGEST_FIELD = 4096
LONGEST_ID = 128
ID_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")


def text_in(given: dict[str, Any], *names: str) -> str:
    """Return the first of some fields that is a text, truncated if it is very long; empty if none is."""
    for name in names:
        value = given.get(name)
        if isinstance(value, str) and value:
            return value[:LONGEST_FIELD]
    return ""


def session_in(given: dict[str, Any], *names: str) -> str:
    """Return the session id in the first of some fields; empty if it can't be part of a file's name."""
    value = text_in(given, *names)
    return value if len(value) <= LONGEST_ID and ID_CHARACTERS.issuperset(value) else ""


def as_json(value: object) -> str:
    """Return dicts, lists, tuples, texts, numbers and truth values as JSON in ASCII."""
    if isinstance(value, str):
        return quoted(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{quoted(str(name))}:{as_json(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(as_json, value)) + "]"
    raise TypeError(type(value).__name__)
