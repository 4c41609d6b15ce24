"""What a message's body is, and what can be told from it: its first line, and whom it mentions."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from mailstore.stores.haak.names import MESSAGE, pick

__all__ = ["content_of", "first_line", "mentions"]

MENTION = re.compile(r"(?<![\w@/.])@([A-Za-z0-9_][\w.:*-]*\w|\w)")
SUBJECT_LENGTH = 80


def content_of(record: dict[str, Any]) -> str:
    """Return the body of a decoded record."""
    value, _ = pick(record, MESSAGE["content"])
    if value is None:
        return ""
    if isinstance(value, dict) and isinstance(value.get("text"), str):
        return str(value["text"])
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def first_line(content: str) -> str:
    """Return the first line of a text that is not empty, at most 80 characters of it."""
    text = content.lstrip()
    return text[:SUBJECT_LENGTH].splitlines()[0].rstrip() if text else ""


def mentions(content: str) -> tuple[str, ...]:
    """Return the names after an @, once each, in order."""
    return tuple(dict.fromkeys(MENTION.findall(content))) if "@" in content else ()
