"""Claude Code with a scripted model: `claude -p`, and at a terminal as for a person who has been here before."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.agents.dialects import Call, Step, call
from tests.agents.lab import Finished, Lab
from tests.agents.programs import program_named
from tests.agents.scripted_model import ScriptedModel
from tests.terminal import Terminal

CLAUDE = program_named("claude-code")
KEY = "sk-ant-dummy"


def bash(command: str, when: str = "", before: Callable[[], object] | None = None) -> Step:
    """Return the step in which the model runs a command."""
    return call("Bash", when, before, command=command, description="run it")


def call_agent(prompt: str) -> Step:
    """Return the step in which the model has a subagent do something, and waits for it."""
    arguments = {
        "description": "look",
        "prompt": prompt,
        "subagent_type": "general-purpose",
        "run_in_background": False,
    }
    return Step(calls=(Call("Agent", arguments),))


def check(agent: str) -> str:
    """Return the command with which an agent reads its mail, as a notice says it."""
    return f"signalbox check --as {agent}"


def agent_of(session: str) -> str:
    """Return the id that a session gets which was given none."""
    return f"claude-{session[-8:]}"


def print_mode(
    lab: Lab, model: ScriptedModel, prompt: str, *words: str, cwd: Path | None = None, **env: str
) -> Finished:
    """Run `claude -p` to its end; it must succeed."""
    done = lab.run([str(CLAUDE.path), "-p", prompt, *words], env=_variables(model) | env, cwd=cwd)
    assert done.status == 0, done
    return done


def start_print_mode(lab: Lab, model: ScriptedModel, prompt: str, *words: str, **env: str) -> subprocess.Popen[str]:
    """Start `claude -p` and don't wait."""
    return lab.start([str(CLAUDE.path), "-p", prompt, *words], env=_variables(model) | env)


def at_terminal(
    lab: Lab,
    model: ScriptedModel,
    *words: str,
    cwd: Path | None = None,
    size: tuple[int, int] = (150, 50),
    env: Mapping[str, str] | None = None,
) -> Terminal:
    """Start it at a terminal, in a folder that is trusted; return when it takes a prompt."""
    trust(lab, lab.repository, cwd or lab.repository)
    terminal = lab.terminal([str(CLAUDE.path), *words], env=_variables(model) | dict(env or {}), cwd=cwd, size=size)
    terminal.wait_for("❯")
    return terminal


def trust(lab: Lab, *folders: Path) -> None:
    """Leave what a person has answered before: the folders are trusted, the key is approved."""
    path = lab.home / ".claude.json"
    if path.exists():
        return
    seen = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    state = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
        "projects": {str(folder): seen for folder in folders},
    }
    path.write_text(json.dumps(state), "utf-8")


def _variables(model: ScriptedModel) -> dict[str, str]:
    return {
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
    }
