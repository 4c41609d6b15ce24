"""Map a theme's colours to the sixteen ANSI colours by hue, so that colours that differ in meaning stay different.

The nearest colour by distance would be misleading: that of amber is red, which means an error here.
"""

from __future__ import annotations

from colorsys import rgb_to_hls
from functools import lru_cache

from rich.color import Color as RichColor
from rich.color import ColorType
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

GREY = 0.18
"""Colours of less chroma count as grey."""

HUES = ((18, 1), (70, 3), (165, 2), (205, 6), (260, 4), (345, 5), (361, 1))
"""Upper bounds of hue, in degrees: 1 red, 2 green, 3 yellow, 4 blue, 5 magenta, 6 cyan."""

INKS = ((0.18, 0), (0.5, 8), (0.75, 7))
PAPERS = ((0.2, 0), (0.5, 8), (0.93, 7))
"""Upper bounds of lightness for the greys of text and of backgrounds; above the last, white."""

BRIGHT = 8


@lru_cache(512)
def nearest(red: int, green: int, blue: int, *, is_paper: bool) -> int:
    """Return the number of the ANSI colour of the same hue and brightness."""
    hue, lightness, _ = rgb_to_hls(red / 255, green / 255, blue / 255)
    if max(red, green, blue) - min(red, green, blue) < GREY * 255:
        return next((number for most, number in (PAPERS if is_paper else INKS) if lightness < most), 15)
    number = next(number for most, number in HUES if hue * 360 < most)
    return number + (BRIGHT if lightness >= 0.5 else 0)


def _mapped(colour: RichColor | None, *, is_paper: bool) -> RichColor | None:
    if colour is None or colour.type is not ColorType.TRUECOLOR or colour.triplet is None:
        return colour
    return RichColor.from_ansi(nearest(*colour.triplet, is_paper=is_paper))


@lru_cache(2048)
def _style(style: Style) -> Style:
    tone, paper = _mapped(style.color, is_paper=False), _mapped(style.bgcolor, is_paper=True)
    if tone is not None and tone == paper and style.color != style.bgcolor:  # dim text must stay readable
        tone = RichColor.from_ansi(0 if paper.number == BRIGHT else BRIGHT)
    return style + Style.from_color(tone, paper)


class AnsiColours(LineFilter):
    """Converts every line to sixteen colours."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [Segment(text, _style(style) if style else style, control) for text, style, control in segments]
