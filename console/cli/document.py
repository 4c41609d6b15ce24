"""The JSON that a command prints with `--json`."""

from __future__ import annotations

import sys
from typing import Any

from console.render.json_output import json_text
from console.render.safe import json_escape

__all__ = ["put_json", "put_json_line"]


def put_json(value: Any) -> None:
    """Print a value as one JSON document."""
    _put(json_text(value, indent=2))


def put_json_line(value: Any) -> None:
    """Print a value as a line of JSON, at once."""
    _put(json_text(value))
    sys.stdout.flush()


def _put(text: str) -> None:
    """Print JSON; escape characters that the output encoding lacks."""
    if sys.stdout is not None and (sys.stdout.encoding or "").lower().replace("-", "") != "utf8":
        text = "".join(char if char.isascii() else json_escape(char) for char in text)
    print(text)
