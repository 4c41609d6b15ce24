"""Links in messages: found in their text, shown with where they lead, and made safe to open."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import quote, urlsplit

from markdown_it.token import Token
from msgspec import Struct

LONGEST = 2000
"""Characters; longer links are text."""

URL = re.compile(r"(?<![\w/])(?:https?://|mailto:)[^\s<>\"'`⟦⟧⟨⟩\\^{}|]+", re.IGNORECASE)
ENDS = ".,;:!?*_~"
PAIRS = {")": "(", "]": "["}
SCHEMES = frozenset({"http", "https", "mailto"})
SAFE = "%:/?#[]@!$&'()*+,;=-._~"
"""What a URL has besides letters and digits; all else is percent-encoded."""


class Link(Struct, frozen=True):
    """A link: its text, and the target that is opened; both safe to print."""

    text: str
    target: str

    @property
    def host(self) -> str:
        """The host or the mail address that the link leads to, in ASCII."""
        return urlsplit(self.target).hostname or self.target.partition(":")[2].partition("?")[0]


def ascii_host(url: str) -> str:
    """Return a URL's host in ASCII (xn--…) if it has other messages, which may look like another's; else nothing."""
    try:
        host = urlsplit(url).hostname or ""
        return "" if host.isascii() else host.encode("idna").decode("ascii")
    except ValueError:
        return ""


def safe_target(url: str) -> str:
    """Return what is opened for a URL: in ASCII, of an allowed scheme, of a bounded length; empty if it can't be."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        place = parts.netloc if host.isascii() else parts.netloc.replace(parts.netloc.rpartition("@")[2], _named(url))
    except ValueError:
        return ""
    if parts.scheme not in SCHEMES or not (host or (parts.scheme == "mailto" and parts.path)):
        return ""
    target = quote(parts._replace(netloc=place).geturl(), safe=SAFE)
    return target if len(target) <= LONGEST and place.isascii() else ""


def _named(url: str) -> str:
    """Return the host of a URL in ASCII, with its port."""
    port = urlsplit(url).port
    return ascii_host(url) + (f":{port}" if port is not None else "")


def urls_in(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the URLs in a text begin and end."""
    for match in URL.finditer(text):
        end = match.end()
        if end - match.start() > LONGEST:
            continue
        while end > match.start():
            last = text[end - 1]
            opening = PAIRS.get(last)
            is_odd = opening is not None and text.count(opening, match.start(), end) < text.count(
                last, match.start(), end
            )
            if last not in ENDS and not is_odd:
                break
            end -= 1
        if safe_target(text[match.start() : end]):
            yield match.start(), end


def shown_links(children: Sequence[Token], repeated: list[str]) -> list[Token]:
    """Return the tokens of a line of text: every link is followed by where it leads, unless its text says so.

    A link of which the target can't be opened is text. Targets that are not repeated are added to `repeated`.
    """
    shown: list[Token] = []
    target: str | None = None
    title, begin = "", 0
    for child in children:
        if child.type == "link_open":
            target, title, begin = str(child.attrs["href"]), str(child.attrs.get("title", "")), len(shown)
            if safe := safe_target(target):
                shown.append(_opening(safe))
        elif child.type == "link_close" and target is not None:
            text = "".join(token.content for token in shown[begin:])
            if safe_target(target):
                shown.append(child)
            repeated += [target] if text == target else []
            shown += _leads_to(text, target, title)
            target = None
        elif child.type == "text" and target is None:
            shown += _with_urls(child)
        else:
            shown.append(child)
    return shown


def _leads_to(text: str, target: str, title: str) -> Iterator[Token]:
    parts = [target] if target != text else []
    parts += [f'"{title}"'] if title else []
    parts += [f"host {host}"] if (host := ascii_host(target)) else []
    if parts:
        yield _text(f" ⟨{' '.join(parts)}⟩")


def _with_urls(token: Token) -> Iterator[Token]:
    """Part a text where it has URLs, which become links."""
    text, at = token.content, 0
    for start, end in urls_in(text):
        url = text[start:end]
        yield _text(text[at:start])
        yield _opening(safe_target(url))
        yield _text(url)
        yield Token("link_close", "a", -1)
        yield from _leads_to(url, url, "")
        at = end
    yield _text(text[at:]) if at else token


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


def _opening(target: str) -> Token:
    return Token("link_open", "a", 1, attrs={"href": target})
