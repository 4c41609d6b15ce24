"""Highlight code line by line, so that visible lines don't wait for those below."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from pygments.lexers import get_all_lexers, get_lexer_by_name
from rich.syntax import Syntax
from rich.text import Text

TAB_SIZE = 4


@cache
def _languages() -> frozenset[str]:
    return frozenset(alias for _, aliases, _, _ in get_all_lexers() for alias in aliases)


def is_language(name: str) -> bool:
    """Return whether there is a highlighter for a language."""
    return name.lower() in _languages()


def highlighted(code: str, language: str, theme: str) -> Iterator[Text]:
    """Yield the lines of a piece of code in a theme's colours."""
    colours = Syntax.get_theme(theme)
    lexer = get_lexer_by_name(language, stripnl=False, ensurenl=True, tabsize=TAB_SIZE)
    line = Text()
    for kind, words in lexer.get_tokens(code):
        style = colours.get_style_for_token(kind)
        for at, part in enumerate(words.split("\n")):
            if at:
                yield line
                line = Text()
            line.append(part, style)
    if line:
        yield line
