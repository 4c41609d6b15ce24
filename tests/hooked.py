"""Agents with hooks, as their state files tell: written as the hooks write them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from console.hooks.sessions.processes import _namespace
from console.hooks.sessions.session_state import opened
from console.hooks.state_folder import hooks_folder
from mailstore.registry import open_store


def hooked(url: str, agent_id: str, *, tool: str = "claude-code", session_id: str = "", **more: Any) -> str:
    """Write the state of one session whose hook ran; return its file. `more` are fields of `SessionState`."""
    session_id = session_id or f"0000-{agent_id}"
    with open_store(url) as store:
        url = store.url
    folder = hooks_folder(url)
    with opened(folder, tool, session_id) as held:
        state = held.state
        state.mailbox, state.agent_id = url, agent_id
        for name, value in more.items():
            setattr(state, name, value)
        held.save()
    return f"{folder}/{tool}-{session_id}"


def ended_process() -> dict[str, str]:
    """Return what the state says of a program that has ended without a word."""
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    return {"process": f"{child} 1 {_namespace()}"}


def fake_codex(folder: Path, monkeypatch: pytest.MonkeyPatch, then: str = "") -> Callable[[], list[list[str]]]:
    """Put a `codex` on the PATH that notes its arguments; return a function that returns those of all its runs."""
    bin_folder, noted = folder / "bin", folder / "codex-calls"
    bin_folder.mkdir(exist_ok=True)
    program = bin_folder / "codex"
    program.write_text(
        f"#!{sys.executable}\nimport json, sys\n"
        f"with open({str(noted)!r}, 'a') as file: file.write(json.dumps(sys.argv[1:]) + '\\n')\n{then}\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}{os.environ['PATH']}")
    return lambda: [json.loads(line) for line in noted.read_text().splitlines()] if noted.exists() else []
