"""GitHub Copilot CLI with a scripted model: `copilot -p`, and at a terminal."""

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

COPILOT = program_named("copilot")


def shell(command: str, when: str = "", before: Callable[[], object] | None = None) -> Step:
    """Return the step in which the model runs a command."""
    return call("bash", when, before, command=command, description="run it")


def configure(lab: Lab, *, trusted: Iterable[Path] | None = None) -> None:
    """Trust folders, as a person does when the program asks: the repository, if none are named."""
    folder = lab.home / ".copilot"
    folder.mkdir(exist_ok=True)
    folders = [str(one) for one in ([lab.repository] if trusted is None else trusted)]
    trust = {"trustedFolders": folders, "trusted_folders": folders}
    (folder / "config.json").write_text(json.dumps(trust), "utf-8")


ALL_ALLOWED = "--allow-all-tools"


def print_mode(lab: Lab, model: ScriptedModel, prompt: str, *words: str, **how: Any) -> Finished:
    """Run `copilot -p` to its end; it must succeed."""
    done = lab.run(_print(prompt, (ALL_ALLOWED, *words)), env=variables(model) | how.pop("env", {}), **how)
    assert done.status == 0, done
    return done


def start_print_mode(lab: Lab, model: ScriptedModel, prompt: str, *words: str) -> Any:
    """Start `copilot -p` and don't wait; it asks before it uses a tool."""
    return lab.start(_print(prompt, words), env=variables(model))


def at_terminal(lab: Lab, model: ScriptedModel, *words: str, **how: Any) -> Terminal:
    """Start it at a terminal, in a folder that is trusted; return when it takes a prompt."""
    argv = [str(COPILOT.path), "--no-color", *words]
    terminal = lab.terminal(argv, env=variables(model) | how.pop("env", {}), **how)
    terminal.wait_for("? help", 60)
    return terminal


def variables(model: ScriptedModel) -> dict[str, str]:
    """Return what points the program at the model; no account is needed."""
    return {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{model.url}/v1",
        "COPILOT_PROVIDER_API_KEY": "dummy",
        "COPILOT_MODEL": "scripted",
        "COPILOT_AUTO_UPDATE": "false",
    }


def _print(prompt: str, words: Iterable[str]) -> list[str]:
    return [str(COPILOT.path), "--no-color", *words, "-p", prompt]
