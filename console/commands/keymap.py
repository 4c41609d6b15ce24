"""Validate the user's keymap: Textual ignores what it doesn't understand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches

from textual.keys import Keys

from console.commands.table import COMMANDS

MODIFIERS = frozenset({"ctrl", "shift", "alt", "super", "hyper", "meta"})
Place = Callable[[str], str]
NAMED = frozenset(key.value for key in Keys)


def read_keymap(wanted: Mapping[str, str], place: Place = lambda name: "keymap") -> tuple[dict[str, str], list[str]]:
    """Return the valid part of a keymap, and a message for each problem; `place` says where a command is set."""
    known = {command.id: command for command in COMMANDS}
    taken: dict[str, str] = {}
    problems: list[str] = []
    for name, keys in wanted.items():
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else "see signalbox keys"
            problems.append(f'{place(name)}: unknown command "{name}": {hint}')
        elif wrong := [key for key in keys.split(",") if not _is_key(key.strip())] or ([keys] if not keys else []):
            problems.append(f'{place(name)}: {name}: "{wrong[0]}" is not a key: write keys such as x, ctrl+x or f5')
        elif "composer" in known[name].panes and any(len(key.strip()) == 1 for key in keys.split(",")):
            problems.append(f'{place(name)}: {name}: "{keys}" could no longer be typed: use ctrl or a function key')
        else:
            taken[name] = ",".join(key.strip() for key in keys.split(","))
    return _without_clashes(taken, problems, place), problems


def _is_key(key: str) -> bool:
    *modifiers, last = key.split("+")
    if not last or any(modifier not in MODIFIERS for modifier in modifiers):
        return False
    return (
        len(last) == 1 or last in NAMED or (last.isidentifier() and last.replace("_", "").isalpha() and len(last) > 3)
    )


def _without_clashes(taken: dict[str, str], problems: list[str], place: Place) -> dict[str, str]:
    """Drop a user's keys that another command of the same pane has, with what depends on their being changed.

    A command that keeps its default keys may take them from another one of the user's. There is one message for each
    mistake: it names that command, and those that keep their default keys because of it.
    """
    kept = dict(taken)
    causes: dict[str, str] = {}
    clashes: dict[str, tuple[str, str]] = {}
    while clash := next(filter(None, (_clash(name, kept) for name in kept)), None):
        name, key, other = clash
        kept.pop(name)
        cause = causes[name] = causes.get(other, name)
        clashes.setdefault(cause, (key, other))
    for cause, (key, other) in clashes.items():
        also = [name for name, reason in causes.items() if reason == cause and name != cause]
        more = f", and so do{'es' if len(also) == 1 else ''} {' and '.join(also)}" if also else ""
        problems.append(f'{place(cause)}: "{key}" is {other} already: {cause} keeps its default keys{more}')
    return kept


def _clash(name: str, kept: Mapping[str, str]) -> tuple[str, str, str] | None:
    """Return a command, the key of it that another one has, and that other; None if its keys are its own."""
    mine = next(command for command in COMMANDS if command.id == name)
    for other in COMMANDS:
        if other.id == name or not mine.panes & other.panes:
            continue
        if both := set(kept[name].split(",")) & set(kept.get(other.id, other.keys).split(",")) - {""}:
            return name, min(both), other.id
    return None
