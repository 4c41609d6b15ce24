"""Render the text of a message: Markdown, or a JSON document that is laid out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from console.render.code import highlighted
from console.render.elements import MarkdownStyles
from console.render.json_layout import laid_out
from console.render.lines import LineSource, breaks
from console.render.markdown import reduced, render_markdown
from console.render.safe import visible

FORMATTED = "JSON, formatted"
PORTION = 50
"""Lines."""

LEAST_ROOM = 16
"""Cells: where the indentation leaves less, lines continue at the left."""


def render_body(
    text: str, width: int, styles: MarkdownStyles, *, is_wrapped: bool = False, record_key: str = ""
) -> Iterator[LineSource]:
    """Yield the lines of a message's text at a width in cells; code may be wider, unless it is to be wrapped.

    `record_key` is the key that shows the message's record, where there is one.
    """
    lines = laid_out(text) if width >= LEAST_ROOM else None
    if lines is None:
        yield from render_markdown(text, width, styles, is_wrapped=is_wrapped)
        return
    if "\n".join(lines) != text.strip():
        words = f"JSON, formatted · {record_key}: as in the file" if record_key else FORMATTED
        yield [Strip([Segment(words if cell_len(words) <= width else FORMATTED, styles.muted)])]
    strips = _strips("\n".join(lines), width, styles)
    while portion := list(islice(strips, PORTION)):
        yield portion


def _strips(code: str, width: int, styles: MarkdownStyles) -> Iterator[Strip]:
    for line in highlighted(visible(code), "json", styles.code_theme):
        yield from _wrapped(line, width, styles.text)


def _wrapped(line: Text, width: int, style: Style) -> Iterator[Strip]:
    """Wrap a line; what continues is indented below its beginning."""
    plain = line.plain
    indent = len(plain) - len(plain.lstrip(" ")) + 2
    indent = indent if width - indent >= LEAST_ROOM else 0
    first, *rest = _divided(line, breaks(plain, width, width - indent))
    yield Strip(_segments(first, style))
    for piece in rest:
        yield Strip([Segment(" " * indent), *_segments(piece, style)])


def _divided(line: Text, offsets: list[int]) -> list[Text]:
    return list(line.divide(offsets)) if offsets else [line]


def _segments(line: Text, style: Style) -> list[Segment]:
    """Return a line's pieces of one style each."""
    plain, styles = line.plain, [style] * len(line.plain)
    for start, end, piece_style in line.spans:
        if isinstance(piece_style, Style):
            styles[start:end] = [style + reduced(piece_style)] * (min(end, len(plain)) - start)
    segments: list[Segment] = []
    begin = 0
    for at in range(1, len(plain) + 1):
        if at == len(plain) or styles[at] is not styles[begin]:
            segments.append(Segment(plain[begin:at], styles[begin]))
            begin = at
    return segments
