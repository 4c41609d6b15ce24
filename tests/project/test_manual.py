"""The manual: its site can be built, leads nowhere in vain, and needs no other host."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from manual.check import problems
from manual.links import as_page, relinked, site_uri
from screenshots.cast import events_of, frames_of, written

ROOT = Path(__file__).parents[2]
COMMON_MARK = MarkdownIt("commonmark").enable("table")


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
    assert not [page for page in sorted(written & pages) if not _is_built_as_git_hosts_show_it(page, tmp_path)]
    index = (tmp_path / "search" / "search_index.js").read_text("utf-8")
    assert len(index) > 100_000
    entries = json.loads(index.partition("=")[2].strip().removesuffix(";"))["docs"]
    boosts = {entry["location"]: entry.get("boost") for entry in entries}
    assert (boosts["troubleshooting.html"], boosts["search.html"]) == (2, None)


def _is_built_as_git_hosts_show_it(page: str, site: Path) -> bool:
    """Say whether the site's page has the lists, tables and pictures that CommonMark finds in the text."""
    built = (site / page).with_suffix(".html").read_text("utf-8").partition("<article")[2].partition("</article>")[0]
    shown = COMMON_MARK.render((ROOT / "docs" / page).read_text("utf-8"))
    tags = [re.compile(rf"<{tag}[ >]") for tag in ("li", "tr", "h2", "h3", "img")]
    return [len(tag.findall(built)) for tag in tags] == [len(tag.findall(shown)) for tag in tags]


def test_every_page_has_a_place_in_the_navigation() -> None:
    places = re.findall(r"(?m)^ +- (?:[^:#\n]+: )?([\w/*.-]+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"))
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    apart = {page for page in pages if page.startswith(("decisions/0", "example-store/"))}
    assert not [page for page in sorted(pages - apart) if not any(fnmatch(page, place) for place in places)]
    assert not [place for place in places if not any(fnmatch(page, place) for page in pages)]


def test_no_page_is_listed_twice_in_one_place() -> None:
    places = re.findall(r"(?m)^ +- (?:[^:#\n]+: )?([\w/*.-]+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"))
    assert len(places) == len(set(places))
    links = re.findall(r"\]\(([^)]*\.md)", (ROOT / "docs" / "README.md").read_text("utf-8").partition("| to do |")[2])
    assert len(links) > 20
    assert len(links) == len(set(links))


def test_pages_leave_the_command_for_an_extra_to_the_page_on_installing() -> None:
    named = [path for path in (ROOT / "docs").rglob("*.md") if "pip install 'signalbox-console[" in path.read_text()]
    assert [path.name for path in named if path.parent.name != "decisions"] == []


def test_the_readme_is_short_and_begins_with_the_recording() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert len(readme.splitlines()) <= 130
    assert re.findall(r"!\[[^\]]*\]\(([^)]*)\)", readme)[0] == "screenshots/tour.svg"
    assert readme.index("screenshots/tour.svg") < readme.index("make demo") < readme.index("make test")


def test_the_recording_plays_by_itself_and_needs_nothing_else() -> None:
    drawing = (ROOT / "screenshots" / "tour.svg").read_text("utf-8")
    assert len(drawing.encode()) < 1_500_000
    assert not re.search(r"<script|<foreignObject|<image|@import|url\((?!#)", drawing)
    assert re.findall(r"https?://[^\"<]*", drawing) == ["http://www.w3.org/2000/svg"]
    assert {"_s", "_p"} <= set(re.findall(r'class="(\w+)"', drawing))
    assert "@keyframes play" in drawing
    assert "prefers-reduced-motion" in drawing


def test_the_recording_is_a_minute_of_the_program() -> None:
    size, events = events_of((ROOT / "screenshots" / "tour.cast").read_text("utf-8"))
    assert size == (100, 30)
    times = [when for when, *_ in events]
    assert times == sorted(times)
    assert 30 < times[-1] < 60
    captions = [text.partition("\t")[0] for _, kind, text in events if kind == "m"]
    assert captions == ["", "j k", "p", "r", "D  >", "enter", "T  {", "O"]
    frames = frames_of(events[:60], size)
    shown = "".join(cell.data for row in frames[-1].rows for cell in row)
    assert "Signalbox" in shown
    assert "All mail" in shown


def test_a_recording_is_written_as_what_changes_and_read_as_it_was() -> None:
    events = [
        (0.0, "m", "x\ty"),
        (0.1, "o", "\x1b[1;31mred\x1b[0m \u2714 \u754c\x1b[2;3Hend"),
        (0.5, "o", "\x1b[?25l\x1b[1;1HR"),
    ]
    frames = frames_of(events, (12, 3))
    again = frames_of(events_of(written(frames, (12, 3), "t"))[1], (12, 3))
    assert again == frames
    assert frames[-1].cursor is None
    assert frames[-1].caption == "x\ty"


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
