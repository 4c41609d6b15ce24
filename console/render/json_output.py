"""JSON for other programs; all JSON output goes through here, so that it is safe on a terminal too."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec

from console.render.safe import escaped


def json_text(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON, with control and invisible characters escaped; it decodes to the same value.

    NaN and infinities become null, unpaired surrogates escapes.
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
