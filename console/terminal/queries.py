"""Answers of the terminal to questions of ours: they are cut out of what it sends, before keys are read from that."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from threading import Lock

from msgspec import Struct

LONGEST = 64
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
        """Cut answers of a form out from now on; any thread may call this."""
        with self._lock:
            self._known = (*self._known, answer)

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
