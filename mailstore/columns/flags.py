"""A yes or no for each row, counted."""

from __future__ import annotations

__all__ = ["Flags"]


class Flags:
    """A set of rows: a byte each, and how many are in it."""

    __slots__ = ("marks", "number")

    def __init__(self) -> None:
        self.marks = bytearray()
        self.number = 0

    def __len__(self) -> int:
        return self.number

    def __contains__(self, row: int) -> bool:
        return row < len(self.marks) and self.marks[row] == 1

    def add(self, row: int) -> bool:
        """Put a row in; say whether it was not there."""
        if row >= len(self.marks):
            self.marks.extend(bytes(row + 1 - len(self.marks)))
        if self.marks[row]:
            return False
        self.marks[row] = 1
        self.number += 1
        return True

    def load(self, marks: bytearray) -> None:
        """Take over a byte for each row, 1 for those that are in."""
        self.marks, self.number = marks, marks.count(1)

    def discard(self, row: int) -> bool:
        """Take a row out; say whether it was there."""
        if row not in self:
            return False
        self.marks[row] = 0
        self.number -= 1
        return True
