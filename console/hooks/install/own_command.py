"""The command that a program's hook runs, and how it is recognised in a settings file."""

from __future__ import annotations

import re
import shlex
import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from console.errors import Refused

__all__ = [
    "DELIVERIES",
    "ENDS",
    "HookOptions",
    "hook_command",
    "hook_words",
    "is_ours",
    "missing_program",
    "options_of",
]

ENTRY = Path(__file__).parent.parent / "entry.py"
OURS = re.compile(r"\bsignalbox\b[^|;&]*\shook run\s|/console/hooks/entry\.py['\"]?\s")
FORMER = re.compile(r"(^|[\s/])signalbox check(\s|$)")
"""What earlier versions installed at SessionStart."""
DELIVERIES = ("session-start", "notice", "letters")
ENDS = ("freeze", "bury")


class HookOptions(NamedTuple):
    """What a person chose for the hooks of a program; the defaults are not written into the command."""

    store: str = ""
    deliver: str = "notice"
    at_end: str = "freeze"
    wake: bool = False
    shared: bool = False

    def words(self) -> list[str]:
        """Return the options as words of the command."""
        words = ["--store", self.store] if self.store else []
        words += ["--deliver", self.deliver] if self.deliver != "notice" else []
        words += ["--at-end", self.at_end] if self.at_end != "freeze" else []
        return words + (["--wake"] if self.wake else [])


def hook_words(tool: str, options: HookOptions, *more: str) -> list[str]:
    """Return the words of the command: absolute, or as short as a team shares it.

    `more` are words after the program's name: an event that its input does not name, or an older program's ways.
    Raises Refused where the path of this installation is not valid UTF-8, which settings files are.
    """
    start = ["signalbox", "hook", "run"] if options.shared else [sys.executable, "-I", "-S", str(ENTRY)]
    words = [*start, tool, *more, *options.words()]
    if not all(word.isprintable() for word in words):
        raise Refused("a path has characters that can't be printed", "move the mailbox or Signalbox elsewhere")
    return words


def hook_command(tool: str, options: HookOptions, *more: str) -> str:
    """Return the command as a shell reads it. Raises Refused."""
    return shlex.join(hook_words(tool, options, *more))


def is_ours(command: str, event: str) -> bool:
    """Say whether a command at an event is one that Signalbox installed."""
    if OURS.search(f"{command} "):
        return True
    return event in ("SessionStart", "sessionStart") and bool(FORMER.search(command))


def options_of(command: str) -> HookOptions:
    """Return the options of an installed command; the defaults for what can't be read."""
    try:
        words = shlex.split(command)
    except ValueError:
        return HookOptions()
    pairs = dict(pairwise(words))
    return HookOptions(
        store=pairs.get("--store", ""),
        deliver=pairs.get("--deliver", "notice"),
        at_end=pairs.get("--at-end", "freeze"),
        wake="--wake" in words,
        shared="/entry.py" not in command,
    )


def missing_program(command: str) -> str:
    """Return the file that an installed command needs and that is not there; empty if it has all."""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    return next((word for word in words[:4] if word.startswith("/") and not Path(word).exists()), "")
