"""Figures from measurements: medians and percentiles, and how a page shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

__all__ = ["Figures", "table"]


@dataclass(frozen=True, slots=True)
class Figures:
    """What a number of measurements of one thing gave, in milliseconds."""

    values: tuple[float, ...]

    @classmethod
    def of_nanoseconds(cls, values: Sequence[int]) -> Figures:
        """Make figures from differences of monotonic clocks."""
        return cls(tuple(sorted(value / 1e6 for value in values)))

    @property
    def count(self) -> int:
        return len(self.values)

    @property
    def median(self) -> float:
        return median(self.values)

    def percentile(self, percent: float) -> float:
        """Return the smallest value that this share of the measurements doesn't exceed."""
        at = -(-len(self.values) * percent // 100)
        return self.values[max(0, int(at) - 1)]


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table; the first column is text, the others are numbers."""
    lines = [list(heads), ["---", *["---:"] * (len(heads) - 1)], *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
