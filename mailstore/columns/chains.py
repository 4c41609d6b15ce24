"""A few entries for each of many rows, as linked lists in arrays."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator
from math import isnan, nan

from mailstore.columns.snapshot_parts import SnapshotReader, SnapshotWriter

NONE = -1
MANY = 4096
"""The number of rows from which on numpy searches faster than a loop."""


class LinkedEntries:
    """Names by row, each with a time; a row without entries takes four bytes."""

    __slots__ = ("first", "following", "names", "times")

    def __init__(self) -> None:
        self.first = array("i")
        """The newest entry of each row."""
        self.names = array("I")
        self.times = array("d")
        self.following = array("i")

    def save(self, out: SnapshotWriter) -> None:
        out.column(self.first, self.names, self.times, self.following)

    def load(self, saved: SnapshotReader) -> None:
        self.first, self.names, self.times, self.following = saved.columns(4)

    def add_row(self) -> None:
        """Add a row without entries."""
        self.first.append(NONE)

    def has(self, row: int) -> bool:
        """Return whether a row has any entry."""
        return self.first[row] != NONE

    def find(self, row: int, name: int) -> int:
        """Return the entry of a name in a row, -1 if it has none."""
        at = self.first[row]
        names, following = self.names, self.following
        while at != NONE and names[at] != name:
            at = following[at]
        return at

    def add(self, row: int, name: int, time: float | None = None) -> None:
        """Add an entry to a row, whether or not it has one of that name."""
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
