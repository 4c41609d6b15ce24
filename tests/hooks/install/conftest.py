from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Run, _nobodys_home, run

__all__ = ["Run", "_nobodys_home", "files", "project", "put_program", "run"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a git repository; there is no agent program on the PATH."""
    folder = tmp_path / "project"
    (folder / ".git" / "info").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "OPENCODE_CONFIG_DIR", "COPILOT_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


def put_program(project: Path, name: str, script: str) -> None:
    """Put a program on the PATH."""
    path = project.parent / "bin" / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def files(folder: Path) -> dict[str, bytes]:
    """Return what is in a folder, apart from git's own files."""
    return {
        name: path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not (name := str(path.relative_to(folder))).startswith(".git/HEAD")
    }
