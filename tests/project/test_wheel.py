"""The wheel, installed where nothing of the checkout can be found."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*words: str | Path, cwd: Path) -> str:
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", place, ROOT, cwd=place)
    return next(place.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty environment with the wheel and, without the network, the libraries of this one."""
    place = tmp_path_factory.mktemp("environment")
    venv.create(place / "venv", with_pip=False)
    python = place / "venv" / "bin" / "python"
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=place).strip())
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(site)
    # the libraries come after the wheel; the editable checkout is hidden by what was unpacked
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return python


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
