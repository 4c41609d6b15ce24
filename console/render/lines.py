"""Rendered lines in portions; lines of plain text are created on access."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Protocol

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip


class LineSource(Protocol):
    """A sequence of lines: a list of strips, or an object that creates them."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Strip: ...


class PlainLines:
    """Lines of text in one style; a strip takes ten times the memory of its text."""

    def __init__(self, lines: list[str], style: Style) -> None:
        self._lines = lines
        self._style = style

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, index: int) -> Strip:
        line = self._lines[index]
        return Strip([Segment(line, self._style)] if line else [])


class RenderedLines:
    """Portions one below the other."""

    def __init__(self, portions: Sequence[LineSource]) -> None:
        self.portions = tuple(portions)
        self._ends = list(accumulate(len(portion) for portion in self.portions))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, index: int) -> Strip:
        at = bisect_right(self._ends, index)
        return self.portions[at][index - (self._ends[at - 1] if at else 0)]
