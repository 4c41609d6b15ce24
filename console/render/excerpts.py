"""Find words and patterns in a text without regard to case, and take the text around the first of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from typing import Protocol

from msgspec import Struct
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from console.render.safe import visible_line

SPACE = re.compile(r"\s+")
LEAD = 3
"""A hit begins within this part of a line at the latest."""
BEFORE, AFTER = 80, 300
"""Characters around a hit: more than a row shows."""

Spans = list[tuple[int, int]]
"""Parts of a text: where each begins and ends; in order, without overlaps."""


class Matcher(Protocol):
    """A pattern, and the word or phrase that it was made from, empty for none."""

    @property
    def word(self) -> str: ...
    def spans(self, text: str) -> Spans:
        """Return where it matches in a text."""


Sought = str | Matcher
"""What is looked for in a text: a case-folded word or phrase, or a pattern."""


def find_spans(text: str, sought: Sequence[Sought]) -> Spans:
    """Return where some case-folded words and patterns are in a text."""
    words = [each for each in sought if isinstance(each, str)]
    matched = [span for each in sought if not isinstance(each, str) for span in each.spans(text)]
    return _joined(sorted([*matched, *_places(text, words)]))


def has_phrase(sought: Sequence[Sought]) -> bool:
    """Return whether what is sought may be on two lines."""
    return any(" " in (each if isinstance(each, str) else each.word) for each in sought)


def _places(text: str, words: Sequence[str]) -> Spans:
    folded = text.casefold()
    if not any(word in folded for word in words):
        return []
    places: Spans = []
    for word in words:
        at = folded.find(word) if word else -1
        while at >= 0:
            places.append((at, at + len(word)))
            at = folded.find(word, at + len(word))
    if len(folded) != len(text):
        # a character may fold into several: ß into ss
        source = list(chain.from_iterable([at] * len(char.casefold()) for at, char in enumerate(text)))
        places = [(source[start], source[end - 1] + 1) for start, end in places]
    return places


def _joined(spans: Spans) -> Spans:
    joined: Spans = []
    for start, end in spans:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


class Excerpt(Struct, frozen=True):
    """A part of a text on one safe line, and where the hit begins in it; `at` is -1 without a hit."""

    text: str = ""
    at: int = -1

    def __bool__(self) -> bool:
        return self.at >= 0

    def led(self, room: int) -> str:
        """Return the text so that it begins near enough to the hit for so many cells."""
        from rich.cells import cell_len

        before = self.text[: self.at]
        most = max(1, room // LEAD)
        if cell_len(before) <= most or cell_len(self.text) <= room:
            return self.text
        start = len(before)
        while start and cell_len(before[start - 1 :]) < most:
            start -= 1
        return "…" + before[start:].lstrip() + self.text[self.at :]


NO_EXCERPT = Excerpt()


def excerpt_of(text: str, words: tuple[Sought, ...]) -> Excerpt:
    """Return the words around the first hit in a text."""
    if has_phrase(words):
        text = SPACE.sub(" ", text)  # a phrase may be on two lines
    spans = find_spans(text, words)
    if not spans:
        return NO_EXCERPT
    start, end = spans[0]
    before = SPACE.sub(" ", text[max(0, start - BEFORE) : start]).lstrip()
    before = visible_line(f"…{before}" if start > BEFORE else before)
    after = visible_line(SPACE.sub(" ", text[end : end + AFTER]))
    return Excerpt(f"{before}{visible_line(text[start:end])}{after}", len(before))


def mark_pieces(text: str, style: Style, words: Sequence[Sought], hit: Style) -> list[tuple[str, Style]]:
    """Split a text of one style where words in it are shown in another one."""
    spans = find_spans(text, words) if words else []
    if not spans:
        return [(text, style)]
    pieces: list[tuple[str, Style]] = []
    at = 0
    for start, end in spans:
        pieces += [(text[at:start], style), (text[start:end], style + hit)]
        at = end
    return [piece for piece in [*pieces, (text[at:], style)] if piece[0]]


def mark_strip(strip: Strip, spans: Spans, hit: Style) -> Strip:
    """Return a line with some parts of its text shown in another style."""
    if not spans:
        return strip
    segments: list[Segment] = []
    offset = 0
    for segment in strip:
        text, style, control = segment
        end = offset + len(text)
        inside = [(max(a, offset), min(b, end)) for a, b in spans if a < end and b > offset]
        if control or not inside:
            segments.append(segment)
        else:
            at = offset
            for a, b in inside:
                segments += [Segment(text[at - offset : a - offset], style)] if a > at else []
                segments.append(Segment(text[a - offset : b - offset], (style or Style.null()) + hit))
                at = b
            segments += [Segment(text[at - offset :], style)] if at < end else []
        offset = end
    return Strip(segments, strip.cell_length)
