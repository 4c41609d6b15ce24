"""A message's text as lines of cells: markdown rendered, nothing obeyed, nothing lost."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments.lexers import get_all_lexers
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, ListElement, ListItem, Markdown, MarkdownElement, TableElement
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text
from rich.theme import Theme
from textual.strip import Strip

from console.render.safe import visible

__all__ = ["Palette", "render_markdown", "render_plain"]

MOST_MARKDOWN = 60_000
"""Characters; a longer text is shown as it stands: parsing markdown costs more than it gives."""


@dataclass(frozen=True, slots=True)
class Palette:
    """The styles of a rendered text."""

    text: Style
    muted: Style
    accent: Style
    code: Style
    quote: Style
    heading: Style
    link: Style
    code_theme: str

    def rich_theme(self) -> Theme:
        """Return the styles under the names that the renderer looks up."""
        return Theme(
            {
                "markdown.paragraph": self.text,
                "markdown.text": self.text,
                "markdown.em": Style(italic=True),
                "markdown.strong": Style(bold=True),
                "markdown.s": Style(strike=True),
                "markdown.code": self.accent,
                "markdown.code_block": self.code,
                "markdown.block_quote": self.quote,
                "markdown.hr": self.muted,
                "markdown.item": self.text,
                "markdown.item.bullet": self.muted,
                "markdown.item.number": self.muted,
                "markdown.link": self.link,
                "markdown.link_url": self.link,
                "markdown.table.border": self.muted,
                "markdown.table.header": self.heading,
                **{f"markdown.h{level}": self.heading for level in range(1, 8)},
            }
        )


class _Heading(Heading):
    """A heading at the left, without a box."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield self.text


class _CodeBlock(CodeBlock):
    """Highlighted code without padding, on the page's own background, under what its fence says."""

    info = ""

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> _CodeBlock:
        block = cls(_language(token) or "text", markdown.code_theme)
        block.info = "" if _language(token) else token.info.strip()
        return block

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip("\n")
        lexer = self.lexer_name
        if self.info:
            yield Text(f"  {self.info}", style="markdown.hr")
        yield Syntax(code, lexer, theme=self.theme, word_wrap=True, background_color="default", padding=(0, 2))


class _Item(ListItem):
    """An item of a list under the number that it was written with."""

    mark = "•"

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> _Item:
        item = cls()
        item.mark = f"{token.info}{token.markup}" if token.info else cls.mark
        return item

    def render_marked(self, console: Console, options: ConsoleOptions, room: int) -> RenderResult:
        style = console.get_style("markdown.item.bullet")
        lines = console.render_lines(self.elements, options.update(width=options.max_width - room), style=self.style)
        for at, line in enumerate(lines):
            yield Segment(f"{self.mark if at == 0 else '':>{room - 1}} ", style)
            yield from line
            yield Segment.line()


class _List(ListElement):
    """A list whose items keep their own numbers."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        items = [item for item in self.items if isinstance(item, _Item)]
        room = 2 + max((len(item.mark) for item in items), default=1)
        for item in items:
            yield from item.render_marked(console, options, room)


class _Table(TableElement):
    """A table without blank lines for edges."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for part in super().__rich_console__(console, options):
            if isinstance(part, Table):
                part.show_edge = False
            yield part


class _Markdown(Markdown):
    """Markdown in which HTML, images, links and their definitions stay as they were written."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _CodeBlock,
        "code_block": _CodeBlock,
        "bullet_list_open": _List,
        "ordered_list_open": _List,
        "list_item_open": _Item,
        "table_open": _Table,
    }

    def __init__(self, text: str, code_theme: str) -> None:
        super().__init__("", code_theme=code_theme, hyperlinks=False)
        self.markup = text
        self.parsed = _parser().parse(text)
        for token in self.parsed:
            for child in token.children or ():
                if child.type == "softbreak":  # a line that was ended is ended: lists without bullets, logs, verse
                    child.type = "hardbreak"


@cache
def _lexers() -> frozenset[str]:
    return frozenset(alias for _, aliases, _, _ in get_all_lexers() for alias in aliases)


def _language(token: Token) -> str:
    """Return the language that a fence names, when it says nothing else and it is one that is highlighted."""
    name = token.info.strip()
    return name if name.isascii() and " " not in name and name.lower() in _lexers() else ""


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 20})
    parser.enable(["strikethrough", "table"])
    return parser.disable(["html_block", "html_inline", "reference", "link", "image", "autolink", "entity"])


def render_markdown(text: str, width: int, palette: Palette) -> list[Strip]:
    """Render a text at a width in cells; falls back to plain lines where markdown can't be had."""
    text = visible(text).strip("\n")
    if len(text) > MOST_MARKDOWN or width < 8 or any(len(line) > 4000 for line in text.split("\n", 200)[:200]):
        return render_plain(text, width, palette.text)
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
    try:
        page = _Markdown(text, palette.code_theme)
        lines = console.render_lines(page, pad=False, style=palette.text)
    except (RuntimeError, AssertionError, ValueError, IndexError, KeyError):
        return render_plain(text, width, palette.text)
    strips = [Strip(_plain(segments)) for segments in lines]
    languages = "".join(_language(token) for token in page.parsed if token.type == "fence")
    if _letters(text) - _letters(languages) - _letters("".join(strip.text for strip in strips)):
        return render_plain(text, width, palette.text)
    while strips and not strips[-1].text.strip():
        strips.pop()
    first = next((at for at, strip in enumerate(strips) if strip.text.strip()), 0)
    return strips[first:] or render_plain(text, width, palette.text)


def _letters(text: str) -> Counter[str]:
    """Count letters and digits: markdown that drops any (a cell too many, a depth too deep) is not used."""
    return Counter(filter(str.isalnum, text))


def _plain(segments: list[Segment]) -> list[Segment]:
    """Keep text only: no control codes, no links, and no background but the page's own."""
    return [Segment(text, _ink(style) if style else None) for text, style, control in segments if not control]


@lru_cache(1024)
def _ink(style: Style) -> Style:
    """Return a style without its background: the terminal's own is not that of the page."""
    return Style(
        color=style.color,
        bold=style.bold,
        dim=style.dim,
        italic=style.italic,
        underline=style.underline,
        reverse=style.reverse,
        strike=style.strike,
    )


def render_plain(text: str, width: int, style: Style) -> list[Strip]:
    """Render a text as it stands, wrapped at a width in cells."""
    width = max(8, width)
    console = Console(file=io.StringIO(), width=width, color_system="truecolor", legacy_windows=False)
    strips: list[Strip] = []
    for line in visible(text).split("\n"):
        if cell_len(line) <= width:
            strips.append(Strip([Segment(line, style)] if line else []))
        elif line.isascii():
            strips.extend(Strip([Segment(piece, style)]) for piece in _wrapped(line, width))
        else:
            strips.extend(Strip([Segment(piece.plain, style)]) for piece in Text(line).wrap(console, width))
    return strips


def _wrapped(line: str, width: int) -> list[str]:
    """Wrap a line of one-cell characters at blanks, hard where there are none."""
    pieces: list[str] = []
    while len(line) > width:
        cut = line.rfind(" ", 1, width + 1)
        cut = cut if cut > 0 else width
        pieces.append(line[:cut])
        line = line[cut:].removeprefix(" ")
    return [*pieces, line]
