"""The project as one finds it: its papers, its sizes, what must never be in it."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from console.cli.version import VERSION
from manual import release

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


def test_no_file_names_a_place_outside_the_project() -> None:
    texts = (".py", ".md", ".toml", ".txt", ".tcss", ".yml", ".yaml", "")
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


def test_the_version_is_the_newest_of_the_changelog() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    dated = re.findall(r"^## (\d\S*) - \d{4}-\d\d-\d\d$", release.CHANGELOG.read_text(encoding="utf-8"), re.MULTILINE)
    assert project["version"] == VERSION == dated[0]
    assert len(set(dated)) == len(dated) > 1


def test_a_release_says_what_its_section_says(capsys: pytest.CaptureFixture[str]) -> None:
    text = "# C\n\n## Unreleased\n\n- c\n\n## 2.0.0 - 2026-01-02\n\n### Fixed\n\n- b\n\n## 1.0.0 - 2026-01-01\n\n- a\n"
    assert release.section(text, "2.0.0") == "### Fixed\n\n- b"
    assert release.section(text, "1.0.0") == "- a"
    assert release.section(text, "2.0") is None
    assert release.main([VERSION]) == 0
    assert capsys.readouterr().out.startswith("### ")
    assert release.main(["99.0.0"]) == 1
    assert capsys.readouterr() == (
        "",
        f"the version is {VERSION}, not '99.0.0': tag v{VERSION}, or change the version first\n",
    )


def test_workflows_run_what_the_makefile_has_on_each_python_that_is_supported() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    folder = ROOT / ".github" / "workflows"
    flows = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in folder.glob("*.yml")}
    commands = [
        step["run"]
        for flow in flows.values()
        for job in flow["jobs"].values()
        for step in job["steps"]
        if step.get("run", "").startswith("make ")
    ]
    asked = [re.sub(r'\S+="[^"]*"|>.*', "", command).split()[1:] for command in commands]
    assert all(asked)
    assert {target for names in asked for target in names} <= targets
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    supported = {line.rpartition(" ")[2] for line in project["classifiers"] if re.search(r":: 3\.\d+$", line)}
    matrix = flows["test"]["jobs"]["test"]["strategy"]["matrix"]
    assert supported <= set(matrix["python"])
    assert matrix["system"] == ["ubuntu-latest", "macos-latest"]


def test_forms_of_reports_name_commands_that_exist() -> None:
    folder = ROOT / ".github" / "ISSUE_TEMPLATE"
    forms = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in folder.glob("*.yml")}
    fields = [field["attributes"]["label"] for field in forms["bug_report"]["body"]]
    assert any("signalbox doctor" in label for label in fields)
    assert all(form.get("name") and form.get("body") for name, form in forms.items() if name != "config")
