"""Find words in a text without regard to case, and show where they are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

Spans = list[tuple[int, int]]
"""Parts of a text: where each begins and ends; in order, without overlaps."""


def find_spans(text: str, words: Sequence[str]) -> Spans:
    """Return where some case-folded words are in a text."""
    folded = text.casefold()
    if not any(word in folded for word in words):
        return []
    found: Spans = []
    for word in words:
        at = folded.find(word) if word else -1
        while at >= 0:
            found.append((at, at + len(word)))
            at = folded.find(word, at + len(word))
    if len(folded) != len(text):
        # a character may fold into several: ß into ss
        source = list(chain.from_iterable([at] * len(char.casefold()) for at, char in enumerate(text)))
        found = [(source[start], source[end - 1] + 1) for start, end in found]
    return _joined(sorted(found))


def _joined(spans: Spans) -> Spans:
    joined: Spans = []
    for start, end in spans:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def mark_pieces(text: str, style: Style, words: Sequence[str], hit: Style) -> list[tuple[str, Style]]:
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
