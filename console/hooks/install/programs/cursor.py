"""Cursor: its file of hooks. Written from documentation, not tried with the program."""

from __future__ import annotations

from pathlib import Path

from console.hooks.install.hook_additions import Wanted
from console.hooks.install.own_command import HookOptions, hook_command
from console.hooks.install.programs import Part, SettingsPart, Target, Version

NAME, TITLE, COMMAND, IS_TRIED = "cursor", "Cursor", "cursor-agent", False
PACKAGE = ""
MARKS = (".cursor",)
EVENTS = ("sessionStart", "beforeSubmitPrompt", "postToolUse", "postToolUseFailure", "stop", "sessionEnd")
SECONDS = 10


def parts(target: Target, options: HookOptions | None, version: Version | None) -> list[Part]:
    """Return the file of hooks."""
    folder = (target.home if target.is_user else target.folder) / ".cursor"
    return [SettingsPart(folder / "hooks.json", None if options is None else _wanted(options))]


def instruction_file(target: Target) -> Path | None:
    """Return AGENTS.md; there is none for the user."""
    return None if target.is_user else target.folder / "AGENTS.md"


def remarks(target: Target, options: HookOptions, version: Version | None) -> list[str]:
    """Return that this is untried."""
    return ["Cursor: untried with the real program; cursor-agent --print ends without its stop hook"]


def _wanted(options: HookOptions) -> Wanted:
    entries = {event: {"command": hook_command(NAME, options, event), "timeout": SECONDS} for event in EVENTS}
    return Wanted(entries, top={"version": 1})
