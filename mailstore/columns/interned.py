"""Values that many messages share, each stored once."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

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
