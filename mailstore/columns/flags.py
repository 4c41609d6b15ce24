"""A set of rows."""

from __future__ import annotations

from mailstore.columns.snapshot_parts import SnapshotReader, SnapshotWriter


class RowSet:
    """A set of rows as one byte for each row, and the number of rows in it."""

    __slots__ = ("marks", "number")

    def __init__(self) -> None:
        self.marks = bytearray()
        self.number = 0

    def __len__(self) -> int:
        return self.number

    def __contains__(self, row: int) -> bool:
        return row < len(self.marks) and self.marks[row] == 1

    def add(self, row: int) -> bool:
        """Add a row; return whether it is new."""
        if row >= len(self.marks):
            self.marks.extend(bytes(row + 1 - len(self.marks)))
        if self.marks[row]:
            return False
        self.marks[row] = 1
        self.number += 1
        return True

    def save(self, out: SnapshotWriter) -> None:
        out.column(self.marks)

    def load(self, saved: SnapshotReader) -> None:
        self.fill(saved.column())

    def fill(self, marks: bytearray) -> None:
        """Replace the set by a byte for each row, 1 for those that are in it."""
        self.marks, self.number = marks, marks.count(1)

    def discard(self, row: int) -> bool:
        """Remove a row; return whether it was in the set."""
        if row not in self:
            return False
        self.marks[row] = 0
        self.number -= 1
        return True
