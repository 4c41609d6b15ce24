"""Threads of hcom: answers, and messages with the same label."""

from __future__ import annotations

from mailstore.kinds.hcom.decode import HcomLetter


class LabelRoots:
    """The first message of each label."""

    def __init__(self) -> None:
        self._first: dict[str, int] = {}

    def add(self, label: str, number: int) -> None:
        """Add a message with a label, in any order."""
        if label:
            self._first[label] = min(number, self._first.get(label, number))

    def parent(self, letter: HcomLetter) -> int | None:
        """Return the message that a message hangs from: the one that it answers, else the first with its label."""
        if letter.answered is not None:
            return letter.answered
        return self._first.get(letter.label) if letter.label else None
