"""Check a built site: every link leads somewhere, and no page makes a browser ask another host for anything.

python -m manual.check FOLDER
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {"img", "script", "iframe", "source", "audio", "video", "embed", "object", "image", "use", "form", "base"}
"""Tags whose address a browser fetches or sends to; a `link` is one unless it only names its page."""
IN_STYLES = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s]+)""")
IN_SCRIPTS = re.compile(r"https?://[\w.-]+/[^\s\"'`]*")
NAMED_ONLY = re.compile(r"https?://(?:www\.w3\.org/|bit\.ly/|clipboardjs\.com/|tartarus\.org/|api\.github\.com/)")
"""Name spaces and comments in the theme's script; GitHub is asked only about a `repo_url`, which is not set."""


@dataclass
class Parsed(HTMLParser):
    """The ids of a page, where it leads, and what it fetches from other hosts."""

    ids: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    foreign: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        values = {name: value or "" for name, value in attrs}
        self.ids |= {values[name] for name in ("id", "name") if name in values}
        is_fetched = tag in FETCHED or (tag == "link" and values.get("rel") not in {"canonical", "prev", "next"})
        for name in ("href", "src", "srcset", "data", "action", "xlink:href"):
            if not (address := values.get(name)):
                continue
            if not urlsplit(address).scheme and not address.startswith("//"):
                self.links.add(address)
            elif is_fetched and not address.startswith("data:"):
                self.foreign.append(f"<{tag} {name}={address}>")
        self.foreign += IN_STYLES.findall(values.get("style", ""))


def problems(site: Path) -> list[str]:
    """Return what is wrong in a built site, a line for each thing."""
    pages = {page: _parsed(page) for page in sorted(site.rglob("*.html"))}
    found = [f"{page.relative_to(site)}: fetches {each}" for page, parsed in pages.items() for each in parsed.foreign]
    for page, parsed in pages.items():
        if page.name == "404.html":
            continue  # its links begin at the root of a server
        for link in sorted(parsed.links):
            path, anchor = unquote(urlsplit(link).path), unquote(urlsplit(link).fragment)
            target = (page.parent / path).resolve() if path else page
            if not target.is_file():
                found.append(f"{page.relative_to(site)}: {link} leads nowhere")
            elif anchor and target in pages and anchor not in pages[target].ids:
                found.append(f"{page.relative_to(site)}: {link} has no such section")
    for sheet in sorted(site.rglob("*.css")):
        found += [f"{sheet.relative_to(site)}: fetches {each}" for each in IN_STYLES.findall(sheet.read_text("utf-8"))]
    for script in sorted(site.rglob("*.js")):
        if script.name != "search_index.js":
            named = IN_SCRIPTS.findall(script.read_text("utf-8"))
            found += [f"{script.relative_to(site)}: names {each}" for each in named if not NAMED_ONLY.match(each)]
    for picture in sorted(site.rglob("*.svg")):
        text = picture.read_text("utf-8")
        found += [f"{picture.relative_to(site)}: fetches {each}" for each in IN_STYLES.findall(text)]
    return found


def _parsed(page: Path) -> Parsed:
    parsed = Parsed()
    parsed.feed(page.read_text("utf-8"))
    return parsed


if __name__ == "__main__":
    wrong = problems(Path(sys.argv[1]).resolve())
    sys.stdout.write("".join(f"{each}\n" for each in wrong))
    sys.exit(bool(wrong))
