"""The one JSON document that a command prints with `--json`."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import msgspec

__all__ = ["put_json"]

STEERING = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def put_json(value: Any) -> None:
    """Print a value as JSON in UTF-8; what could steer a terminal is escaped, and decodes as it was."""
    try:
        text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    except UnicodeEncodeError:
        text = json.dumps(msgspec.to_builtins(value), indent=2)
    if not text.isascii() or "\x7f" in text:
        text = STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    if sys.stdout is not None and (sys.stdout.encoding or "").lower().replace("-", "") != "utf8":
        text = json.dumps(json.loads(text), indent=2)
    print(text)
