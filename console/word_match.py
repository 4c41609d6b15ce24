"""Match what a person types with a name by the beginnings of its words, for the palette and the help."""

from __future__ import annotations

from functools import lru_cache
from re import finditer

from msgspec import Struct

WHOLE, BEGINNING, PHRASE, WORDS, SKIPPING, WITHIN, SCATTERED = 7, 6, 5, 4, 3, 2, 1
"""How well a query fits a name: from all of it down to letters scattered over it."""


class WordMatch(Struct, frozen=True):
    """How well a query fits, the higher the better, and the places of its letters in the name."""

    rank: int
    places: tuple[int, ...]


@lru_cache(maxsize=1 << 14)
def _words(name: str) -> tuple[tuple[int, str], ...]:
    return tuple((found.start(), found.group()) for found in finditer(r"\w+", name))


def word_match(query: str, name: str) -> WordMatch | None:
    """Return how a query fits a name, without regard to case; None if it doesn't.

    The best fit is the whole name, then its beginning, the beginning of a word, the beginnings of several words
    (`mas` is in `mark all seen`, so is `ma se`), text within a word, and letters in their order anywhere.
    """
    wanted, text = " ".join(query.lower().split()), name.lower()
    if not wanted or len(text) != len(name):  # a few letters are longer in lower case
        return None
    scattered: list[int] = []
    for letter in wanted.replace(" ", ""):
        at = text.find(letter, scattered[-1] + 1 if scattered else 0)
        if at < 0:
            return None  # every other fit has the letters in their order too
        scattered.append(at)
    at = text.find(wanted)
    if at == 0:
        return WordMatch(WHOLE if text == wanted else BEGINNING, tuple(range(len(wanted))))
    words = _words(text)
    for start, _ in words:
        if text.startswith(wanted, start):
            return WordMatch(PHRASE, tuple(range(start, start + len(wanted))))
    if (places := _beginnings(wanted, words, 0)) is not None:
        first = [start for start, _ in words]
        begun = [place for place in places if place in first]
        return WordMatch(WORDS if begun == first[: len(begun)] else SKIPPING, places)
    if at > 0:
        return WordMatch(WITHIN, tuple(range(at, at + len(wanted))))
    return WordMatch(SCATTERED, tuple(scattered))


def _beginnings(wanted: str, words: tuple[tuple[int, str], ...], index: int) -> tuple[int, ...] | None:
    """Return the places of a query that is made of the beginnings of words from one on, each longer first."""
    wanted = wanted.lstrip()
    if not wanted:
        return ()
    for at in range(index, len(words)):
        start, word = words[at]
        longest = 0
        for letter, other in zip(wanted, word, strict=False):
            if letter != other:
                break
            longest += 1
        for size in range(longest, 0, -1):
            if size < longest and wanted[size] == " ":
                continue
            rest = _beginnings(wanted[size:], words, at + 1)
            if rest is not None:
                return (*range(start, start + size), *rest)
    return None
