"""OpenCode with a scripted model: `opencode run`, and at a terminal."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.agents.dialects import Step, call
from tests.agents.lab import Finished, Lab
from tests.agents.programs import program_named
from tests.agents.scripted_model import ScriptedModel
from tests.terminal import Terminal

OPENCODE = program_named("opencode")
QUIET = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_SHARE": "1",
}


def shell(command: str, when: str = "", before: Callable[[], object] | None = None) -> Step:
    """Return the step in which the model runs a command."""
    return call("bash", when, before, command=command, description="run it")


def task(prompt: str) -> Step:
    """Return the step in which the model has a subagent do something."""
    return call("task", description="look", prompt=prompt, subagent_type="general")


def configure(lab: Lab, model: ScriptedModel, *, bash: str = "allow", **more: Any) -> None:
    """Write the person's settings, and put OpenCode's own package where it looks for it."""
    user = lab.home / ".config" / "opencode"
    _provide_package(user)
    limit = {"context": 100_000, "output": 8000}
    options = {"baseURL": f"{model.url}/v1", "apiKey": "dummy"}
    models = {"scripted": {"name": "scripted", "tool_call": True, "limit": limit}}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "scripted", "options": options, "models": models}
    settings = {
        "provider": {"scripted": provider},
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "share": "disabled",
        "autoupdate": False,
        "permission": {"bash": bash, "edit": "allow"},
        **more,
    }
    (user / "opencode.json").write_text(json.dumps(settings), "utf-8")


def _provide_package(folder: Path) -> None:
    """Copy the package and what it needs, by links where that can be done: without it each start waits 75 s."""
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / "node_modules").exists():
        return

    def copied(source: str, target: str) -> None:
        try:
            os.link(source, target)
        except OSError:
            shutil.copy2(source, target)

    modules = OPENCODE.folder / "node_modules"
    programs = shutil.ignore_patterns("opencode-*", ".bin")
    shutil.copytree(modules, folder / "node_modules", ignore=programs, copy_function=copied, symlinks=True)
    name, _, version = OPENCODE.packages[1].rpartition("@")
    wanted = {"dependencies": {name: version}}
    (folder / "package.json").write_text(json.dumps(wanted), "utf-8")
    locked = json.loads((modules / ".package-lock.json").read_text("utf-8"))
    packages = {path: one for path, one in locked["packages"].items() if (folder / path).exists()}
    lock = {"lockfileVersion": locked["lockfileVersion"], "requires": True, "packages": {"": wanted, **packages}}
    (folder / "package-lock.json").write_text(json.dumps(lock), "utf-8")


def run_to_its_end(lab: Lab, *words: str, env: dict[str, str] | None = None, **how: Any) -> Finished:
    """Run `opencode run`; it must succeed."""
    done = lab.run([str(OPENCODE.path), "run", *words], env=QUIET | (env or {}), **how)
    assert done.status == 0, done
    return done


def at_terminal(lab: Lab, *words: str, env: dict[str, str] | None = None, **how: Any) -> Terminal:
    """Start it at a terminal; return when it takes a prompt."""
    terminal = lab.terminal([str(OPENCODE.path), *words], env=QUIET | (env or {}), **how)
    terminal.wait_for("Ask anything", 60)
    return terminal
