"""OpenCode: a plugin, and its name in the project's settings."""

from __future__ import annotations

import json
from pathlib import Path

from console.errors import Refused
from console.hooks.install.hook_additions import Wanted
from console.hooks.install.own_command import HookOptions, hook_words
from console.hooks.install.programs import OwnText, Part, SettingsPart, Target, Version

NAME, TITLE, COMMAND = "opencode", "OpenCode", "opencode"
PACKAGE = "opencode-ai"
PLUGIN = ".signalbox/opencode.js"
SETTINGS = ("opencode.jsonc", "opencode.json")
MARKS = (".opencode", "opencode.json", "opencode.jsonc")
TEMPLATE = Path(__file__).parents[2] / "programs" / "signalbox.js"
COMMAND_LINE, GATE_LINE = "// signalbox: command", "// signalbox: gate"
MARK = "`signalbox hook install`"


def parts(target: Target, options: HookOptions | None, version: Version | None) -> list[Part]:
    """Return the plugin, and for a project the settings that name it.

    The command is filled in as a list of words, so that no shell reads it. A plugin among the user's settings needs no
    name there. One in a project's `.opencode` folder would not need it either, but each such folder gets a copy of
    OpenCode's own package, for which every start without a network waits.
    """
    plugin = OwnText(plugin_file(target), None if options is None else _plugin(options), _is_ours)
    if target.is_user:
        return [plugin]
    names = {"plugin": [f"./{PLUGIN}"]}
    paths = [target.folder / name for name in SETTINGS]
    chosen = next((path for path in paths if path.exists()), paths[-1])
    wanted = None if options is None else Wanted({}, names=names)
    return [plugin, *(SettingsPart(path, wanted if path == chosen else None, names) for path in paths)]


def plugin_file(target: Target) -> Path:
    """Return the plugin's file."""
    return _home(target) / "plugin" / "signalbox.js" if target.is_user else target.folder / PLUGIN


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


def _is_ours(text: str) -> bool:
    return MARK in text


def _plugin(options: HookOptions) -> str:
    lines = TEMPLATE.read_text(encoding="utf-8").splitlines(keepends=True)
    at = [next((at for at, line in enumerate(lines) if sign in line), -1) for sign in (COMMAND_LINE, GATE_LINE)]
    if min(at) < 0:
        raise Refused(f"{TEMPLATE} is damaged", "install Signalbox again", "E223")
    words = json.dumps(hook_words(NAME, options), ensure_ascii=True)
    lines[at[0]] = f"const COMMAND = {words} {COMMAND_LINE}\n"
    lines[at[1]] = f"const GATES = {json.dumps(options.gate)} {GATE_LINE}\n"
    return "".join(lines)
