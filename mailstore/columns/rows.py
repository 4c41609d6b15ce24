"""Sets, orders and lists of rows, in arrays."""

from __future__ import annotations

from array import array
from bisect import bisect_right, insort_right
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from itertools import accumulate
from math import isnan, nan
from typing import Any, Self

from mailstore.columns.snapshot_parts import SnapshotReader, SnapshotWriter

BLOCK = 128
NONE = -1
LONG = 64
"""The entries of a row up to which they are searched one by one."""
MANY = 4096
"""The number of rows from which on numpy searches faster than a loop."""


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


class SortedRows:
    """Rows sorted by a key; adding at either end costs the same at any size.

    No two rows have the same key. While a row is listed its key must not change: drop the row first, and put it
    back afterwards.
    """

    def __init__(self, key_of: Callable[[int], Any], rows: Iterable[int] = ()) -> None:
        self._key_of = key_of
        self._blocks: list[array[int]] = []
        self._ends: list[int] | None = None
        self._cut(array("i", sorted(rows, key=key_of)))

    @classmethod
    def of_sorted(cls, key_of: Callable[[int], Any], rows: array[int]) -> Self:
        """Return a list of rows that are already sorted, the lowest key first."""
        ranking = cls(key_of)
        ranking._cut(rows)
        return ranking

    def _cut(self, rows: array[int]) -> None:
        self._blocks = [rows[at : at + BLOCK] for at in range(0, len(rows), BLOCK)]
        self._ends = None

    def rows(self) -> array[int]:
        """Return all rows, the lowest key first."""
        rows = array("i")
        for block in self._blocks:
            rows.extend(block)
        return rows

    def __len__(self) -> int:
        return self._counted()[-1] if self._blocks else 0

    def _counted(self) -> list[int]:
        if self._ends is None:
            self._ends = list(accumulate(map(len, self._blocks)))
        return self._ends

    def put(self, row: int) -> None:
        """Add a row that is not listed."""
        key, blocks = self._key_of(row), self._blocks
        self._ends = None
        if not blocks:
            blocks.append(array("i", (row,)))
            return
        at = len(blocks) - 1
        if key > self._key_of(blocks[-1][-1]):
            blocks[-1].append(row)
        elif key < self._key_of(blocks[0][0]):
            at = 0
            blocks[0].insert(0, row)
        else:
            at = self._block(key)
            insort_right(blocks[at], row, key=self._key_of)
        if len(blocks[at]) > 2 * BLOCK:
            blocks[at : at + 1] = [blocks[at][:BLOCK], blocks[at][BLOCK:]]

    def drop(self, row: int) -> None:
        """Remove a row; raises KeyError for one that is not listed."""
        at, place = self._find(row)
        self._ends = None
        del self._blocks[at][place]
        if not self._blocks[at]:
            del self._blocks[at]

    def _block(self, key: Any) -> int:
        """Return the block that a key belongs to, which is usually the last one."""
        blocks = self._blocks
        if key >= self._key_of(blocks[-1][0]):
            return len(blocks) - 1
        return max(0, bisect_right(blocks, key, key=lambda block: self._key_of(block[0])) - 1)

    def _find(self, row: int) -> tuple[int, int]:
        if self._blocks:
            at = self._block(self._key_of(row))
            with suppress(ValueError):
                return at, self._blocks[at].index(row)
        raise KeyError(row)

    def __getitem__(self, at: int) -> int:
        """Return the row at a position, 0 for the highest key."""
        ends = self._counted()
        place = ends[-1] - 1 - at
        block = bisect_right(ends, place)
        return self._blocks[block][place - (ends[block - 1] if block else 0)]

    def place(self, row: int) -> int:
        """Return the position of a row, 0 for the highest key; raises KeyError for one that is not listed."""
        block, at = self._find(row)
        ends = self._counted()
        return ends[-1] - 1 - at - (ends[block - 1] if block else 0)

    def __iter__(self) -> Iterator[int]:
        for block in reversed(self._blocks):
            yield from reversed(block)


class LinkedEntries:
    """Names by row, each with a time; a row without entries takes four bytes."""

    __slots__ = ("_long", "first", "following", "names", "times")

    def __init__(self) -> None:
        self.first = array("i")
        """The newest entry of each row."""
        self.names = array("I")
        self.times = array("d")
        self.following = array("i")
        self._long: dict[int, dict[int, int]] = {}
        """The entries by name of rows with more than `LONG`, once one was looked for."""

    def save(self, out: SnapshotWriter) -> None:
        out.column(self.first, self.names, self.times, self.following)

    def load(self, saved: SnapshotReader) -> None:
        self.first, self.names, self.times, self.following = saved.columns(4)
        self._long = {}

    def add_row(self) -> None:
        """Add a row without entries."""
        self.first.append(NONE)

    def has(self, row: int) -> bool:
        """Return whether a row has any entry."""
        return self.first[row] != NONE

    def find(self, row: int, name: int) -> int:
        """Return the newest entry of a name in a row, -1 if it has none."""
        if self._long and (entries := self._long.get(row)) is not None:
            return entries.get(name, NONE)
        at = self.first[row]
        names, following = self.names, self.following
        for _ in range(LONG):
            if at == NONE or names[at] == name:
                return at
            at = following[at]
        entries = self._long[row] = {}
        for entry in self._entries(row):
            entries.setdefault(names[entry], entry)
        return entries.get(name, NONE)

    def add(self, row: int, name: int, time: float | None = None) -> None:
        """Add an entry to a row, whether or not it has one of that name."""
        if self._long and row in self._long:
            self._long[row][name] = len(self.names)
        self.following.append(self.first[row])
        self.first[row] = len(self.names)
        self.names.append(name)
        self.times.append(nan if time is None else time)

    def time(self, entry: int) -> float | None:
        """Return the time of an entry in seconds since the epoch, None if it is not known."""
        time = self.times[entry]
        return None if isnan(time) else time

    def of(self, row: int) -> list[tuple[int, float | None]]:
        """Return the names and times of a row in the order in which they were added."""
        names, times, following = self.names, self.times, self.following
        result: list[tuple[int, float | None]] = []
        at = self.first[row]
        while at != NONE:
            result.append((names[at], None if isnan(times[at]) else times[at]))
            at = following[at]
        result.reverse()
        return result

    def names_of(self, row: int) -> list[int]:
        """Return the names of a row in the order in which they were added."""
        return [self.names[entry] for entry in self._entries(row)][::-1]

    def rows_of(self, names: Collection[int]) -> Iterator[int]:
        """Yield the rows that have an entry of any of some names."""
        if not any(name in self.names for name in names):
            return
        if len(self.first) >= MANY:
            yield from self._rows_of(names)
            return
        for row, entry in enumerate(self.first):
            if entry != NONE and any(self.names[at] in names for at in self._entries(row)):
                yield row

    def _rows_of(self, names: Collection[int]) -> list[int]:
        """Search all rows together, one step along every list at a time."""
        import numpy as np

        first, following = np.array(self.first, np.int32), np.array(self.following, np.int32)
        is_meant = np.isin(np.array(self.names, np.uint32), np.array(list(names), np.uint32))
        rows = np.flatnonzero(first != NONE)
        entries, found = first[rows], np.zeros(len(first), bool)
        while len(rows):
            found[rows[is_meant[entries]]] = True
            entries = following[entries]
            goes_on = entries != NONE
            rows, entries = rows[goes_on], entries[goes_on]
        return np.flatnonzero(found).tolist()

    def _entries(self, row: int) -> Iterator[int]:
        at = self.first[row]
        while at != NONE:
            yield at
            at = self.following[at]
