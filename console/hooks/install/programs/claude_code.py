"""Claude Code: hooks and permissions in its settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from console.hooks.install.hook_additions import Wanted
from console.hooks.install.own_command import HookOptions, hook_command
from console.hooks.install.programs import GATE_SECONDS, Part, SettingsPart, Target, Version
from console.hooks.install.settings_tokens import JSON

NAME, TITLE, COMMAND = "claude-code", "Claude Code", "claude"
PACKAGE = "@anthropic-ai/claude-code"
MARKS = (".claude", "CLAUDE.md")
LOCAL, SHARED = ".claude/settings.local.json", ".claude/settings.json"
SECONDS, END_SECONDS = 10, 5
STOP_CONTEXT: Version = (2, 1, 163)
"""The first version whose Stop hooks may add context; before, they can only block."""
TOOL_BATCH: Version = (2, 1, 119)
"""The first version that surely knows PostToolBatch; an unknown event opens a dialog at each start."""
FILE_CHANGED: Version = (2, 1, 110)
RULES = tuple(
    f"Bash(signalbox {name}:*)" for name in ("check", "mark-read", "send", "thread", "who", "checkpoint", "bye")
)


def parts(target: Target, options: HookOptions | None, version: Version | None) -> list[Part]:
    """Return the settings files: the local one, the team's one, or the user's."""
    paths = _paths(target)
    wanted = None if options is None else _wanted(options, version)
    chosen = paths[-1] if target.is_user or (options and options.shared) else paths[0]
    return [SettingsPart(path, wanted if path == chosen else None) for path in paths]


def instruction_file(target: Target) -> Path | None:
    """Return CLAUDE.md."""
    return (_home(target) if target.is_user else target.folder) / "CLAUDE.md"


def remarks(target: Target, options: HookOptions, version: Version | None) -> list[str]:
    """Return what the user has to do, and what the installed version can't."""
    said = ["Claude Code: trust the folder when claude asks; claude -p runs hooks without that"]
    if options.shared:
        said.append(
            "Claude Code: the shared settings count only where it is started in their folder, not in subfolders"
        )
    if version and version < FILE_CHANGED and options.wake:
        said.append("Claude Code: this version can't be woken, so --wake changes nothing: update it")
    return said


def _paths(target: Target) -> list[Path]:
    if target.is_user:
        return [_home(target) / "settings.json"]
    return [target.folder / LOCAL, target.folder / SHARED]


def _home(target: Target) -> Path:
    return target.user_folder("CLAUDE_CONFIG_DIR", ".claude")


def _wanted(options: HookOptions, version: Version | None) -> Wanted:
    is_old = version is not None and version < TOOL_BATCH
    can_only_block = version is not None and version < STOP_CONTEXT
    run = hook_command(NAME, options)
    entries = {
        "SessionStart": _entry(run),
        "UserPromptSubmit": _entry(run),
        "PostToolUse" if is_old else "PostToolBatch": _entry(run),
        "Stop": _entry(hook_command(NAME, options, "StopBlock") if can_only_block else run),
        "Notification": {"matcher": "permission_prompt", **_entry(run)},
    }
    if options.wake and not (version and version < FILE_CHANGED):
        entries["FileChanged"] = _entry(run, asyncRewake=True)
        entries["CwdChanged"] = _entry(run)
    if options.gate:
        entries["PreToolUse"] = _entry(run, GATE_SECONDS)
        if not is_old:
            entries["PermissionRequest"] = _entry(run, GATE_SECONDS)
    entries["SessionEnd"] = _entry(run, END_SECONDS)
    return Wanted(entries, RULES, dialect=JSON)


def _entry(run: str, seconds: int = SECONDS, **more: Any) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": run, "timeout": seconds, **more}]}
