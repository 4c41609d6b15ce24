"""Values that many messages share, each kept once."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

__all__ = ["InternTable"]

T = TypeVar("T", bound=Hashable)


class InternTable(Generic[T]):
    """Values by number, in the order in which they came."""

    __slots__ = ("_numbers", "values")

    def __init__(self) -> None:
        self.values: list[T] = []
        self._numbers: dict[T, int] = {}

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, number: int) -> T:
        return self.values[number]

    def number(self, value: T) -> int:
        """Return a value's number, a new one for a value that is new."""
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(self.values)
            self.values.append(value)
        return number

    def numbering(self) -> dict[T, int]:
        """Return a dictionary that numbers whatever it is asked for."""
        return _Numbering(self)

    def fill(self, values: list[T]) -> None:
        """Replace the values; the number of each is its place in the list."""
        self.values = values
        self._numbers = {value: number for number, value in enumerate(values)}

    def known(self, value: T) -> int | None:
        """Return a value's number if it has one."""
        return self._numbers.get(value)


class _Numbering(dict[T, int]):
    """What was asked for, so that a lookup is all that it costs."""

    def __init__(self, table: InternTable[T]) -> None:
        super().__init__()
        self._table = table

    def __missing__(self, value: T) -> int:
        number = self[value] = self._table.number(value)
        return number
