"""Render a message's text as Markdown, a portion at a time; no control codes pass, and no text is lost."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate, islice
from typing import NamedTuple

from markdown_it.token import Token
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from console.render.elements import MarkdownPage, MarkdownStyles, language_of, parser, room_for
from console.render.lines import LineSource, render_plain
from console.render.safe import visible

__all__ = ["MarkdownStyles", "reduced", "render_markdown"]

MOST_MARKDOWN = 60_000
"""Characters; longer texts are shown unparsed, since parsing would take too long."""

PIECE = 1_500
"""Characters rendered at once: about a screenful, in a few milliseconds."""

CODE_LINES = 50

PARTED = frozenset({"bullet_list_open", "ordered_list_open", "blockquote_open"})
"""Blocks that are themselves split if they are long."""

FAILURES = (RuntimeError, AssertionError, ValueError, IndexError, KeyError)


class _Piece(NamedTuple):
    """Consecutive blocks of a text that are rendered on their own."""

    text: str
    is_apart: bool
    """Whether a blank line separates them from the text above."""
    room: int
    """Width of the markers of the list that they belong to."""


class _Cut(NamedTuple):
    """A line at which a text may be split; it must be where a list begins or ends that is itself split."""

    line: int
    is_apart: bool
    room: int = 0
    is_needed: bool = False


def render_markdown(
    text: str, width: int, palette: MarkdownStyles, *, is_wrapped: bool = False
) -> Iterator[LineSource]:
    """Yield a text's lines at a width in cells; as plain text if rendering as Markdown would lose any of it.

    Code and tables may be wider, unless they are to be wrapped.
    """
    if len(text) > MOST_MARKDOWN or width < 8 or any(len(line) > 4000 for line in text.split("\n", 200)[:200]):
        yield from render_plain(text.strip("\n"), width, palette.text)
        return
    text = visible(text).strip("\n")
    console = Console(
        file=io.StringIO(),
        width=width,
        theme=palette.rich_theme(),
        color_system="truecolor",
        force_terminal=True,
        legacy_windows=False,
        emoji=False,
        markup=False,
        highlight=False,
    )
    for piece in _pieces(text):
        if piece.is_apart:
            yield [Strip([])]
        is_drawn = False
        for strips in _portions(piece, console, palette, is_wrapped):
            is_drawn = True
            yield strips
        if not is_drawn:
            yield from render_plain(piece.text, width, palette.text)


def _pieces(text: str) -> list[_Piece]:
    """Split a text into screenfuls, at the ends of blocks or of parts of a long block."""
    tokens: list[Token] = []
    blocks = parser()
    try:
        blocks.block.parse(text, blocks, {}, tokens)
    except FAILURES:
        return [_Piece(text, False, 0)]
    lines = text.split("\n")
    ends = list(accumulate(len(line) + 1 for line in lines))
    pieces: list[_Piece] = []
    begun = _Cut(0, False)
    for cut in _cuts(tokens, ends):
        start = ends[begun.line - 1] if begun.line else 0
        if cut.line > begun.line and (cut.is_needed or ends[cut.line - 1] - start >= PIECE):
            pieces.append(_Piece("\n".join(lines[begun.line : cut.line]), begun.is_apart, begun.room))
            begun = cut
        elif cut.is_needed:
            begun = cut
    return [*pieces, _Piece("\n".join(lines[begun.line :]), begun.is_apart, begun.room)]


def _cuts(tokens: list[Token], ends: list[int]) -> Iterator[_Cut]:
    last = "hr"  # no blank line below a rule or above the first block
    is_parted = False
    room = 0
    for at, token in enumerate(tokens):
        if token.nesting < 0 or token.map is None:
            continue
        first, end = token.map
        if token.level == 0:
            was_parted, is_parted = is_parted, token.type in PARTED and ends[end - 1] - ends[first] > PIECE
            room = room_for(list(_items(tokens, at))) if is_parted and token.type != "blockquote_open" else 0
            yield _Cut(first, last != "hr", room, is_needed=is_parted or was_parted)
            last = token.type
        elif is_parted and token.level == 1 and first > 0:
            yield _Cut(first, False, room)


def _items(tokens: list[Token], at: int) -> Iterator[Token]:
    """Yield the items of the list that begins at a token."""
    for token in islice(tokens, at + 1, None):
        if token.level == 0:
            return
        if token.level == 1 and token.type == "list_item_open":
            yield token


def _portions(piece: _Piece, console: Console, palette: MarkdownStyles, is_wrapped: bool) -> Iterator[list[Strip]]:
    """Render a piece; yield nothing if nothing or not all of it would be visible."""
    try:
        page = MarkdownPage(piece.text, palette.code_theme, piece.room, is_wrapped=is_wrapped)
        strips = _strips(page, console, palette.text, is_wrapped)
        if len(page.parsed) == 1 and page.parsed[0].content.strip():  # code of any length, every line of which is drawn
            while portion := list(islice(strips, CODE_LINES)):
                yield portion
            return
        lines = list(strips)
    except FAILURES:
        return
    languages = "".join(language_of(token) for token in page.parsed if token.type == "fence")
    if (
        _messages(piece.text)
        - _messages(languages + "".join(page.repeated))
        - _messages("".join(strip.text for strip in lines))
    ):
        return
    while lines and not lines[-1].text.strip():
        lines.pop()
    first = next((at for at, strip in enumerate(lines) if strip.text.strip()), 0)
    if lines:
        yield lines[first:]


def _strips(page: MarkdownPage, console: Console, style: Style, is_wrapped: bool) -> Iterator[Strip]:
    for line in Segment.split_lines(Segment.apply_style(console.render(page), style)):
        strip = Strip(_plain(line))
        yield strip.crop(0, console.width) if is_wrapped and strip.cell_length > console.width else strip


def _messages(text: str) -> Counter[str]:
    """Count letters and digits: a rendering that drops any (extra table cells, deep nesting) is not used."""
    return Counter(filter(str.isalnum, text))


def _plain(segments: list[Segment]) -> list[Segment]:
    """Keep text, colours and links that may be opened; no control codes, no background."""
    return [Segment(text, reduced(style) if style else None) for text, style, control in segments if not control]


@lru_cache(1024)
def reduced(style: Style) -> Style:
    """Return a style without its background, so that the background of the text shows."""
    return Style(
        color=style.color,
        bold=style.bold,
        dim=style.dim,
        italic=style.italic,
        underline=style.underline,
        reverse=style.reverse,
        strike=style.strike,
        link=style.link,
    )
