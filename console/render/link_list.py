"""List the links of a message's text."""

from __future__ import annotations

from collections.abc import Iterator

from markdown_it.token import Token

from console.render.elements import parser
from console.render.links import Link, safe_target, urls_in
from console.render.safe import visible, visible_line

MOST_PARSED = 60_000
"""Characters; of longer texts, only URLs that are written out are listed."""

MOST_READ = 1_000_000
MOST_LISTED = 200
FAILURES = (RuntimeError, AssertionError, ValueError, IndexError, KeyError)


def links_of(text: str) -> list[Link]:
    """Return the links of a text that can be opened, in order, each target once; bounded in time and number."""
    text = visible(text[:MOST_READ])
    links: dict[str, Link] = {}
    for link in _links(text):
        links.setdefault(link.target, link)
        if len(links) == MOST_LISTED:
            break
    return list(links.values())


def _links(text: str) -> Iterator[Link]:
    if len(text) <= MOST_PARSED:
        try:
            tokens = parser().parse(text)
        except FAILURES:
            pass
        else:
            yield from (link for token in tokens for link in _links_in(token))
            return
    yield from _urls(text)


def _links_in(token: Token) -> Iterator[Link]:
    """Yield the links of a block: those of Markdown, and URLs, also in code."""
    if token.children is None:
        yield from _urls(token.content)
        return
    target, words = "", ""
    for child in token.children:
        if child.type == "link_open":
            target, words = safe_target(str(child.attrs.get("href", ""))), ""
        elif child.type == "link_close":
            if target:
                yield Link(visible_line(words), target)
            target = ""
        elif target:
            words += child.content
        else:
            yield from _urls(child.content)


def _urls(text: str) -> Iterator[Link]:
    for start, end in urls_in(text):
        yield Link(text[start:end], safe_target(text[start:end]))
