"""Links of Markdown pages by their place in the repository, so that one link works on a Git host and in the site."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
OUTSIDE = "repository/"
"""Where in the site the files lie that pages link to and that are not pages of the manual."""
CODE = re.compile(r"(^```.*?^```|`[^`\n]+`)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(\]\()([^)\s:#]+)(#[^)\s]*)?(\))")
PICTURES = {".svg", ".png", ".gif"}


def repository_path(uri: str) -> str:
    """Return the path in the repository of a page of the site."""
    if uri.startswith(OUTSIDE):
        return uri.removeprefix(OUTSIDE).removesuffix(".source.md")
    return f"docs/{uri}"


def site_uri(path: str) -> str:
    """Return where a file of the repository lies in the site."""
    suffix = posixpath.splitext(path)[1]
    if path.startswith("docs/") and not path.startswith("docs/example-store/") and suffix in {".md", *PICTURES}:
        return path.removeprefix("docs/")
    return OUTSIDE + path + ("" if suffix in {".md", *PICTURES} else ".source.md")


def linked(text: str, page: str) -> Iterator[str]:
    """Yield the paths in the repository of the files that a page, given by its own path, links to."""
    for piece in CODE.split(text)[::2]:
        for _, target, _, _ in LINK.findall(piece):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
            if (ROOT / path).is_file():
                yield path


def relinked(text: str, uri: str) -> str:
    """Return the text of the page at a place in the site with the links that it needs there."""
    page = repository_path(uri)

    def replace(found: re.Match[str]) -> str:
        before, target, anchor, after = found.groups()
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
        if not (ROOT / path).is_file():
            return found.group()
        there = posixpath.relpath(site_uri(path), posixpath.dirname(uri))
        return f"{before}{there}{anchor or ''}{after}"

    pieces = CODE.split(text)
    pieces[::2] = [LINK.sub(replace, piece) for piece in pieces[::2]]
    return "".join(pieces)


def files_outside(pages: list[str], read: Callable[[str], str]) -> list[str]:
    """Return the files that are not pages of the manual and to which these or each other's pages link."""
    found: dict[str, None] = {}
    waiting = list(pages)
    while waiting:
        page = waiting.pop()
        for path in linked(read(page), page):
            if site_uri(path).startswith(OUTSIDE) and path not in found:
                found[path] = None
                if path.endswith(".md"):
                    waiting.append(path)
    return sorted(found)


def as_page(path: str, text: str) -> str:
    """Return a file of the repository as a page that shows its text."""
    fence = "`" * (max((len(run) for run in re.findall(r"`{3,}", text)), default=2) + 1)
    language = {".py": "python", ".toml": "toml"}.get(posixpath.splitext(path)[1], "text")
    return f"---\nsearch:\n  exclude: true\n---\n\n# {path}\n\n{fence}{language}\n{text.rstrip()}\n{fence}\n"
