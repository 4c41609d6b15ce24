"""Which words of a query occur in what it finds, so that they can be highlighted."""

from __future__ import annotations

from msgspec import Struct

from mailstore.queries.language.tree import All, Either, Field, Not, Query, Words

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
