"""What a query means: words, phrases, fields, `-` and OR, as a tree."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """A word or a phrase, anywhere in the text or the header, without regard to case."""

    text: str

    def __str__(self) -> str:
        return f'"{self.text}"'


@dataclass(frozen=True, slots=True)
class Field:
    """A field and its value; `time` is the moment that a time means, `end` the end of a period, since the epoch."""

    name: str
    value: str
    time: float = 0.0
    end: float = 0.0

    def __str__(self) -> str:
        return f'{self.name}:"{self.value}"'


@dataclass(frozen=True, slots=True)
class Not:
    """A part that must not match."""

    part: Query

    def __str__(self) -> str:
        return f"-({self.part})" if isinstance(self.part, (All, Either)) else f"-{self.part}"


@dataclass(frozen=True, slots=True)
class All:
    """Parts that must all match."""

    parts: tuple[Query, ...]

    def __str__(self) -> str:
        return " ".join(f"({part})" if isinstance(part, Either) else str(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Either:
    """Parts of which one must match."""

    parts: tuple[Query, ...]

    def __str__(self) -> str:
        return " OR ".join(str(part) for part in self.parts)


Query = Words | Field | Not | All | Either
