"""Codex: its file of hooks, each of which the user reviews once: so its text must not change between versions."""

from __future__ import annotations

import json
from pathlib import Path

from console.hooks.install.hook_additions import Wanted
from console.hooks.install.own_command import HookOptions, hook_command
from console.hooks.install.programs import GATE_SECONDS, Part, SettingsPart, Target, Version
from console.hooks.install.settings_tokens import JSON
from console.settings.toml_errors import read_toml
from mailstore.files.whole import read_text
from mailstore.location import path_in

NAME, TITLE, COMMAND = "codex", "Codex", "codex"
PACKAGE = "@openai/codex"
MARKS = (".codex",)
EVENTS = ("SessionStart", "UserPromptSubmit", "PostToolUse", "PermissionRequest", "Stop", "Interrupt", "SessionEnd")
GATED = ("PreToolUse", "PermissionRequest")
SECONDS = 10


def parts(target: Target, options: HookOptions | None, version: Version | None) -> list[Part]:
    """Return the file of hooks: the same whatever the version, because each change asks for a new review."""
    return [SettingsPart(hooks_file(target), None if options is None else _wanted(options))]


def hooks_file(target: Target) -> Path:
    """Return the file of hooks."""
    return (_home(target) if target.is_user else target.folder / ".codex") / "hooks.json"


def instruction_file(target: Target) -> Path | None:
    """Return AGENTS.md."""
    return (_home(target) if target.is_user else target.folder) / "AGENTS.md"


def remarks(target: Target, options: HookOptions, version: Version | None) -> list[str]:
    """Return that hooks must be trusted, and what else can keep them from running."""
    said = [
        "Codex: open codex once, trust the folder, and trust the hooks in /hooks; "
        "until then none of them runs, and codex exec doesn't tell"
    ]
    if not target.is_user:
        said.append("Codex: a linked worktree has these hooks only if they are committed (--shared) or yours (--user)")
    if (folder := _folder_of(options.store)) and not folder.is_relative_to(target.folder):
        said.append(
            "Codex: its sandbox lets agents write only below the folder where it is started; let it write the mailbox: "
            f"writable_roots = [{json.dumps(str(folder))}] under [sandbox_workspace_write] in "
            f"{_home(target) / 'config.toml'}"
        )
    if _are_off(target):
        said.append(f"Codex: hooks are off in {_home(target) / 'config.toml'} ([features] hooks = false)")
    return said


def _home(target: Target) -> Path:
    return target.user_folder("CODEX_HOME", ".codex")


def _wanted(options: HookOptions) -> Wanted:
    run = hook_command(NAME, options)
    seconds = dict.fromkeys(EVENTS, SECONDS) | (dict.fromkeys(GATED, GATE_SECONDS) if options.gate else {})
    hooks = {event: {"type": "command", "command": run, "timeout": limit} for event, limit in seconds.items()}
    return Wanted({event: {"hooks": [hook]} for event, hook in hooks.items()}, dialect=JSON)


def _folder_of(url: str) -> Path | None:
    """Return the folder of a mailbox on this machine."""
    path = path_in(url) if url else None
    return path and (path if path.is_dir() else path.parent)


def _are_off(target: Target) -> bool:
    try:
        config = read_toml(read_text(_home(target) / "config.toml"))
    except (OSError, ValueError):
        return False
    features = config.get("features")
    return isinstance(features, dict) and features.get("hooks") is False
