"""Whether the terminal's background is light or dark, by what the terminal says."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Protocol, runtime_checkable

from console.terminal.queries import TerminalAnswer

QUESTION = "\x1b]11;?\x1b\\"
"""What is the background colour? As xterm defines it."""

COLOUR = re.compile(
    r"\x1b\]11;rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})[^\x07\x1b]*(?:\x07|\x1b\\)"
)
UNFINISHED_COLOUR = re.compile(r"\x1b\](?:1(?:1(?:;[^\x07\x1b]*\x1b?)?)?)?")
MIDDLE = 0.5
LIGHT_HINTS = frozenset({"7", "15"})
"""The numbers of white in $COLORFGBG."""


@runtime_checkable
class Questioned(Protocol):
    """A terminal that can be asked."""

    def query(self, question: str, *answers: TerminalAnswer) -> None: ...


def ask_background(terminal: Questioned, heard: Callable[[bool], object]) -> None:
    """Ask a terminal for its background; `heard(is_dark)` is called in the thread that reads the terminal, if ever."""

    def answered(found: re.Match[str]) -> None:
        heard(is_dark(found[1], found[2], found[3]))

    terminal.query(QUESTION, TerminalAnswer(COLOUR, UNFINISHED_COLOUR, answered))


def is_dark(*parts: str) -> bool:
    """Say whether a colour is dark, by its red, green and blue in hexadecimal, of up to four digits each."""
    red, green, blue = (int(part, 16) / float(16 ** len(part) - 1) for part in parts)
    return float(0.299 * red + 0.587 * green + 0.114 * blue) < MIDDLE


def hinted_dark(environment: Mapping[str, str]) -> bool | None:
    """Say whether the background is dark as $COLORFGBG has it, which some terminals set; None if it isn't there."""
    hint = environment.get("COLORFGBG", "").rpartition(";")[2]
    return None if not hint.isdecimal() else hint not in LIGHT_HINTS
