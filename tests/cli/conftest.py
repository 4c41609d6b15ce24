from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from console.cli import main
from tests.schemas import check_output

ROOT = Path(__file__).parents[2]


class Result(NamedTuple):
    status: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        assert self.out, f"nothing was printed, status {self.status}: {self.err}"
        return json.loads(self.out)


Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def _nobodys_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every command in an empty folder, away from the settings of whoever runs the tests."""
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        folder = tmp_path / "home" / name.lower()
        folder.mkdir(parents=True)
        monkeypatch.setenv(name, str(folder))
    for name in ("SIGNALBOX_STORE", "SIGNALBOX_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process; what it prints with `--json` must follow its schema."""

    def run(*words: object) -> Result:
        capsys.readouterr()
        status = main([str(word) for word in words])
        result = Result(status, *capsys.readouterr())
        check_output([str(word) for word in words], result.out)
        return result

    return run


@pytest.fixture
def shell() -> Callable[..., subprocess.Popen[bytes]]:
    """Start a command as a shell would, in a process of its own."""

    def shell(*words: object, **settings: Any) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "console", *map(str, words)]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
            **settings.pop("env", {}),
        }
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **settings}
        return subprocess.Popen(command, env=environment, **pipes)

    return shell
