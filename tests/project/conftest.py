"""The program and the example of a store, built and unpacked where nothing of the checkout can be found: once a run."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs" / "example-store"


def run(*words: str | Path, cwd: Path, given: str | None = None) -> str:
    """Run a command, without the plugins of this run and with compiled modules; return what it prints."""
    own = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": ""}
    texts = [str(word) for word in words]
    done = subprocess.run(texts, cwd=cwd, env=own, input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], None]], Path]:
    """Return how a folder is filled by the first worker that needs it, and found by the others."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def build(name: str, fill: Callable[[Path], None]) -> Path:
        with (base / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (base / name).exists():
                (base / f"{name}.new").mkdir()
                fill(base / f"{name}.new")
                (base / f"{name}.new").rename(base / name)
        return base / name

    return build


@pytest.fixture(scope="session")
def wheel(built: Callable[[str, Callable[[Path], None]], Path]) -> Path:
    """The program's wheel."""

    def fill(place: Path) -> None:
        run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", place, ROOT, cwd=place)

    return next(built("wheel", fill).glob("*.whl"))


@pytest.fixture(scope="session")
def installed(wheel: Path, built: Callable[[str, Callable[[Path], None]], Path]) -> Path:
    """The Python of an empty environment with the wheel, the example and, without the network, this one's libraries."""

    def fill(place: Path) -> None:
        venv.create(place / "venv", with_pip=False)
        run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", place, cwd=EXAMPLE)
        site = next((place / "venv" / "lib").glob("python*/site-packages"))
        for path in (wheel, *place.glob("*.whl")):
            with zipfile.ZipFile(path) as packed:
                packed.extractall(site)
        # the libraries come after the wheels; the editable checkout is hidden by what was unpacked
        (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")

    return built("environment", fill) / "venv" / "bin" / "python"
