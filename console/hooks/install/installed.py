"""Where a program's hooks are installed, as its files tell."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from msgspec import Struct

from console.errors import Refused
from console.hooks.install.hook_entries import found
from console.hooks.install.own_command import HookOptions, missing_program, options_of
from console.hooks.install.programs import OwnText, ProgramFiles, SettingsPart, Target
from console.hooks.install.target_files import read_text
from mailstore.files.worktree import checkout_at

COMMAND_START = "const COMMAND = "


class Installed(Struct, frozen=True):
    """A file with a program's hooks."""

    file: Annotated[str, "The file with the hooks."]
    scope: Annotated[str, "Where they count: user, project (of this machine), or shared."]
    events: Annotated[tuple[str, ...], "The events that they are called for."]
    mailbox: Annotated[str, "The mailbox that was chosen; empty if it is found from the folder."]
    deliver: Annotated[str, "What they print: `notice`, `session-start` or `letters`."]
    at_end: Annotated[str, "What the end of a session does to its agent: freeze or bury."]
    wake: Annotated[bool, "Whether they wake idle agents."]
    gate: Annotated[bool, "Whether they run before each tool, so that agents can be held."]
    limits: Annotated[tuple[str, ...], "The limits at which they hold an agent, such as `--most-identical 10`."]


def targets_of(target: Target) -> list[Target]:
    """Return where hooks for a folder can be: the folders up to the repository's, its main checkout, and the user's."""
    if target.is_user:
        return [target]
    folders = []
    for folder in (target.folder, *target.folder.parents):
        folders.append(folder)
        if checkout := checkout_at(str(folder)):
            folders += [Path(checkout.main)] if checkout.is_linked and checkout.main else []
            break
    else:
        folders = folders[:1]
    return [*(target._replace(folder=folder) for folder in folders), target._replace(folder=target.home, is_user=True)]


def installed(program: ProgramFiles, target: Target) -> tuple[list[Installed], list[str]]:
    """Return the files with a program's hooks, and what is wrong with files that can't be read."""
    places: list[Installed] = []
    problems: list[str] = []
    for each in targets_of(target):
        for part in program.parts(each, None, None):
            try:
                text = read_text(part.path)
                entries = _entries(part, text) if text else []
            except Refused as error:
                problems.append(f"{part.path}: {error.problem}")
                continue
            if entries:
                places.append(_installed(part.path, each, entries))
                if missing := missing_program(entries[0][1]):
                    problems.append(f"{part.path}: {missing} was removed, so the hooks do nothing: install again")
    return places, problems


def _entries(part: SettingsPart | OwnText, text: str) -> list[tuple[str, str]]:
    """Return events and commands."""
    if isinstance(part, SettingsPart):
        return [(event, command) for event, entry in found(text, part.path.name) for command in _commands(entry)]
    for line in text.splitlines() if part.is_ours(text) else ():
        if line.startswith(COMMAND_START):
            words, _ = json.JSONDecoder().raw_decode(line.removeprefix(COMMAND_START))
            return [("", shlex.join(map(str, words)))]
        if part.path.suffix == ".sh" and not line.startswith("#"):
            return [("", line)]
    return []


def _installed(path: Path, target: Target, entries: list[tuple[str, str]]) -> Installed:
    options: HookOptions = options_of(entries[0][1])
    return Installed(
        file=str(path),
        scope="user" if target.is_user else "shared" if options.shared else "project",
        events=tuple(event for event, _ in entries if event),
        mailbox=options.store,
        deliver=options.deliver,
        at_end=options.at_end,
        wake=options.wake,
        gate=options.gate,
        limits=tuple(f"{name} {value:g}" for name, value in options.limits.items()),
    )


def _commands(entry: object) -> Iterator[str]:
    """Yield the commands of an entry, however it is shaped."""
    if isinstance(entry, dict):
        yield from (text for key in ("command", "bash") if isinstance(text := entry.get(key), str))
        for hook in entry.get("hooks") or ():
            yield from _commands(hook)
