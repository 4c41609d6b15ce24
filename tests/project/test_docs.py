"""The documentation: its links lead somewhere, its examples work, and the code refers to pages that ship."""

from __future__ import annotations

import json
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from console.settings.config_file import load_config
from mailstore.kinds.mapped.mapping import parse
from mailstore.registry import kinds, store_class

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
WITHOUT_A_PAGE = frozenset({"memory", "nats+tls", "several"})
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s#]*)(?:#([\w-]+))?\)")
MENTION = re.compile(r"\bdocs/([\w./-]+\.md)(?:#([\w-]+))?")
PATH = re.compile(r"`([a-z_]+(?:/[a-z_]+)*\.py)`")
ROOMS = ("", "mailstore/", "console/")
"""Where a path on a page may begin."""
UNPUBLISHED = re.compile(
    r"(?<!docs/)\bformats/[\w-]+\.md|\((?:semantics|interface)[:;]|\bsemantics: |\bseed \d{3}|\bhaak\.md [0-9]"
)
NUMBERED = re.compile(r"\bdocs/decisions/(\d{4})\b")


def texts(*suffixes: str) -> dict[str, str]:
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("this is not a git checkout")
    paths = [ROOT / name for name in done.stdout.splitlines()]
    return {
        str(path.relative_to(ROOT)): path.read_text("utf-8", "replace")
        for path in paths
        if path.suffix in suffixes and path.is_file() and path != Path(__file__)
    }


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the anchors of a page's headings, as Markdown renderers make them."""
    prose = re.sub(r"(?ms)^```.*?^```", "", page.read_text("utf-8"))
    headings = re.findall(r"(?m)^#+ +(.+?) *$", prose)
    return frozenset(re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings)


def leads_somewhere(page: Path, anchor: str) -> bool:
    return page.exists() and (not anchor or anchor in anchors(page))


def test_every_link_between_pages_leads_to_a_page_and_a_section() -> None:
    dead = [
        f"{name}: {link}"
        for name, text in texts(".md").items()
        if not name.startswith("tests/fixtures/")
        for link, anchor in LINK.findall(text)
        if ":" not in link
        if not leads_somewhere(((ROOT / name).parent / link) if link else ROOT / name, anchor)
    ]
    assert not dead


def test_every_page_and_section_that_the_code_mentions_is_there() -> None:
    found = [
        (name, page, anchor)
        for name, text in texts(".py", ".md", ".toml").items()
        for page, anchor in MENTION.findall(text)
    ]
    assert found
    assert not [each for each in found if not leads_somewhere(DOCS / each[1], each[2])]


def test_every_module_that_a_page_mentions_is_there() -> None:
    found = [
        (name, path) for name, text in texts(".md").items() if name != "CHANGELOG.md" for path in PATH.findall(text)
    ]
    assert found
    assert not [each for each in found if not any((ROOT / room / each[1]).is_file() for room in ROOMS)]


def test_every_decision_that_the_code_mentions_by_number_is_there() -> None:
    numbers = {path.name[:4] for path in (DOCS / "decisions").glob("*.md")}
    assert not [
        (name, number)
        for name, text in texts(".py", ".md", ".toml").items()
        for number in NUMBERED.findall(text)
        if number not in numbers
    ]


def test_nothing_refers_to_a_page_that_does_not_ship() -> None:
    assert not [(name, found) for name, text in texts(".py", ".toml").items() for found in UNPUBLISHED.findall(text)]


def test_every_kind_of_mailbox_has_a_page() -> None:
    pages = {path.stem for path in (DOCS / "formats").glob("*.md")} - {"README"}
    assert pages == set(kinds()) - WITHOUT_A_PAGE


def test_the_page_on_mirrors_says_of_every_kind_whether_it_can_be_written() -> None:
    tables = re.findall(r"(?m)^(\| kind \|.*(?:\n\|.*)*)", (DOCS / "mirror.md").read_text("utf-8"))
    takes, refused = (set(re.findall(r"`([\w-]+)`", "".join(re.findall(r"(?m)^\|([^|]*)", rows)))) for rows in tables)
    written = {kind for kind in kinds() if store_class(kind).can_merge} - {"nats+tls"}
    assert takes == written
    assert refused == set(kinds()) - written - WITHOUT_A_PAGE


def test_every_page_on_a_format_is_listed_with_the_others() -> None:
    listed = {link for link, _ in LINK.findall((DOCS / "formats" / "README.md").read_text("utf-8"))}
    assert {path.name for path in (DOCS / "formats").glob("*.md")} - {"README.md"} <= listed


def test_the_page_on_architecture_has_every_package_and_no_other() -> None:
    page = (DOCS / "architecture.md").read_text("utf-8")
    store_layer, console = page.split("## The console")[0], page.split("## The console")[1].split("\n## ")[0]
    for package, text in (("mailstore", store_layer), ("console", console)):
        rows = re.findall(r"(?m)^\| (`[^|]*`) \|", text)
        named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
        found = {
            path.stem for path in (ROOT / package).iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
        }
        folders = {name for name in found if (ROOT / package / name).is_dir()}
        assert named <= found
        assert folders <= named


@pytest.mark.parametrize("language", ["json", "toml"])
def test_every_example_on_a_page_about_a_format_can_be_parsed(language: str, tmp_path: Path) -> None:
    found = 0
    settings = tmp_path / "config.toml"
    for page in sorted((DOCS / "formats").glob("*.md")):
        for block in re.findall(rf"(?ms)^```{language}\n(.*?)^```", page.read_text("utf-8")):
            found += 1
            if language == "toml" and page.stem == "mapped":
                parse(block, page.name)
            elif language == "toml":
                settings.write_text(block, "utf-8")
                assert not load_config(settings).problems, page.name
            elif block.lstrip().startswith("[") or "\n " in block:
                json.loads(block)
            else:
                assert all(isinstance(json.loads(line), dict) for line in block.splitlines())
    assert found
