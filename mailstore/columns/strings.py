"""Many texts in one buffer, and numbers for values that recur."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

from mailstore.columns.snapshot_parts import SnapshotReader, SnapshotWriter

MOST = 0xFFFF_FFFF
"""The largest buffer whose positions fit into four bytes; a larger one takes eight."""


class StringColumn:
    """Texts by number; each takes four bytes besides its UTF-8. Unpaired surrogates are kept."""

    __slots__ = ("_changed", "blob", "ends")

    def __init__(self) -> None:
        self.blob = bytearray()
        self.ends = array("I")
        self._changed: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, at: int) -> str:
        if self._changed and (text := self._changed.get(at)) is not None:
            return text
        ends = self.ends
        return self.blob[ends[at - 1] if at else 0 : ends[at]].decode("utf-8", "surrogatepass")

    def __setitem__(self, at: int, text: str) -> None:
        self._changed[at] = text

    def save(self, out: SnapshotWriter) -> None:
        out.column(self.blob, self.ends)
        out.value(self._changed)

    def load(self, saved: SnapshotReader) -> None:
        self.blob, self.ends = saved.columns(2)
        self._changed = saved.value(dict[int, str])

    def fill(self, blob: bytearray, ends: array[int]) -> None:
        """Replace the texts by those in a buffer, given the byte at which each ends."""
        self.blob, self.ends = blob, ends

    def append(self, text: str) -> None:
        """Add a text under the next number."""
        self.blob += text.encode("utf-8", "surrogatepass")
        size = len(self.blob)
        if size > MOST and self.ends.typecode == "I":
            self.ends = array("Q", self.ends)
        self.ends.append(size)

    def starting_with(self, prefix: str) -> Iterator[int]:
        """Yield the numbers of the texts that start with a prefix, which must not be empty."""
        wanted = prefix.encode("utf-8", "surrogatepass")
        at = self.blob.find(wanted)
        while at >= 0:
            number = bisect_right(self.ends, at)
            if at == (self.ends[number - 1] if number else 0) and number not in self._changed:
                yield number
            at = self.blob.find(wanted, at + 1)
        yield from (number for number, text in self._changed.items() if text.startswith(prefix))


T = TypeVar("T", bound=Hashable)


class InternTable(Generic[T]):
    """Values by number, in the order in which they were added."""

    __slots__ = ("_numbers", "values")

    def __init__(self) -> None:
        self.values: list[T] = []
        self._numbers: dict[T, int] = {}

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, number: int) -> T:
        return self.values[number]

    def number(self, value: T) -> int:
        """Return the number of a value, a new one for a new value."""
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(self.values)
            self.values.append(value)
        return number

    def numbering(self) -> dict[T, int]:
        """Return a dictionary that numbers each value when it is first looked up."""
        return _Numbering(self)

    def fill(self, values: list[T]) -> None:
        """Replace the values; the number of each is its place in the list."""
        self.values = values
        self._numbers = {value: number for number, value in enumerate(values)}

    def known(self, value: T) -> int | None:
        """Return the number of a value, None for an unknown value."""
        return self._numbers.get(value)


class _Numbering(dict[T, int]):
    """Remembers the numbers that were looked up, so that a repeated lookup costs no call."""

    def __init__(self, table: InternTable[T]) -> None:
        super().__init__()
        self._table = table

    def __missing__(self, value: T) -> int:
        number = self[value] = self._table.number(value)
        return number
