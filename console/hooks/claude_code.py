"""Claude Code's session-start hook in .claude/settings.json: put in beside others, and taken out without a trace."""

from __future__ import annotations

import json
import re
from typing import Any

from console.errors import Refused

__all__ = ["SETTINGS", "with_hook", "without_hook"]

SETTINGS = ".claude/settings.json"
EVENT = "SessionStart"
OURS = re.compile(r"(^|[\s/])signalbox check(\s|$)")
Settings = dict[str, Any]


def with_hook(text: str | None, command: str) -> str:
    """Return the settings with the hook, once; other hooks and settings stay. Raises Refused for what is no JSON."""
    settings = _parsed(text)
    groups = _groups(settings)
    found = [hook for group in groups for hook in _hooks(group) if _is_ours(hook)]
    if [hook.get("command") for hook in found] == [command]:
        return text or ""
    if found:
        settings = _parsed(_without(settings, text))
    entry: Settings = {"hooks": [{"type": "command", "command": command}]}
    hooks: Settings = settings.get("hooks") or {}
    return _written({**settings, "hooks": {**hooks, EVENT: [*_groups(settings), entry]}}, text)


def without_hook(text: str | None) -> str | None:
    """Return the settings without the hook; None where nothing is left."""
    if text is None:
        return None
    settings = _parsed(text)
    if not any(_is_ours(hook) for group in _groups(settings) for hook in _hooks(group)):
        return text
    return _without(settings, text)


def _without(settings: Settings, text: str | None) -> str | None:
    kept: list[Any] = []
    for group in _groups(settings):
        theirs = [hook for hook in _hooks(group) if not _is_ours(hook)]
        if theirs or not _hooks(group):
            kept.append({**group, "hooks": theirs} if theirs else group)
    hooks = {
        name: (kept if name == EVENT else value) for name, value in settings["hooks"].items() if name != EVENT or kept
    }
    rest = {name: value for name, value in settings.items() if name != "hooks"}
    if hooks:
        rest = {name: (hooks if name == "hooks" else value) for name, value in settings.items()}
    return _written(rest, text) if rest else None


def _parsed(text: str | None) -> Settings:
    if text is None or not text.strip():
        return {}
    try:
        settings = json.loads(text)
    except ValueError as error:
        raise Refused(f"{SETTINGS} is not valid JSON ({error})", "fix it first; nothing was changed") from error
    if not isinstance(settings, dict) or not isinstance(settings.get("hooks") or {}, dict):
        raise Refused(f"{SETTINGS} is not a JSON object of settings", "fix it first; nothing was changed")
    return settings


def _groups(settings: Settings) -> list[Any]:
    groups = (settings.get("hooks") or {}).get(EVENT) or []
    if not isinstance(groups, list):
        raise Refused(f"hooks.{EVENT} in {SETTINGS} is not a list", "fix it first; nothing was changed")
    return groups


def _hooks(group: Any) -> list[Any]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return hooks if isinstance(hooks, list) else []


def _is_ours(hook: Any) -> bool:
    return isinstance(hook, dict) and bool(OURS.search(str(hook.get("command") or "")))


def _written(settings: Settings, text: str | None) -> str:
    """Return settings as JSON, indented as they were."""
    found = re.search(r"\n([ \t]+)\S", text or "")
    indent: int | str = found[1] if found else 2
    return json.dumps(settings, indent=indent, ensure_ascii=False) + "\n"
