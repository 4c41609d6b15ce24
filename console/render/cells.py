"""Draw characters whose width differs among terminals so that every following cell stays in place.

Terminals disagree on the width of joined or coloured emoji, of signs with a variation selector, of vowel signs and of
what is newer than they are: xterm and tmux add up parts that others draw as one. Unless the terminal has shown that it
agrees with the layout (`console.terminal.queries`), such a character is drawn as what is certain of it, padded with
spaces to the width that the layout assumed. The text itself is not changed. Control characters are left out, wherever
they come from: they have no width, and the terminal would execute them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from functools import lru_cache
from unicodedata import category, combining, east_asian_width

from rich.cells import split_graphemes
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

SAMPLES = {
    "joined": "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
    "flag": "\U0001f1e9\U0001f1ea",
    "coloured": "\u2764\ufe0f",
    "keycap": "1\ufe0f\u20e3",
    "plain": "\u2708\ufe0e",
    "shade": "\U0001f44d\U0001f3fd",
    "vowel": "\u0915\u093e",
    "sign": "\u2630",
    "new": "\U0001fae9",
}
"""The kinds of characters that terminals differ about, and one of each."""

EMOJI = range(0x1F000, 0x1FB00)
"""Where new emoji are assigned. Other unassigned characters are never trusted: their width depends on the release."""

LETTERS = range(0x1F1E6, 0x1F200)
"""Regional indicators: some terminals draw flags, others letters of one or two cells."""

SHADES = range(0x1F3FB, 0x1F400)
SIGNS = (range(0x2630, 0x2638), range(0x268A, 0x2690), range(0x3248, 0x3250), range(0x1D300, 0x1D377))
"""Signs whose width Unicode has changed, or left to the context."""

CERTAIN = re.compile("[ -~\u00a0-\u02ff\u2010-\u2027\u2190-\u2426\u2500-\u262f\u2690-\u27ff]*")
"""The most frequent characters that have the same width in all terminals."""

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
UNKNOWN = "\ufffd"


def portable(text: str, trusted: Set[str] = frozenset()) -> str:
    """Return a text of the same width in which each character has the same width in the terminal.

    `trusted` are the kinds of characters of which the terminal has the width that the layout assumes.
    """
    if _is_certain(text):
        return text
    text = CONTROL.sub("", text)
    return text if _is_certain(text) else _sure(text, frozenset(trusted))


def _is_certain(text: str) -> bool:
    return (text.isascii() and text.isprintable()) or CERTAIN.fullmatch(text) is not None


@lru_cache(2048)
def _sure(text: str, trusted: frozenset[str]) -> str:
    return "".join(_part(part, width, trusted) for part, width in _parts(text))


def _parts(text: str) -> Iterator[tuple[str, int]]:
    """Yield the characters of a text as a reader sees them, and their widths; two regional indicators are a flag."""
    spans, _ = split_graphemes(text)
    at = 0
    while at < len(spans):
        start, end, width = spans[at]
        at += 1
        if ord(text[start]) in LETTERS and at < len(spans) and ord(text[spans[at][0]]) in LETTERS:
            end, width = spans[at][1], width + spans[at][2]
            at += 1
        yield text[start:end], width


def _kinds(part: str, width: int) -> Iterator[str]:
    """Yield the kinds to which a character belongs; none if its width is certain."""
    if "\u200d" in part:
        yield "joined"
    if "\ufe0f" in part:
        yield "keycap" if part[0].isascii() else "coloured"
    if "\ufe0e" in part:
        yield "plain"
    for char in part:
        if _is_sign(char):
            yield "sign"
        elif ord(char) in LETTERS:
            yield "flag"
        elif ord(char) in SHADES:
            yield "shade"
        elif (kind := category(char)) == "Mc":
            yield "vowel"
        elif kind == "Cn":
            yield "new" if width == 2 and ord(char) in EMOJI else "unassigned"


def _is_sign(char: str) -> bool:
    return any(ord(char) in signs for signs in SIGNS)


def _part(part: str, width: int, trusted: frozenset[str]) -> str:
    kinds = set(_kinds(part, width))
    if not kinds:
        return part
    first = ord(part[0])
    is_whole = width > 0 and not (first in SHADES or part[0] in "\u200d\ufe0e\ufe0f")
    if kinds <= trusted and is_whole and (first not in LETTERS or len(part) > 1):
        return part
    if first in LETTERS:
        messages = "".join(chr(ord(char) - LETTERS.start + ord("A")) for char in part if ord(char) in LETTERS)
        return messages.ljust(width)[:width]
    if not is_whole:
        return " " * width
    if category(part[0]) == "Cn" or _is_sign(part[0]):
        return UNKNOWN.ljust(width)
    size = 2 if east_asian_width(part[0]) in "WF" else 1
    marks = "".join(char for char in part[1:] if combining(char) and category(char) == "Mn") if size <= width else ""
    return (part[0] + marks if size <= width else "") + " " * max(0, width - min(size, width))


class PortableCells(LineFilter):
    """Makes the width of every line what the layout assumes, and leaves control characters out."""

    def __init__(self, trusted: Set[str] = frozenset()) -> None:
        super().__init__()
        self._trusted = frozenset(trusted)
        self.has_replaced = False
        """Whether anything was drawn otherwise than it is written."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        if all(_is_certain(text) for text, _, _ in segments):
            return segments
        drawn = [Segment(portable(text, self._trusted), style, control) for text, style, control in segments]
        self.has_replaced |= drawn != segments
        return drawn
