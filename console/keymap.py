"""Validate the user's keymap: Textual ignores what it doesn't understand."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from textual.keys import Keys

from console.commands import COMMANDS

__all__ = ["read_keymap"]

MODIFIERS = frozenset({"ctrl", "shift", "alt", "super", "hyper", "meta"})
NAMED = frozenset(key.value for key in Keys)


def read_keymap(wanted: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return the valid part of a keymap, and a message for each problem."""
    known = {command.id: command for command in COMMANDS}
    taken: dict[str, str] = {}
    problems: list[str] = []
    for name, keys in wanted.items():
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else "see signalbox keys"
            problems.append(f'keymap: unknown command "{name}": {hint}')
        elif wrong := [key for key in keys.split(",") if not _is_key(key.strip())] or ([keys] if not keys else []):
            problems.append(f'keymap: {name}: "{wrong[0]}" is not a key: write keys such as x, ctrl+x or f5')
        elif "composer" in known[name].panes and any(len(key.strip()) == 1 for key in keys.split(",")):
            problems.append(f'keymap: {name}: "{keys}" could no longer be typed: use ctrl or a function key')
        else:
            taken[name] = ",".join(key.strip() for key in keys.split(","))
    return _without_clashes(taken, problems), problems


def _is_key(key: str) -> bool:
    *modifiers, last = key.split("+")
    if not last or any(modifier not in MODIFIERS for modifier in modifiers):
        return False
    return (
        len(last) == 1 or last in NAMED or (last.isidentifier() and last.replace("_", "").isalpha() and len(last) > 3)
    )


def _without_clashes(taken: dict[str, str], problems: list[str]) -> dict[str, str]:
    """Drop a user's keys that another command of the same pane has."""
    kept = dict(taken)
    for name in taken:
        mine = next(command for command in COMMANDS if command.id == name)
        for other in COMMANDS:
            if other.id == name or not mine.panes & other.panes:
                continue
            both = set(kept.get(name, "").split(",")) & set(kept.get(other.id, other.keys).split(",")) - {""}
            if both:
                key = min(both)
                problems.append(f'keymap: "{key}" is both {name} and {other.id}: {name} keeps its default key')
                kept.pop(name, None)
                break
    return kept
