"""What of a word can be looked for in the bytes of JSON lines, and which lines must be looked at more closely."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["SHORTEST", "Needle", "needle_of"]

RUN = re.compile(r"[a-z0-9_.-](?:[a-z0-9 _.-]*[a-z0-9_.-])?")
"""What JSON writes as it is, or in an escape that `sift` knows."""
SHORTEST = 2
"""Characters: a shorter needle is on every line."""
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
"""Every character that is not ASCII and of which casefold makes something that is."""
NUMBER = re.compile(r"[0-9.e-]+")
MADE_ID = re.compile(r"(?:(?:(?:l?i)?n)?e)?:?[0-9a-f]*")
"""A part of an id that was made for a record which has none."""


class Needle(NamedTuple):
    """Bytes that stand on the line of every message that holds a word, in lower case, but for a few lines.

    These have one of `specials`, which casefold turns into letters of the needle, or an escape where a letter could
    stand; and where the needle `is_made` it may be on no line at all, because a number or an id was made of it.
    """

    data: bytes
    specials: tuple[bytes, ...]
    is_made: bool


def needle_of(word: str) -> Needle | None:
    """Return the longest part of a word that can be looked for; None where there is none."""
    folded = word.casefold()
    run = max(RUN.findall(folded), key=len, default="")
    if len(run) < SHORTEST:
        return None
    specials = tuple(char.encode() for char, into in FOLDED.items() if _may_overlap(into, run))
    is_made = bool(NUMBER.fullmatch(run) or MADE_ID.fullmatch(folded)) or folded in "line:" or run in "null"
    return Needle(run.encode(), specials, is_made)


def _may_overlap(part: str, run: str) -> bool:
    cuts = range(1, len(part))
    return part in run or any(run.startswith(part[at:]) or run.endswith(part[:at]) for at in cuts)
