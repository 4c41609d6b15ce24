"""OpenCode: a plugin file, which it loads without being told to; its settings stay as they are."""

from __future__ import annotations

import json
from pathlib import Path

from console.errors import Refused
from console.hooks.install.own_command import HookOptions, hook_words
from console.hooks.install.programs import OwnText, Part, Target, Version

__all__ = ["COMMAND", "IS_TRIED", "MARKS", "NAME", "TITLE", "instruction_file", "parts", "plugin_file", "remarks"]

NAME, TITLE, COMMAND, IS_TRIED = "opencode", "OpenCode", "opencode", True
MARKS = (".opencode", "opencode.json", "opencode.jsonc")
TEMPLATE = Path(__file__).parents[2] / "programs" / "signalbox.js"
COMMAND_LINE, WAKE_LINE = "// signalbox: command", "// signalbox: wake"
MARK = "`signalbox hook install`"


def parts(target: Target, options: HookOptions | None, version: Version | None) -> list[Part]:
    """Return the plugin, with the command filled in as a list of words, so that no shell reads it."""
    return [OwnText(plugin_file(target), None if options is None else _plugin(options), MARK)]


def plugin_file(target: Target) -> Path:
    """Return the file in the folder whose plugins are loaded."""
    return (_home(target) if target.is_user else target.folder / ".opencode") / "plugin" / "signalbox.js"


def instruction_file(target: Target) -> Path | None:
    """Return AGENTS.md."""
    return (_home(target) if target.is_user else target.folder) / "AGENTS.md"


def remarks(target: Target, options: HookOptions, version: Version | None) -> list[str]:
    """Return what the first start with a plugin costs."""
    said = [
        "OpenCode: its first start with a plugin downloads its own plugin package; without a network that takes 75 s"
    ]
    if not target.is_user:
        said.append("OpenCode: a linked worktree has the plugin only if it is committed (--shared) or yours (--user)")
    return said


def _home(target: Target) -> Path:
    if named := target.env.get("OPENCODE_CONFIG_DIR", "").strip():
        return Path(named)
    return target.user_folder("XDG_CONFIG_HOME", ".config") / "opencode"


def _plugin(options: HookOptions) -> str:
    lines = TEMPLATE.read_text(encoding="utf-8").splitlines(keepends=True)
    at = [next((at for at, line in enumerate(lines) if sign in line), -1) for sign in (COMMAND_LINE, WAKE_LINE)]
    if min(at) < 0:
        raise Refused(f"{TEMPLATE} is damaged", "install Signalbox again")
    words = json.dumps(hook_words(NAME, options), ensure_ascii=True)
    lines[at[0]] = f"const COMMAND = {words} {COMMAND_LINE}\n"
    lines[at[1]] = f"const WAKES = {json.dumps(options.wake)} {WAKE_LINE}\n"
    return "".join(lines)
