"""What a query means: words, phrases, fields, `-` and OR, as a tree; and which words it seeks, to be highlighted."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import Struct


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


MOST = 50
"""Words that are shown: a query may have thousands."""
NAMES = ("from", "to", "tag", "role")


class SoughtWords(Struct, frozen=True):
    """Case-folded words and phrases: those found anywhere, those found in subjects, and those found in names."""

    texts: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.texts or self.subjects or self.names)


NOTHING_SOUGHT = SoughtWords()


def sought_in(query: Query) -> SoughtWords:
    """Return the words that a query asks for; those that it excludes are left out."""
    texts: dict[str, None] = {}
    subjects: dict[str, None] = {}
    names: dict[str, None] = {}
    waiting = [query]
    while waiting:
        part = waiting.pop()
        match part:
            case Words(text):
                texts[text.casefold()] = None
            case Field("subject", text):
                subjects[text.casefold()] = None
            case Field(name, text) if name in NAMES:
                names[text.casefold().lstrip("#@=")] = None
            case All(parts) | Either(parts):
                waiting += reversed(parts)
            case Not() | Field():
                pass
    return SoughtWords(*(tuple(filter(None, list(found)[:MOST])) for found in (texts, subjects, names)))
