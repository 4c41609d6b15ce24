"""Which message began each thread, where messages share a label and name no parent."""

from __future__ import annotations

from collections.abc import Iterable

from mailstore.records.message import Message

First = tuple[float, str]
ITSELF = float("-inf")
"""Before all: the message whose id is the label."""


class ThreadLabels:
    """The first message of each label, over all parts; `version` changes when one that was known does."""

    def __init__(self) -> None:
        self.version = 0
        self._firsts: dict[str, dict[str, First]] = {}
        self._of: dict[str, set[str]] = {}

    def put(self, part: str, labelled: Iterable[tuple[str, Message]]) -> None:
        """Take what a part holds now in the place of what it held."""
        firsts: dict[str, First] = {}
        for label, message in labelled:
            for name, first in ((label, (message.time, message.id)), (message.id, (ITSELF, message.id))):
                if name and (name not in firsts or first < firsts[name]):
                    firsts[name] = first
        for label in self._of.get(part, set()) | firsts.keys():
            before = self.root(label)
            parts = self._firsts.setdefault(label, {})
            parts.pop(part, None)
            if label in firsts:
                parts[part] = firsts[label]
            if before and before != self.root(label):
                self.version += 1
            if not parts:
                del self._firsts[label]
        self._of[part] = set(firsts)

    def root(self, label: str) -> str | None:
        """Return the id of a label's first message, None for an unused label."""
        parts = self._firsts.get(label)
        return min(parts.values())[1] if parts else None
