"""The README's two commands, where nothing but the declared programs can be found and no settings are inherited."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.bare import ROOT
from tests.terminal import Terminal

SET_UP = ROOT / ".venv" / "dev"


@pytest.fixture
def environment(bare: str, tmp_path: Path) -> dict[str, str]:
    if not SET_UP.is_file():
        pytest.skip("this environment was not set up by make")
    home = tmp_path / "empty"
    home.mkdir()
    return {"PATH": bare, "HOME": str(home), "TERM": "xterm-256color", "TMPDIR": str(tmp_path)}


def test_make_demo_opens_the_console_on_a_live_mailbox(environment: dict[str, str], tmp_path: Path) -> None:
    with Terminal(["make", "-C", str(ROOT), "demo"], env=environment, size=(120, 40), cwd=tmp_path) as terminal:
        terminal.wait_for("architect-new")
        terminal.wait_for("● live")
        terminal.press("q")
        assert terminal.wait_exit() == 0


def test_make_test_runs_tests(environment: dict[str, str]) -> None:
    argv = ["make", "-C", str(ROOT), "test", "TESTS=--numprocesses 0 tests/test_left_out.py"]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed in " in done.stdout
