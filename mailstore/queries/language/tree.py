"""What a query means: words, phrases, fields, `-` and OR, as a tree; and which words it seeks, to be highlighted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from mailstore.errors import QueryError

if TYPE_CHECKING:
    import regex

MATCH_SECONDS = 0.5
"""How long a pattern may take for one text: some patterns take ages for a text of a line."""
MARK_SECONDS = 0.02
"""How long it may take where its matches are only shown in another style."""


@dataclass(frozen=True, slots=True)
class Words:
    """A word or a phrase, anywhere in the text or the header, without regard to case."""

    text: str

    def __str__(self) -> str:
        return f'"{self.text}"'


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression, or a whole `word` or phrase, anywhere in the text or the header, without regard to case."""

    source: str
    word: str = ""

    def __str__(self) -> str:
        return f'="{self.word}"' if self.word else f"/{self.source}/"

    @classmethod
    def of_word(cls, word: str) -> Pattern:
        """Return the pattern of a word or a phrase that is not a part of longer words; a phrase may be on two lines."""
        import regex

        inner = r"\s+".join(map(regex.escape, word.split()))
        before = r"(?<!\w)" if regex.match(r"\s*\w", word) else ""
        after = r"(?!\w)" if regex.search(r"\w\s*$", word) else ""
        return cls(f"{before}{inner}{after}", word)

    def is_in(self, text: str) -> bool:
        """Return whether it matches a part of a text. Raises QueryError if that takes too long."""
        try:
            return compiled(self.source).search(text, timeout=MATCH_SECONDS) is not None
        except TimeoutError as error:
            remedy = "write it without repetitions within repetitions, such as (a+)+"
            raise QueryError(f"{self} takes too long on a message", 0, remedy, code="E266") from error

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where it matches more than nothing in a text; nowhere if that takes too long."""
        try:
            scanner = compiled(self.source).finditer(text, timeout=MARK_SECONDS)
            return [match.span() for match in scanner if match.end() > match.start()]
        except TimeoutError:
            return []


@lru_cache(maxsize=16)
def compiled(source: str) -> regex.Pattern[str]:
    """Return a compiled expression; `^` and `$` are the ends of lines. Raises regex.error."""
    import regex  # most processes need none

    return regex.compile(source, regex.IGNORECASE | regex.FULLCASE | regex.MULTILINE | regex.VERSION0)


@dataclass(frozen=True, slots=True)
class Field:
    """A field and its value; `time` is the moment that a time means, `end` the end of a period, since the epoch.

    `size` is the number of characters that a size means.
    """

    name: str
    value: str
    time: float = 0.0
    end: float = 0.0
    size: int = 0

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


Query = Words | Pattern | Field | Not | All | Either


Sought = str | Pattern
"""What may be found in a text: a case-folded word or phrase, or a pattern."""
MOST = 50
"""Words that are shown: a query may have thousands."""
NAMES = ("from", "to", "tag", "role")


class SoughtWords(Struct, frozen=True):
    """Case-folded words and phrases: those found anywhere, those found in subjects, and those found in names."""

    texts: tuple[Sought, ...] = ()
    subjects: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.texts or self.subjects or self.names)


NOTHING_SOUGHT = SoughtWords()


def sought_in(query: Query) -> SoughtWords:
    """Return the words that a query asks for; those that it excludes are left out."""
    texts: dict[Sought, None] = {}
    subjects: dict[str, None] = {}
    names: dict[str, None] = {}
    waiting = [query]
    while waiting:
        part = waiting.pop()
        match part:
            case Words(text):
                texts[text.casefold()] = None
            case Pattern():
                texts[part] = None
            case Field("subject", text):
                subjects[text.casefold()] = None
            case Field(name, text) if name in NAMES:
                names[text.casefold().lstrip("#@=")] = None
            case All(parts) | Either(parts):
                waiting += reversed(parts)
            case Not() | Field():
                pass
    return SoughtWords(
        tuple(filter(None, list(texts)[:MOST])),
        *(tuple(filter(None, list(found)[:MOST])) for found in (subjects, names)),
    )


def finds(sought: Sought, line: str) -> bool:
    """Return whether a word or a pattern is in a text. Raises QueryError."""
    return sought.is_in(line) if isinstance(sought, Pattern) else sought in line.casefold()
