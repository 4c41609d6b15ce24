"""Rendering of Markdown elements: headings, code, lists, tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, ListElement, ListItem, Markdown, MarkdownElement, TableElement
from rich.segment import Segment
from rich.style import Style
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from console.render.code import highlighted, is_language

__all__ = ["MarkdownPage", "MarkdownStyles", "language_of", "parser", "room_for"]


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
    """Highlighted code without padding, on the background of the text, below its info string."""

    info = ""

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> _CodeBlock:
        block = cls(language_of(token) or "text", markdown.code_theme)
        block.info = "" if language_of(token) else token.info.strip()
        return block

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.info:
            yield Text(f"  {self.info}", style="markdown.hr")
        room = max(1, options.max_width - 4)
        for line in highlighted(str(self.text).rstrip("\n"), self.lexer_name, self.theme):
            for piece in line.wrap(console, room) if line.cell_len > room else (line,):
                yield Segment("  ")
                yield from piece.render(console)
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
        lines = console.render_lines(self.elements, options.update(width=options.max_width - room), style=self.style)
        for at, line in enumerate(lines):
            yield Segment(f"{self.mark if at == 0 else '':>{room - 1}} ", style)
            yield from line
            yield Segment.line()


class _List(ListElement):
    """A list whose items keep their numbers; `room` is the width of the widest marker."""

    room = 0

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> _List:
        found = cls(token.type, None)
        if token.level == 0 and isinstance(markdown, MarkdownPage):
            found.room = markdown.room
        return found

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        items = [item for item in self.items if isinstance(item, _Item)]
        room = max(self.room, 2 + max((len(item.mark) for item in items), default=1))
        for item in items:
            yield from item.render_marked(console, options, room)


class _Table(TableElement):
    """A table without blank lines above and below."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for part in super().__rich_console__(console, options):
            if isinstance(part, Table):
                part.show_edge = False
            yield part


class MarkdownPage(Markdown):
    """Markdown with HTML, images, links and link definitions shown as source text."""

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

    def __init__(self, text: str, code_theme: str, room: int = 0) -> None:
        super().__init__("", code_theme=code_theme, hyperlinks=False)
        self.markup = text
        self.room = room
        self.parsed = parser().parse(text)
        for token in self.parsed:
            for child in token.children or ():
                if child.type == "softbreak":  # keep line breaks: lists without bullets, logs, verse
                    child.type = "hardbreak"


def language_of(token: Token) -> str:
    """Return the language of a fence's info string; empty unless it is a known language and nothing else."""
    name = token.info.strip()
    return name if name.isascii() and " " not in name and is_language(name) else ""


def parser() -> MarkdownIt:
    """Return a parser that treats HTML, images, links and link definitions as text."""
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 20})
    parser.enable(["strikethrough", "table"])
    return parser.disable(["html_block", "html_inline", "reference", "link", "image", "autolink", "entity"])
