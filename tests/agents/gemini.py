"""Gemini CLI with a scripted model: `gemini -p`, and at a terminal."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tests.agents.dialects import Step, call
from tests.agents.lab import Finished, Lab
from tests.agents.programs import program_named
from tests.agents.scripted_model import ScriptedModel
from tests.terminal import Terminal

GEMINI = program_named("gemini")
MODEL = ("-m", "gemini-2.5-flash")


def shell(command: str, when: str = "", before: Callable[[], object] | None = None) -> Step:
    """Return the step in which the model runs a command."""
    return call("run_shell_command", when, before, command=command, description="run it")


def configure(lab: Lab, *, trusted: Iterable[Path] | None = None) -> None:
    """Write the person's settings and the folders that are trusted: the repository, if none are named."""
    folder = lab.home / ".gemini"
    folder.mkdir(exist_ok=True)
    path = folder / "settings.json"
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
    }
    before = json.loads(path.read_text("utf-8")) if path.exists() else {}
    path.write_text(json.dumps(before | settings), "utf-8")
    folders = [lab.repository] if trusted is None else trusted
    trust = dict.fromkeys(map(str, folders), "TRUST_FOLDER")
    (folder / "trustedFolders.json").write_text(json.dumps(trust), "utf-8")


def print_mode(lab: Lab, model: ScriptedModel, prompt: str, *words: str, **how: Any) -> Finished:
    """Run `gemini -p` to its end; it must succeed."""
    argv = [str(GEMINI.path), *MODEL, "--approval-mode", "yolo", *words, "-p", prompt]
    done = lab.run(argv, env=variables(model) | how.pop("env", {}), **how)
    assert done.status == 0, done
    return done


def at_terminal(lab: Lab, model: ScriptedModel, *words: str, **how: Any) -> Terminal:
    """Start it at a terminal, in a folder that is trusted; return when it takes a prompt."""
    terminal = lab.terminal([str(GEMINI.path), *MODEL, *words], env=variables(model) | how.pop("env", {}), **how)
    terminal.wait_for("Type your message", 60)
    return terminal


def submit(lab: Lab, terminal: Terminal, model: ScriptedModel, prompt: str) -> None:
    """Give it a prompt. Enter that comes right after a text is part of it: it is pressed until the model is asked."""
    before = len(model.requests)
    terminal.send(prompt)
    terminal.wait_for(prompt)

    def is_asked() -> bool:
        terminal.press("enter")
        try:
            model.wait_count(before + 1, 10)
        except AssertionError:
            return False
        return True

    lab.until(is_asked, f"the model is asked {prompt!r}", 60)


def variables(model: ScriptedModel) -> dict[str, str]:
    """Return what points the program at the model."""
    return {
        "GOOGLE_GEMINI_BASE_URL": model.url,
        "GEMINI_API_KEY": "dummy",
        "GEMINI_TELEMETRY_ENABLED": "false",
    }
