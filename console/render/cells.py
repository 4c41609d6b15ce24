"""Draw characters whose width differs among terminals so that every following cell stays in place.

Terminals disagree on the width of joined or coloured emoji and of signs with a variation selector: xterm and tmux
add up parts that others draw as one. Such a character is drawn as its first part and padded with spaces to the width
that the layout assumed. The text itself is not changed.
"""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import combining, east_asian_width

from rich.cells import split_graphemes
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

__all__ = ["PortableCells", "portable"]

LETTERS = range(0x1F1E6, 0x1F200)
"""Regional indicators: some terminals draw flags, others letters of one or two cells."""

SHADES = range(0x1F3FB, 0x1F400)
UNSURE = re.compile("[\u200d\ufe0e\ufe0f\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff]")


def portable(text: str) -> str:
    """Return a text of the same width in which each character has the same width in every terminal."""
    return text if text.isascii() or not UNSURE.search(text) else _sure(text)


@lru_cache(2048)
def _sure(text: str) -> str:
    spans, _ = split_graphemes(text)
    return "".join(_part(text[start:end], width) for start, end, width in spans)


def _part(part: str, width: int) -> str:
    if not UNSURE.search(part):
        return part
    first = ord(part[0])
    if first in LETTERS:
        return chr(first - LETTERS.start + ord("A")).ljust(width)[:width]
    if not width or first in SHADES or UNSURE.match(part):
        return " " * width
    size = 2 if east_asian_width(part[0]) in "WF" else 1
    marks = "".join(char for char in part[1:] if combining(char)) if size <= width else ""
    return (part[0] + marks if size <= width else "") + " " * max(0, width - min(size, width))


class PortableCells(LineFilter):
    """Makes the width of every line the same in all terminals."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        if not any(not text.isascii() and UNSURE.search(text) for text, _, _ in segments):
            return segments
        return [Segment(portable(text), style, control) for text, style, control in segments]
