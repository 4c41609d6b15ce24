"""GitHub Copilot CLI: a file of hooks of our own; its input does not name the event, so each command does."""

from __future__ import annotations

from pathlib import Path

from console.hooks.install.hook_additions import Wanted
from console.hooks.install.own_command import HookOptions, hook_command
from console.hooks.install.programs import GATE_SECONDS, Part, SettingsPart, Target, Version
from console.hooks.install.settings_tokens import JSON

NAME, TITLE, COMMAND = "copilot", "Copilot CLI", "copilot"
PACKAGE = "@github/copilot"
MARKS = (".github/hooks", ".github/copilot-instructions.md")
EVENTS = ("sessionStart", "userPromptSubmitted", "postToolUse", "notification", "agentStop", "sessionEnd")
GATED = ("preToolUse", "permissionRequest")
SECONDS = 10


def parts(target: Target, options: HookOptions | None, version: Version | None) -> list[Part]:
    """Return the file of hooks."""
    folder = _home(target) / "hooks" if target.is_user else target.folder / ".github" / "hooks"
    return [SettingsPart(folder / "signalbox.json", None if options is None else _wanted(options))]


def instruction_file(target: Target) -> Path | None:
    """Return AGENTS.md, which it reads like Codex does; the user's own instructions have another name."""
    return _home(target) / "copilot-instructions.md" if target.is_user else target.folder / "AGENTS.md"


def remarks(target: Target, options: HookOptions, version: Version | None) -> list[str]:
    """Return that the folder must be trusted, and what can't be done."""
    said = ["Copilot CLI: trust the folder when copilot asks; until then no hook of the project runs"]
    if options.wake:
        said.append("Copilot CLI: an idle session can't be woken; it hears of mail with its next prompt")
    return said


def _home(target: Target) -> Path:
    return target.user_folder("COPILOT_HOME", ".copilot")


def _wanted(options: HookOptions) -> Wanted:
    seconds = dict.fromkeys(EVENTS, SECONDS) | (dict.fromkeys(GATED, GATE_SECONDS) if options.gate else {})
    entries = {
        event: {"type": "command", "bash": hook_command(NAME, options, event), "timeoutSec": limit}
        for event, limit in seconds.items()
    }
    return Wanted(entries, top={"version": 1}, dialect=JSON)
