"""Questions to the terminal: its background, and the widths that it gives to characters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from threading import Lock
from typing import Protocol, runtime_checkable

from msgspec import Struct
from rich.cells import cell_len

from console.render.cells import SAMPLES

LONGEST = 256
"""Characters of the longest answer; longer input is not treated as one."""


class TerminalAnswer(Struct, frozen=True, eq=False):
    """A form of answer: all of it, any part of it from its first two characters on, and what is called with one.

    `heard` runs in the thread that reads the terminal.
    """

    pattern: re.Pattern[str]
    unfinished: re.Pattern[str]
    heard: Callable[[re.Match[str]], None]


class TerminalQueries:
    """Finds answers in what a terminal sends, whenever they come: a slow connection may take seconds."""

    def __init__(self) -> None:
        self._known: tuple[TerminalAnswer, ...] = ()
        self._lock = Lock()
        self._held = ""

    def expect(self, answer: TerminalAnswer) -> None:
        """Cut answers of a form out from now on, before those of earlier forms; any thread may call this."""
        with self._lock:
            self._known = (answer, *self._known)

    def sift(self, text: str) -> str:
        """Return what was sent without answers; what may be the beginning of one at the end is held back."""
        if not self._known:
            return text
        text, self._held = self._held + text, ""
        if "\x1b" not in text:
            return text
        for answer in self._known:
            text = answer.pattern.sub(lambda found, heard=answer.heard: heard(found) or "", text)  # type: ignore[misc]
        for start in _escapes(text):
            if any(answer.unfinished.fullmatch(text, start) for answer in self._known):
                text, self._held = text[:start], text[start:]
                break
        return text

    def release(self) -> str:
        """Return what is held back: it was no answer."""
        held, self._held = self._held, ""
        return held


def _escapes(text: str) -> Iterator[int]:
    """Yield where an unfinished answer may begin."""
    at = text.find("\x1b", max(0, len(text) - LONGEST))
    while at >= 0:
        yield at
        at = text.find("\x1b", at + 1)


UNASKED = TerminalAnswer(
    re.compile(r"\x1b[]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"),
    re.compile(r"\x1b[]PX^_][^\x07\x1b]*\x1b?"),
    lambda found: None,
)
"""A control string, as ECMA-48, 5.6, has it: no key sends one. What a shell asked may be answered after its end."""

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

    def answered(match: re.Match[str]) -> None:
        heard(is_dark(match[1], match[2], match[3]))

    terminal.query(QUESTION, TerminalAnswer(COLOUR, UNFINISHED_COLOUR, answered))


def is_dark(*parts: str) -> bool:
    """Say whether a colour is dark, by its red, green and blue in hexadecimal, of up to four digits each."""
    red, green, blue = (int(part, 16) / float(16 ** len(part) - 1) for part in parts)
    return float(0.299 * red + 0.587 * green + 0.114 * blue) < MIDDLE


def hinted_dark(environment: Mapping[str, str]) -> bool | None:
    """Say whether the background is dark as $COLORFGBG has it, which some terminals set; None if it isn't there."""
    hint = environment.get("COLORFGBG", "").rpartition(";")[2]
    return None if not hint.isdecimal() else hint not in LIGHT_HINTS


LINE = 2
"""The line of the samples: an answer for the first one could be a key, F3 with a modifier."""

FOLLOWING = "x"
"""The character after a sample: some terminals don't know where to draw it."""

ANSWER = re.compile(rf"\x1b\[{LINE};(\d{{1,3}})R")
UNFINISHED = re.compile(rf"\x1b\[(?:{LINE}(?:;\d{{0,3}})?)?")
CONCEALED, REVEALED = "\x1b[8m", "\x1b[0m"


def ask_widths(terminal: object, heard: Callable[[frozenset[str]], object]) -> None:
    """Ask a terminal where its cursor is after each sample; to be called before anything is drawn.

    `heard` is called in the thread that reads the terminal with the kinds of characters whose width is that of the
    layout: when it has answered for all; a terminal that doesn't is drawn for as if it agreed about none.
    """
    if not isinstance(terminal, Questioned):
        return
    columns: list[int] = []

    def answered(match: re.Match[str]) -> None:
        columns.append(int(match[1]))
        if len(columns) == len(SAMPLES):
            measured = zip(SAMPLES.items(), columns, strict=True)
            heard(frozenset(kind for (kind, text), column in measured if column - 1 == cell_len(text + FOLLOWING)))

    samples = "".join(f"\x1b[{LINE};1H{text}{FOLLOWING}\x1b[6n" for text in SAMPLES.values())
    question = f"{CONCEALED}{samples}{REVEALED}\x1b[{LINE};1H\x1b[2K\x1b[H"
    terminal.query(question, TerminalAnswer(ANSWER, UNFINISHED, answered))
