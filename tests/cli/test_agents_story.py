"""The two minutes of the page for agents: its commands are run, and the hooks that they install."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import ROOT, Run

PAGE = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
STORY = PAGE.partition("\n## Two minutes")[2].partition("\n## ")[0]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = [line for kind, block in BLOCK.findall(STORY) if not kind for line in block.splitlines()]
[NOTICE] = [block.strip() for kind, block in BLOCK.findall(STORY) if kind == "text"]
FIRST, SECOND = "0b2d4c1e-7f3a-4f6b-9d1c-2e5fa66516ad", "5d1c9f10-3b7e-4a52-8c64-77d05c1e0b42"


class Sessions:
    """Claude Code in the project, as far as its hooks can tell."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._hooks = json.loads((folder / ".claude" / "settings.local.json").read_text())["hooks"]

    def event(self, session: str, name: str, **more: Any) -> Any:
        """Run what is installed for an event; return what the model is told."""
        [entry] = self._hooks[name]
        [hook] = entry["hooks"]
        given = {"session_id": session, "cwd": str(self._folder), "hook_event_name": name, **more}
        env = {**os.environ, "CLAUDE_CODE_SESSION_ID": session}
        done = subprocess.run(
            ["sh", "-c", hook["command"]], input=json.dumps(given), env=env, capture_output=True, text=True, check=True
        )
        assert done.stderr == ""
        return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else ""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "ink"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    for name in ("SIGNALBOX_AGENT", "SIGNALBOX_ROLE", "SIGNALBOX_TAGS", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    return folder


def test_the_two_minutes_of_the_page(run: Run, folder: Path) -> None:
    init, install, who, ask, check, answer, console = (shlex.split(line)[1:] for line in COMMANDS)
    assert console == ["open"]
    assert run(*init).status == 0
    done = run(*install, "--yes")
    assert (done.status, done.err) == (0, "")
    assert "trust the folder" in done.out
    sessions = Sessions(folder)
    greeting = sessions.event(FIRST, "SessionStart", source="startup")
    assert greeting.startswith("Signalbox: you are claude-a66516ad (tags project:ink). No unread messages. ")
    sessions.event(SECOND, "SessionStart", source="startup")
    assert {row["session_id"] for row in run(*who, "--json").document} == {"claude-a66516ad", "claude-5c1e0b42"}
    sessions.event(SECOND, "UserPromptSubmit", prompt="Put the catalogue in order.")
    message = run(*ask).out.strip()
    assert sessions.event(SECOND, "PostToolBatch") == NOTICE
    assert sessions.event(SECOND, "PostToolBatch") == "", "once"
    held = sessions.event(SECOND, "Stop", stop_hook_active=False)
    assert held.startswith("Signalbox: 1 message for claude-5c1e0b42 is unread, from claude-a66516ad. ")
    assert "    Is leaf 12 in?" in run(*check).out
    assert sessions.event(SECOND, "Stop", stop_hook_active=True) == "", "what was read holds up no turn"
    assert run(*[message if word == "MESSAGE" else word for word in answer]).status == 0
    assert "1 new message for claude-a66516ad, from claude-5c1e0b42" in sessions.event(FIRST, "PostToolBatch")
    assert run("bye", "--as", "claude-5c1e0b42").out == "claude-5c1e0b42 is retired\n"
    held = run("bye", "--as", "claude-a66516ad")
    assert (held.status, held.out.splitlines()[0].partition(",")[0]) == (1, "1 unread message for claude-a66516ad")
    sessions.event(FIRST, "SessionEnd", reason="prompt_input_exit")
    states = {row["session_id"]: row["status"] for row in run("roster", "--json").document}
    assert states == {"claude-a66516ad": "frozen", "claude-5c1e0b42": "dead"}
    assert run("hook", "uninstall", "--for", "claude-code", "--yes").status == 0
    assert sorted(path.name for path in folder.iterdir()) == [".git", "data"]
