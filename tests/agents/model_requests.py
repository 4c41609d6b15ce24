"""What a program asked its model, and where in it a text stands: in whose name, and whether as a tool's result."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Place:
    """A text of a request: its path in the body, the role of the message, the outermost kind of block there."""

    path: str
    role: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request for an answer, numbered from 1."""

    number: int
    path: str
    body: dict[str, Any]

    @property
    def has_tools(self) -> bool:
        """Say whether it belongs to a conversation: titles and summaries are asked for without tools."""
        return bool(self.body.get("tools"))

    def holds(self, text: str) -> bool:
        """Say whether a text stands anywhere in it."""
        return any(text in place.text for place in self.places())

    def find(self, text: str) -> list[Place]:
        """Return every place whose text contains this one, in order."""
        return [place for place in self.places() if text in place.text]

    def places(self) -> Iterator[Place]:
        """Yield every text of it."""
        return _places(self.body, "", "", "")

    def __str__(self) -> str:
        return f"request {self.number} {self.path}\n{json.dumps(self.body, indent=1, ensure_ascii=False)[:20_000]}"


def _places(value: Any, path: str, role: str, kind: str) -> Iterator[Place]:
    if isinstance(value, str):
        yield Place(path.removeprefix("."), role, kind, value)
    elif isinstance(value, dict):
        if isinstance(value.get("role"), str):
            role = value["role"]
        if isinstance(value.get("type"), str):
            kind = kind or value["type"]
        elif "functionResponse" in value:
            kind = kind or "functionResponse"
        for key, inner in value.items():
            yield from _places(inner, f"{path}.{key}", role, kind)
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _places(inner, f"{path}.{at}", role, kind)
