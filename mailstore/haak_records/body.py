"""The body in a message's record."""

from __future__ import annotations

from typing import Any

import msgspec

from mailstore.errors import ContentGone
from mailstore.files.salvage import UNREADABLE, loads
from mailstore.haak_records.field_names import MESSAGE, pick
from mailstore.haak_records.usual import UsualMessages

USUAL = UsualMessages()


def content_in(data: bytes) -> str:
    """Return the body in a record's bytes. Raises ContentGone if they are invalid."""
    if (usual := USUAL.one(data)) is not None:
        return usual.content
    try:
        return content_of(loads(data))
    except UNREADABLE as error:
        raise ContentGone(f"the text can't be read ({error})", "look at the record itself", "E302") from error


def content_of(record: dict[str, Any]) -> str:
    """Return the body of a decoded record."""
    value, _ = pick(record, MESSAGE["content"])
    if value is None:
        return ""
    if isinstance(value, dict) and isinstance(value.get("text"), str):
        return str(value["text"])
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
