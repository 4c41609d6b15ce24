"""Rendering of Markdown elements: headings, code, lists, tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from threading import local
from typing import Any, ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markdown import BlockQuote, CodeBlock, Heading, ListElement, ListItem, Markdown, MarkdownElement, TableElement
from rich.measure import Measurement
from rich.segment import Segment
from rich.style import Style
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from console.render.code import highlighted, is_language
from console.render.json_layout import laid_out
from console.render.links import shown_links

MOST_PADDED = 200_000
"""Cells; the lines of more code than that are scrolled sideways each on its own."""

WIDEST_TABLE = 300
"""Cells."""

SLACK = 1.2
"""Rich takes width from the widest columns first, even where others have shorter words."""


@dataclass(frozen=True, slots=True)
class MarkdownStyles:
    """The styles of rendered Markdown."""

    text: Style
    muted: Style
    accent: Style
    code: Style
    quote: Style
    heading: Style
    link: Style
    code_theme: str

    def rich_theme(self) -> Theme:
        """Return the styles by the names that Rich looks up."""
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
                "markdown.link_url": self.link + Style(underline=True),
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
    """Highlighted code without padding, on the background of the text, below its info string."""

    info = ""
    is_wrapped = False

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> _CodeBlock:
        block = cls(language_of(token) or "text", markdown.code_theme)
        block.info = "" if language_of(token) else token.info.strip()
        block.is_wrapped = is_wrapping(markdown)
        return block

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code, info = str(self.text).rstrip("\n"), self.info
        if self.lexer_name == "json" and (lines := laid_out(code)) is not None and lines != code.split("\n"):
            code, info = "\n".join(lines), "formatted"
        if info:
            yield Text(f"  {info}", style="markdown.hr")
        width = 2 + max((cell_len(line) for line in code.split("\n")), default=0)
        room = max(1, options.max_width - 4)
        is_padded = not self.is_wrapped and width > options.max_width and width * code.count("\n") < MOST_PADDED
        for line in highlighted(code, self.lexer_name, self.theme):
            for piece in line.wrap(console, room) if self.is_wrapped and line.cell_len > room else (line,):
                yield Segment("  ")
                yield from piece.render(console)
                if is_padded:  # lines scroll sideways together
                    yield Segment(" " * (width - 2 - line.cell_len))
                yield Segment.line()


def _uncropped(
    elements: RenderableType, console: Console, width: int, options: ConsoleOptions
) -> Iterable[list[Segment]]:
    """Render elements at a width, which code and tables may exceed."""
    return Segment.split_lines(console.render(elements, options.update(width=width, height=None)))


class _Quote(BlockQuote):
    """A quotation, in which code may be wider than the pane."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in _uncropped(self.elements, console, options.max_width - 4, options):
            yield Segment("▌ ", self.style)
            yield from Segment.apply_style(line, self.style)
            yield Segment.line()


def _mark(item: Token) -> str:
    return f"{item.info}{item.markup}" if item.info else "•"


def room_for(items: list[Token]) -> int:
    """Return the width of a list's widest marker, in cells."""
    return 2 + max((len(_mark(item)) for item in items), default=1)


class _Item(ListItem):
    """A list item with the number that it has in the source."""

    mark = "•"

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> _Item:
        item = cls()
        item.mark = _mark(token)
        return item

    def render_marked(self, console: Console, options: ConsoleOptions, room: int) -> RenderResult:
        style = console.get_style("markdown.item.bullet")
        for at, line in enumerate(_uncropped(self.elements, console, options.max_width - room, options)):
            yield Segment(f"{self.mark if at == 0 else '':>{room - 1}} ", style)
            yield from line
            yield Segment.line()


class _List(ListElement):
    """A list whose items keep their numbers; `room` is the width of the widest marker."""

    room = 0

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> _List:
        element = cls(token.type, None)
        if token.level == 0 and isinstance(markdown, MarkdownPage):
            element.room = markdown.room
        return element

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        items = [item for item in self.items if isinstance(item, _Item)]
        room = max(self.room, 2 + max((len(item.mark) for item in items), default=1))
        for item in items:
            yield from item.render_marked(console, options, room)


class _Table(TableElement):
    """A table without blank lines above and below; as wide as its longest words need."""

    is_wrapped = False

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> _Table:
        table = cls()
        table.is_wrapped = is_wrapping(markdown)
        return table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for part in super().__rich_console__(console, options):
            if isinstance(part, Table):
                part.show_edge = False
                if self.is_wrapped:
                    yield part
                    continue
                for column in part.columns:
                    column.overflow = "fold"
                measurement = Measurement.get(console, options.update(max_width=WIDEST_TABLE), part)
                width = max(options.max_width, min(measurement.maximum, int(measurement.minimum * SLACK)))
                yield from console.render(part, options.update(width=width))
            else:
                yield part


class MarkdownPage(Markdown):
    """Markdown with HTML, images and link definitions shown as source text; links say where they lead."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "blockquote_open": _Quote,
        "fence": _CodeBlock,
        "code_block": _CodeBlock,
        "bullet_list_open": _List,
        "ordered_list_open": _List,
        "list_item_open": _Item,
        "table_open": _Table,
    }

    def __init__(self, text: str, code_theme: str, room: int = 0, *, is_wrapped: bool = False) -> None:
        vars(self).update(_begun(code_theme))
        self.is_wrapped = is_wrapped
        self.markup = text
        self.room = room
        self.parsed = parser().parse(text)
        self.repeated: list[str] = []
        """Targets of links that are shown once, as the link's text."""
        for token in self.parsed:
            if token.children:
                token.children = shown_links(token.children, self.repeated)
            for child in token.children or ():
                if child.type == "softbreak":  # keep line breaks: lists without bullets, logs, verse
                    child.type = "hardbreak"


def is_wrapping(markdown: Markdown) -> bool:
    """Return whether code and tables are to fit into the width."""
    return isinstance(markdown, MarkdownPage) and markdown.is_wrapped


def language_of(token: Token) -> str:
    """Return the language of a fence's info string; empty unless it is a known language and nothing else."""
    name = token.info.strip()
    return name if name.isascii() and " " not in name and is_language(name) else ""


@cache
def _begun(code_theme: str) -> dict[str, Any]:
    """Return the attributes of an empty page: Rich makes a parser for each, which takes longer than a short text."""
    return vars(Markdown("", code_theme=code_theme, hyperlinks=True))


_own = local()


def parser() -> MarkdownIt:
    """Return this thread's parser, which takes HTML, images and link definitions as text, and targets as written."""
    if (known := getattr(_own, "parser", None)) is None:
        known = _own.parser = _new_parser()
    return known


def _new_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 20})
    parser.enable(["strikethrough", "table"])
    parser.disable(["html_block", "html_inline", "reference", "image", "autolink", "entity"])
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    return parser
