"""Gemini CLI: hooks in its settings, with time limits in milliseconds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from console.hooks.install.hook_additions import Wanted
from console.hooks.install.own_command import HookOptions, hook_command
from console.hooks.install.programs import GATE_SECONDS, Part, SettingsPart, Target, Version
from console.hooks.install.settings_tokens import COMMENTS

NAME, TITLE, COMMAND = "gemini", "Gemini CLI", "gemini"
PACKAGE = "@google/gemini-cli"
MARKS = (".gemini", "GEMINI.md")
EVENTS = ("SessionStart", "BeforeAgent", "AfterTool", "Notification", "AfterAgent", "SessionEnd")
MILLISECONDS = 10_000


def parts(target: Target, options: HookOptions | None, version: Version | None) -> list[Part]:
    """Return the settings file."""
    folder = _home(target) if target.is_user else target.folder / ".gemini"
    return [SettingsPart(folder / "settings.json", None if options is None else _wanted(options))]


def instruction_file(target: Target) -> Path | None:
    """Return GEMINI.md."""
    return (_home(target) if target.is_user else target.folder) / "GEMINI.md"


def remarks(target: Target, options: HookOptions, version: Version | None) -> list[str]:
    """Return that the folder must be trusted, and where the hooks are found."""
    said = ["Gemini CLI: trust the folder when gemini asks; without that no hook runs, not even one of your own"]
    if not target.is_user:
        said.append("Gemini CLI: these hooks run only where it is started in this folder; --user is for subfolders too")
    if options.wake:
        said.append("Gemini CLI: an idle session can't be woken; it hears of mail with its next prompt")
    return said


def _home(target: Target) -> Path:
    named = target.env.get("GEMINI_CLI_HOME", "")
    return (Path(named) if named.startswith("/") else target.home) / ".gemini"


def _wanted(options: HookOptions) -> Wanted:
    run = hook_command(NAME, options)
    limits = dict.fromkeys(EVENTS, MILLISECONDS) | ({"BeforeTool": GATE_SECONDS * 1000} if options.gate else {})
    hook: dict[str, Any] = {"type": "command", "name": "signalbox", "command": run}
    entries = {event: {"hooks": [{**hook, "timeout": limit}]} for event, limit in limits.items()}
    return Wanted(entries, dialect=COMMENTS)
