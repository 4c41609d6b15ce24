"""Any other program: a script to be run at the start of a session."""

from __future__ import annotations

import shlex
from pathlib import Path

from console.hooks.install.own_command import HookOptions, is_former
from console.hooks.install.programs import OwnText, Part, Target, Version

NAME, TITLE, COMMAND = "shell", "Shell script", ""
PACKAGE = ""
MARKS: tuple[str, ...] = ()
SCRIPT = "signalbox-session.sh"
COMMENT = "# Run this "


def parts(target: Target, options: HookOptions | None, version: Version | None) -> list[Part]:
    """Return the script; there is none for the user as a whole."""
    if target.is_user:
        return []
    store = f" --store {shlex.quote(options.store)}" if options and options.store else ""
    text = (
        f"{COMMENT}at the start of an agent's session, and whenever it changes tasks: it prints the agent's mail.\n"
        f'signalbox check --as "$SIGNALBOX_AGENT"{store}\n'
    )
    return [OwnText(target.folder / SCRIPT, None if options is None else text, _is_ours)]


def _is_ours(text: str) -> bool:
    """Say whether a script is ours, in any version of it: a comment and the command, and nothing else."""
    comment, command, *more = text.split("\n", 2) if text.count("\n") == 2 else ("", "", "more")
    return comment.startswith(COMMENT) and is_former(command) and more == [""]


def instruction_file(target: Target) -> Path | None:
    """Return None: what the program reads is not known."""
    return None


def remarks(target: Target, options: HookOptions, version: Version | None) -> list[str]:
    """Return how the script is used."""
    return [f"Shell script: set SIGNALBOX_AGENT and run {SCRIPT} where your program starts its agents"]
