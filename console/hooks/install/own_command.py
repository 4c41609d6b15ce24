"""The command that a program's hook runs, and how it is recognised in a settings file."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from console.errors import Refused
from console.hooks.calls import LIMITS, limits_in
from console.hooks.options import DELIVERIES, ENDS, FREEZE, NOTICE
from console.hooks.programs import FORMER, NAMES
from console.hooks.quick_look import GATE_OPTION

ENTRY = Path(__file__).parent.parent / "entry.py"
END_OF_ENTRY = "/console/hooks/entry.py"
FROM_ENVIRONMENT = '"$SIGNALBOX_AGENT"'
LONGEST = 20_000
"""Characters of a command; what is longer is nobody's that Signalbox wrote."""


class HookOptions(NamedTuple):
    """What a user chose for the hooks of a program; the defaults are not written into the command."""

    store: str = ""
    deliver: str = NOTICE
    at_end: str = FREEZE
    wake: bool = False
    shared: bool = False
    gate: bool = False
    limits: Mapping[str, float] = {}

    def words(self) -> list[str]:
        """Return the options as words of the command."""
        words = ["--store", self.store] if self.store else []
        words += ["--deliver", self.deliver] if self.deliver != NOTICE else []
        words += ["--at-end", self.at_end] if self.at_end != FREEZE else []
        words += (["--wake"] if self.wake else []) + ([GATE_OPTION] if self.gate else [])
        return words + [word for name in LIMITS if name in self.limits for word in (name, f"{self.limits[name]:g}")]


def hook_words(tool: str, options: HookOptions, *more: str) -> list[str]:
    """Return the words of the command: absolute, or as short as a team shares it.

    `more` are words after the program's name: an event that its input does not name, or an older program's ways.
    Raises Refused where the path of this installation is not valid UTF-8, which settings files are.
    """
    start = ["signalbox", "hook", "run"] if options.shared else [sys.executable, "-I", "-S", str(ENTRY)]
    words = [*start, tool, *more, *options.words()]
    if not all(word.isprintable() for word in words):
        raise Refused("a path has characters that can't be printed", "move the mailbox or Signalbox elsewhere", "E221")
    return words


def hook_command(tool: str, options: HookOptions, *more: str) -> str:
    """Return the command as a shell reads it. Raises Refused."""
    return shlex.join(hook_words(tool, options, *more))


def is_ours(command: str, event: str) -> bool:
    """Say whether a command at an event is one that Signalbox installed: to the letter, in this or an earlier form.

    Whatever else runs Signalbox, alone or among other commands, is its author's.
    """
    match _words(command):
        case ["signalbox", "hook", "run", tool, *rest]:
            pass
        case [python, "-I", "-S", entry, tool, *rest] if python.startswith("/") and entry.endswith(END_OF_ENTRY):
            pass
        case _:
            return event == "SessionStart" and is_former(command)
    more = rest[:1] if rest and rest[0].isalpha() else []
    options = options_of(command)
    is_known = tool in (*NAMES, *FORMER) and options.deliver in DELIVERIES and options.at_end in ENDS
    return is_known and rest == [*more, *options.words()]


def is_former(command: str) -> bool:
    """Say whether a command is what earlier versions installed at SessionStart, and what the script runs."""
    words = _words(command.replace(FROM_ENVIRONMENT, "me", 1))
    return words[:3] == ["signalbox", "check", "--as"] and (len(words) == 4 or words[4:-1] == ["--store"])


def _words(command: str) -> list[str]:
    """Return the words of a command that is spelled as this module spells it; none for any other."""
    if len(command) > LONGEST:
        return []
    try:
        words = shlex.split(command)
    except ValueError:
        return []
    return words if shlex.join(words) == command else []


def options_of(command: str) -> HookOptions:
    """Return the options of an installed command; the defaults for what can't be read."""
    try:
        words = shlex.split(command)
    except ValueError:
        return HookOptions()
    pairs = dict(pairwise(words))
    return HookOptions(
        store=pairs.get("--store", ""),
        deliver=pairs.get("--deliver", NOTICE),
        at_end=pairs.get("--at-end", FREEZE),
        wake="--wake" in words,
        shared="/entry.py" not in command,
        gate=GATE_OPTION in words,
        limits=limits_in(words),
    )


def missing_program(command: str) -> str:
    """Return the file that an installed command needs and that is not there; empty if it has all."""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    return next((word for word in words[:4] if word.startswith("/") and not Path(word).exists()), "")
