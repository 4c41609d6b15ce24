"""Records that can't be read, or were read with a warning."""

from __future__ import annotations

from collections import Counter

from mailstore.columns.snapshot_parts import SnapshotReader, SnapshotWriter
from mailstore.records.message import Problem
from mailstore.records.scope import WHOLE, label_of


class Problems:
    """Problems in the order in which they were found."""

    def __init__(self) -> None:
        self.all: list[Problem] = []
        self.unreadable = 0
        """How many records can't be read."""
        self._counted = 0
        self._unreadable_in: Counter[str] = Counter()
        """Records that can't be read by mailbox, of as many problems as were counted."""

    def save(self, out: SnapshotWriter) -> None:
        """Write this into a snapshot."""
        out.value(self.all)

    def load(self, saved: SnapshotReader) -> None:
        """Read this from a snapshot."""
        self.all = saved.value(list[Problem])
        self.unreadable = sum(problem.fatal for problem in self.all)

    def add(self, problem: Problem) -> None:
        """Add a problem."""
        self.all.append(problem)
        self.unreadable += problem.fatal

    def of(self, label: str) -> list[Problem]:
        """Return the problems of one of several mailboxes."""
        return [problem for problem in self.all if label_of(problem.file) == label]

    def unreadable_in(self, label: str) -> int:
        """Return how many records of one of several mailboxes can't be read."""
        fresh = self.all[self._counted :]
        self._counted += len(fresh)
        self._unreadable_in.update(label_of(problem.file) for problem in fresh if problem.fatal)
        return self._unreadable_in[label]

    def failure_of(self, label: str) -> str:
        """Return why one of several mailboxes can't be read; empty when it can."""
        return next((it.reason for it in self.all if it.file == f"{label}/{WHOLE}"), "")
