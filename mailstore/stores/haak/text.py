"""What a message's body is."""

from __future__ import annotations

from typing import Any

import msgspec

from mailstore.stores.haak.names import MESSAGE, pick

__all__ = ["content_of"]


def content_of(record: dict[str, Any]) -> str:
    """Return the body of a decoded record."""
    value, _ = pick(record, MESSAGE["content"])
    if value is None:
        return ""
    if isinstance(value, dict) and isinstance(value.get("text"), str):
        return str(value["text"])
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
