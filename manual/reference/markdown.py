"""Markdown that reads the same on a Git host and in the manual's site."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

GENERATED = "<!-- made from the code by `python -m manual.reference`: change it there -->"
BARE = re.compile(r"(`[^`]*`)|([<>|*]|(?<!\w)_|\[(?=[^\]]*\]\())")


def page(*parts: str) -> str:
    """Return a page of parts with an empty line between them."""
    title, *others = [part.strip("\n") for part in parts if part.strip()]
    return "\n\n".join([title, GENERATED, *others]) + "\n"


def code(text: str) -> str:
    """Return a text in the type of code, also in a table."""
    if "|" in text or "`" in text:
        hidden = text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;").replace("`", "&#96;")
        return f"<code>{hidden}</code>"
    return f"`{text}`"


def prose(text: str) -> str:
    """Return a sentence of the program as Markdown; what it has in backticks stays code."""
    return BARE.sub(lambda found: found[1] or f"&#{ord(found[2])};", " ".join(text.split()))


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; its cells are Markdown."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    if not lines:
        return ""
    return "\n".join([f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", *lines])
