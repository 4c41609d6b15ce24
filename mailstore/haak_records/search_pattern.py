"""The byte pattern that finds a word in JSON lines, and which lines must be decoded."""

from __future__ import annotations

import re
from typing import NamedTuple

RUN = re.compile(r"[a-z0-9_.-]+")
"""Characters that JSON writes unescaped, or in an escape that `line_filter` knows; a space may be a line's end."""
SHORTEST = 2
"""Minimum length of a pattern: a shorter one is on every line."""
FOLDED = {
    "ß": "ss",
    "İ": "i\u0307",
    "ŉ": "\u02bcn",
    "ſ": "s",
    "ǰ": "j\u030c",
    "ẖ": "h\u0331",
    "ẗ": "t\u0308",
    "ẘ": "w\u030a",
    "ẙ": "y\u030a",
    "ẚ": "a\u02be",
    "ẞ": "ss",
    "\u212a": "k",
    "ﬀ": "ff",
    "ﬁ": "fi",
    "ﬂ": "fl",
    "ﬃ": "ffi",
    "ﬄ": "ffl",
    "ﬅ": "st",
    "ﬆ": "st",
}
"""All non-ASCII characters whose casefold contains ASCII."""
NUMBER = re.compile(r"[0-9.e-]+")
MADE_ID = re.compile(r"(?:(?:(?:l?i)?n)?e)?:?[0-9a-f]*")
"""Part of an id that was derived for a record without one."""


class SearchPattern(NamedTuple):
    """Lower-case bytes that are on the line of every message that contains a word, with exceptions.

    Such lines contain one of `specials`, which casefold turns into letters of the pattern, or an escaped letter; and if
    `is_made`, the pattern may be on no line at all, because it can come from a reformatted number or derived id.
    """

    data: bytes
    specials: tuple[bytes, ...]
    is_made: bool


def pattern_of(word: str) -> SearchPattern | None:
    """Return the pattern for the longest usable part of a word; None if there is none."""
    folded = word.casefold()
    run = max(RUN.findall(folded), key=len, default="")
    if len(run) < SHORTEST:
        return None
    specials = tuple(char.encode() for char, into in FOLDED.items() if _may_overlap(into, run))
    made_id = any(MADE_ID.fullmatch(part) or part in "line:" for part in folded.split("\n"))  # fields end with one
    is_made = bool(NUMBER.fullmatch(run)) or made_id or run in "null"
    return SearchPattern(run.encode(), specials, is_made)


def _may_overlap(part: str, run: str) -> bool:
    cuts = range(1, len(part))
    return part in run or any(run.startswith(part[at:]) or run.endswith(part[:at]) for at in cuts)
