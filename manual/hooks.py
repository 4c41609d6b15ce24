"""What mkdocs calls while it builds the manual: navigation by folders, and links that leave `docs/`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

from manual.links import ROOT, as_page, files_outside, relinked, repository_path, site_uri

DECISIONS = "decisions/README.md"
UNFETCHED = ("https://unpkg.com/mermaid@11/dist/mermaid.min.js", "https://unpkg.com/resize-observer-polyfill")
"""What the theme's script would fetch for diagrams and old browsers; the manual has neither."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages of a folder where the navigation says `folder/*.md`."""
    config.nav = _expanded(config.nav)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files outside `docs/` to which a page links."""
    pages = [repository_path(file.src_uri) for file in files.documentation_pages()]
    for path in files_outside(pages, _read):
        uri, content = site_uri(path), _read(path)
        if uri.endswith(".source.md"):
            content = as_page(path, content)
        files.append(File.generated(config, uri, content=content, inclusion=InclusionLevel.NOT_IN_NAV))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links to where their files are in the site, and list the decisions."""
    uri = page.file.src_uri
    if uri.startswith("decisions/"):
        page.meta["search"] = {"boost": 0.3}  # who looks for a task finds its page first
    elif uri == "troubleshooting.md":
        page.meta["search"] = {"boost": 2}  # and who has a message finds its cause
    text = relinked(markdown, uri)
    return text + _decisions() if uri == DECISIONS else text


def on_post_build(config: MkDocsConfig) -> None:
    """Take the addresses of other hosts out of the theme's script, and remove what the pages never load."""
    scripts = Path(config.site_dir, "assets", "javascripts")
    shutil.rmtree(scripts / "lunr", ignore_errors=True)
    for unused in Path(config.site_dir, "assets").rglob("*.map"):
        unused.unlink()
    for script in scripts.glob("bundle.*.js"):
        text = script.read_text("utf-8")
        for address in UNFETCHED:
            text = text.replace(address, "")
        script.write_text(text, "utf-8")


def _expanded(entries: Any) -> Any:
    if isinstance(entries, dict):
        return {title: _expanded(entry) for title, entry in entries.items()}
    if not isinstance(entries, list):
        return entries
    found = []
    for entry in entries:
        if isinstance(entry, str) and "*" in entry:
            pages = sorted((ROOT / "docs").glob(entry), key=lambda path: (path.stem != "README", path.stem))
            found += [path.relative_to(ROOT / "docs").as_posix() for path in pages]
        else:
            found.append(_expanded(entry))
    return found


def _decisions() -> str:
    pages = sorted((ROOT / "docs" / "decisions").glob("0*.md"))
    titles = [(page.name, page.read_text("utf-8").partition("\n")[0].removeprefix("# ")) for page in pages]
    return "\n\n" + "\n".join(f"- [{title}]({name})" for name, title in titles) + "\n"


def _read(path: str) -> str:
    return (ROOT / path).read_text("utf-8")
