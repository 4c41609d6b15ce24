"""The JSON that a command prints with `--json`: a command declares its types, and can print no others."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Generic, TypeVar

from console.render.json_output import json_text
from console.render.safe import json_escape

T = TypeVar("T")


class JsonOutput(Generic[T]):
    """A type that a command prints as one JSON document; `when` are the actions or options that lead to it.

    The command's module lists its own in OUTPUTS, from which schemas are made (`signalbox schema`).
    """

    def __init__(self, kind: type[T], *when: str) -> None:
        self.kind = kind
        self.when = when

    def put(self, value: T) -> None:
        """Print a value as one JSON document."""
        _put(json_text(value, indent=2))


class JsonLines(JsonOutput[T]):
    """A type that a command prints as a line of JSON, again and again."""

    def put(self, value: T) -> None:
        """Print a value as a line of JSON, at once."""
        _put(json_text(value))
        sys.stdout.flush()


def put_schema(schema: Mapping[str, object]) -> None:
    """Print a JSON Schema."""
    _put(json_text(schema, indent=2))


def _put(text: str) -> None:
    """Print JSON; escape characters that the output encoding lacks."""
    if (sys.stdout.encoding or "").lower().replace("-", "") != "utf8":
        text = "".join(char if char.isascii() else json_escape(char) for char in text)
    print(text)
