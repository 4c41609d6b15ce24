"""What a message of Gas Town answers: what it names, else the first message that has its thread's name."""

from __future__ import annotations

from collections.abc import Iterable

from mailstore.kinds.beads.decode import BeadsLetter


class BeadsThreads:
    """The first message of each thread."""

    def __init__(self, letters: Iterable[BeadsLetter]) -> None:
        self._known: set[str] = set()
        firsts: dict[str, tuple[float, str]] = {}
        for letter in letters:
            self._known.add(letter.id)
            if letter.label:
                age = (float("inf") if letter.time is None else letter.time, letter.id)
                firsts[letter.label] = min(age, firsts.get(letter.label, age))
        self._firsts = {label: first for label, (_, first) in firsts.items()}

    def parent(self, letter: BeadsLetter) -> str | None:
        """Return the message that a message answers; None if it begins its thread."""
        if letter.answers and (letter.answers in self._known or not self._first(letter)):
            return letter.answers if letter.answers != letter.id else None
        return self._first(letter) or None

    def _first(self, letter: BeadsLetter) -> str:
        """Return the first other message of a message's thread; empty if there is none."""
        first = letter.label if letter.label in self._known else self._firsts.get(letter.label, "")
        return first if first != letter.id else ""
