"""Whether a program trusts a folder and our hooks in it, as its own files tell. Nothing is ever written there."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from console.errors import Refused
from console.hooks.install.bounded_run import run_briefly
from console.hooks.install.own_command import is_ours
from console.hooks.install.programs import Target
from console.hooks.install.settings_tokens import parsed, value_of
from console.hooks.install.target_files import read_text

TRUSTED, UNTRUSTED, UNKNOWN, NOT_NEEDED = "trusted", "untrusted", "unknown", "not needed"
CODEX_SECONDS = 15.0


def trust_of(program: str, target: Target) -> tuple[str, str]:
    """Return whether a program runs our hooks in a folder, and a remark. Blocks for up to 15 seconds for Codex."""
    if program == "codex":
        return _codex(target)
    if program == "opencode":
        return NOT_NEEDED, ""
    if program == "claude-code":
        return _claude_code(target)
    if program == "gemini":
        return _gemini(target)
    if program == "copilot":
        settings = _read(target.user_folder("COPILOT_HOME", ".copilot") / "config.json")
        folders = settings.get("trustedFolders", settings.get("trusted_folders"))
        is_in = isinstance(folders, list) and any(_is_below(target.folder, folder) for folder in folders)
        return (TRUSTED, "") if is_in else (UNTRUSTED, "start copilot in the folder and trust it")
    return UNKNOWN, ""


def _claude_code(target: Target) -> tuple[str, str]:
    place = target.env.get("CLAUDE_CONFIG_DIR", "").strip()
    known = _read((Path(place) if place else target.home) / ".claude.json").get("projects")
    folders = (target.folder, *target.folder.parents)
    projects = [known.get(str(folder)) for folder in folders] if isinstance(known, dict) else []
    if any(isinstance(project, dict) and project.get("hasTrustDialogAccepted") is True for project in projects):
        return TRUSTED, ""
    return UNTRUSTED, "start claude in the folder and trust it (claude -p runs hooks without that)"


def _gemini(target: Target) -> tuple[str, str]:
    named = target.env.get("GEMINI_CLI_HOME", "")
    home = (Path(named) if named.startswith("/") else target.home) / ".gemini"
    security = _read(home / "settings.json").get("security")
    feature = security.get("folderTrust") if isinstance(security, dict) else None
    if isinstance(feature, dict) and feature.get("enabled") is False:
        return NOT_NEEDED, "folder trust is off in its settings"
    best, level = "", ""
    for folder, value in _read(home / "trustedFolders.json").items():
        place = str(Path(folder).parent) if value == "TRUST_PARENT" else folder
        if _is_below(target.folder, place) and len(place) >= len(best):
            best, level = place, str(value)
    if level in ("TRUST_FOLDER", "TRUST_PARENT"):
        return TRUSTED, ""
    return UNTRUSTED, "start gemini in the folder and trust it"


def _codex(target: Target) -> tuple[str, str]:
    path = shutil.which("codex", path=target.env.get("PATH"))
    if path is None:
        return UNKNOWN, "codex is not on the PATH"
    asked: list[dict[str, Any]] = [
        {"id": 0, "method": "initialize", "params": {"clientInfo": {"name": "signalbox", "version": "1"}}},
        {"method": "initialized"},
        {"id": 1, "method": "hooks/list", "params": {"cwds": [str(target.folder)]}},
    ]
    data = "".join(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in asked).encode()
    argv = [path, "app-server"]
    said = run_briefly(argv, CODEX_SECONDS, target.env, stdin=data, until=b'"id":1', keep=["CODEX_HOME"])
    hooks = _listed(said or b"")
    if hooks is None:
        return UNKNOWN, "codex app-server did not answer"
    states = [str(hook.get("trustStatus")) for hook in hooks if is_ours(str(hook.get("command")), "")]
    if not states:
        return UNTRUSTED, "open codex in the folder, trust it, and trust the hooks in /hooks"
    waiting = sum(state not in ("trusted", "managed") for state in states)
    if waiting:
        return UNTRUSTED, f"{waiting} of {len(states)} hooks await a review: open codex and trust them in /hooks"
    return TRUSTED, ""


def _listed(said: bytes) -> list[dict[str, Any]] | None:
    """Return the hooks that an answer lists; None if it isn't such an answer."""
    for line in said.splitlines():
        try:
            answer = json.loads(line)
            if answer.get("id") == 1:
                return [hook for each in answer["result"]["data"] for hook in each["hooks"]]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
    return None


def _read(path: Path) -> dict[str, Any]:
    """Return the settings in a file, also with comments; nothing if it can't be read."""
    try:
        text = read_text(path)
        root = parsed(text, path.name) if text else None
        value = value_of(root, text) if root and text else {}
    except Refused:
        return {}
    return value if isinstance(value, dict) else {}


def _is_below(folder: Path, place: object) -> bool:
    return isinstance(place, str) and folder.is_relative_to(place)
