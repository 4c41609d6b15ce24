"""JSON for other programs: the one way out for it, safe on a terminal too, where much of it ends up."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec

from console.render.safe import escaped

__all__ = ["json_text"]


def json_text(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON that decodes as it was; what a terminal would obey, or nobody see, comes as escapes.

    Numbers that JSON lacks come as null, halves of surrogate pairs as escapes.
    """
    try:
        data = msgspec.json.encode(value)
        text = (msgspec.json.format(data, indent=indent) if indent else data).decode()
    except UnicodeEncodeError:
        separators = None if indent else (",", ":")
        text = json.dumps(_finite(msgspec.to_builtins(value)), indent=indent, separators=separators)
    return escaped(text)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, (list, tuple)) else value
