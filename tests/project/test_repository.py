"""The project as one finds it: its papers, its sizes, what must never be in it."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOREIGN = re.compile(
    r"/work/|/root/|/home/\w|https?://(?!keepachangelog\.com|example\.)[\w.-]*(?:pypi|npm|debian|registry)"
)


def tracked() -> list[Path]:
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("this is no git checkout")
    return [path for name in done.stdout.splitlines() if (path := ROOT / name).is_file()]


def test_the_readme_names_both_commands() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in readme
    assert "make test" in readme


def test_every_picture_that_the_readme_shows_is_there() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", readme)
    assert shown
    assert not [name for name in shown if not (ROOT / name).is_file()]


def test_decisions_are_numbered_without_gaps() -> None:
    numbers = sorted(int(path.name[:4]) for path in (ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    assert numbers == list(range(1, len(numbers) + 1))


def test_no_module_has_grown_past_four_hundred_lines() -> None:
    sizes = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in tracked() if path.suffix == ".py"}
    assert not {path.name: size for path, size in sizes.items() if size > 400}


def test_no_file_names_a_place_outside_the_project() -> None:
    texts = (".py", ".md", ".toml", ".txt", ".tcss", ".yml", "")
    found = [
        path.name
        for path in tracked()
        if path.suffix in texts and path != Path(__file__) and FOREIGN.search(path.read_text("utf-8", "replace"))
    ]
    assert not found


def test_every_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    names = {re.split(r"[<>=\[]", line)[0].lower().replace("_", "-") for line in wanted}
    pinned = {
        line.partition("==")[0].lower().replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    }
    assert names <= pinned
