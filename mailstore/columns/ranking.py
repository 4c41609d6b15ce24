"""Rows that stay sorted as mail arrives."""

from __future__ import annotations

from array import array
from bisect import bisect_right, insort_right
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import accumulate
from typing import Any, Self

BLOCK = 128


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
