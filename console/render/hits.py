"""Show where the words and patterns that were sought are in a text."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from console.render.excerpts import Sought, Spans, find_spans


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
