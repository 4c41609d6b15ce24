"""The wheel, installed where nothing of the checkout can be found."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

from tests.project.conftest import ROOT, run


def test_the_wheel_carries_all_that_is_not_python(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "console/console.tcss" in names
    assert {name for name in names if name.startswith("themes/") and name.endswith(".toml")} == {
        f"themes/{path.name}" for path in (ROOT / "themes").glob("*.toml")
    }
    assert any(name.startswith("console/demo/talk/") for name in names)
    assert not [name for name in names if name.startswith(("tests", "benchmarks"))]


def test_the_installed_program_runs(installed: Path, tmp_path: Path) -> None:
    program = "import console; print(console.__file__)"
    assert str(ROOT) not in run(installed, "-P", "-c", program, cwd=tmp_path)
    assert run(installed, "-P", "-m", "console", "--version", cwd=tmp_path).strip()


def test_the_installed_program_finds_its_themes_and_a_mailbox(installed: Path, tmp_path: Path) -> None:
    themes = json.loads(run(installed, "-P", "-m", "console", "themes", "--json", cwd=tmp_path))
    assert len(themes) >= 3
    run(installed, "-P", "-m", "console", "init", cwd=tmp_path)
    sent = run(
        installed, "-P", "-m", "console", "send", "--from", "user", "--to", "all", "--body", "hello", cwd=tmp_path
    )
    found = json.loads(run(installed, "-P", "-m", "console", "threads", "--json", cwd=tmp_path))
    assert [thread["root"] for thread in found] == [sent.strip()]
