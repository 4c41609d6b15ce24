"""The manual: its site can be built, leads nowhere in vain, and needs no other host."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from manual.check import problems
from manual.links import as_page, relinked, site_uri

ROOT = Path(__file__).parents[2]


def test_the_site_is_built_whole_and_by_itself(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (built.returncode, built.stdout, built.stderr) == (0, "", "")
    assert not problems(tmp_path)
    pages = {path.relative_to(tmp_path).with_suffix(".md").as_posix() for path in tmp_path.rglob("*.html")}
    written = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert {page.replace("README.md", "index.md") for page in written if "example-store" not in page} <= pages
    assert '"0001-the-stack.html"' in (tmp_path / "decisions" / "index.html").read_text("utf-8")
    assert (tmp_path / "search" / "search_index.js").stat().st_size > 100_000


@pytest.mark.parametrize(
    ("html", "problem"),
    [
        ('<a href="none.html">x</a>', "page.html: none.html leads nowhere"),
        ('<a href="#none">x</a>', "page.html: #none has no such section"),
        ('<img src="https://example.org/a.png">', "page.html: fetches <img src=https://example.org/a.png>"),
        ('<script src="//example.org/a.js"></script>', "page.html: fetches <script src=//example.org/a.js>"),
        ('<link rel="stylesheet" href="http://example.org/">', "page.html: fetches <link href=http://example.org/>"),
        ('<p style="background: url(https://example.org/b)">', "page.html: fetches https://example.org/b"),
        ('<a href="https://example.org/">x</a> <a id="y" href="#y">y</a>', None),
    ],
)
def test_the_check_finds_what_it_is_for(tmp_path: Path, html: str, problem: str | None) -> None:
    (tmp_path / "page.html").write_text(html, "utf-8")
    assert problems(tmp_path) == ([problem] if problem else [])


def test_a_link_out_of_the_manual_leads_to_a_copy_in_the_site() -> None:
    text = "[a](../mailstore/store.py) ![b](../screenshots/stream.svg) [c](agents.md#waking) `[d](../README.md)`"
    assert relinked(text, "search.md") == (
        "[a](repository/mailstore/store.py.source.md) ![b](repository/screenshots/stream.svg) "
        "[c](agents.md#waking) `[d](../README.md)`"
    )
    assert relinked("[e](../../benchmarks/RESULTS.md#x)", "agents/codex.md") == (
        "[e](../repository/benchmarks/RESULTS.md#x)"
    )
    assert relinked("[f](docs/search.md)", "repository/CONTRIBUTING.md") == "[f](../search.md)"


def test_a_file_of_code_becomes_a_page_whose_fences_hold() -> None:
    page = as_page("a.py", "x = '''```'''\n")
    assert "````python\nx = '''```'''\n````" in page
    assert site_uri("a.py") == "repository/a.py.source.md"
