"""Goose: a plugin that consists of a file of hooks. Written from documentation, not tried with the program."""

from __future__ import annotations

from pathlib import Path

from console.hooks.install.hook_additions import Wanted
from console.hooks.install.own_command import HookOptions, hook_command
from console.hooks.install.programs import OwnText, Part, SettingsPart, Target, Version

NAME, TITLE, COMMAND, IS_TRIED = "goose", "Goose", "goose", False
PACKAGE = ""
MARKS = (".goosehints",)
EVENTS = ("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop", "SessionEnd")
SECONDS = 10
MANIFEST = """\
{
  "name": "signalbox",
  "version": "1.0.0",
  "description": "Tells agents of their mail. Written by `signalbox hook install`."
}
"""
MARK = "`signalbox hook install`"


def parts(target: Target, options: HookOptions | None, version: Version | None) -> list[Part]:
    """Return the plugin's description and its file of hooks."""
    folder = (target.home if target.is_user else target.folder) / ".agents" / "plugins" / "signalbox"
    return [
        OwnText(folder / "plugin.json", None if options is None else MANIFEST, _is_ours),
        SettingsPart(folder / "hooks" / "hooks.json", None if options is None else _wanted(options)),
    ]


def instruction_file(target: Target) -> Path | None:
    """Return AGENTS.md; there is none for the user."""
    return None if target.is_user else target.folder / "AGENTS.md"


def remarks(target: Target, options: HookOptions, version: Version | None) -> list[str]:
    """Return that this is untried."""
    return ["Goose: untried with the real program; only what is said at the end of a turn reaches its model"]


def _is_ours(text: str) -> bool:
    return MARK in text


def _wanted(options: HookOptions) -> Wanted:
    run = hook_command(NAME, options)
    hook = {"type": "command", "command": run, "timeout": SECONDS}
    return Wanted({event: {"hooks": [hook]} for event in EVENTS})
