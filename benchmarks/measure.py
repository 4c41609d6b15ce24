"""Figures from measurements: medians and percentiles, what was measured at which size, and how a page shows them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from statistics import median

__all__ = ["BESIDE", "Figures", "Results", "Value", "short", "table"]

BESIDE = "beside: "
"""What the names of figures of other programs begin with: no goal and no growth is told of them."""


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


@dataclass(frozen=True, slots=True)
class Value:
    """One thing at one size, from so many measurements."""

    value: float
    unit: str
    count: int

    def __str__(self) -> str:
        return f"{short(self.value)} {self.unit}"


class Results:
    """What was measured, by name and size; the size is 0 for what has none."""

    def __init__(self) -> None:
        self.values: dict[str, dict[int, Value]] = {}
        self.notes: list[str] = []
        """What has to be said beside the figures: what was left out or failed, and why."""
        self.seconds: dict[str, float] = {}
        """How long each subject took to measure."""

    def add(self, name: str, size: int, value: float, unit: str, count: int = 1) -> None:
        """Take one value."""
        self.values.setdefault(name, {})[size] = Value(value, unit, count)

    def times(self, name: str, size: int, nanoseconds: Sequence[int], percent: float | None = None) -> None:
        """Take the median of some times, or a percentile, in milliseconds; nothing where there are none."""
        if nanoseconds:
            figures = Figures.of_nanoseconds(nanoseconds)
            value = figures.median if percent is None else figures.percentile(percent)
            self.add(name, size, value, "ms", figures.count)

    def save(self, path: Path) -> None:
        """Keep everything in a file."""
        values = {name: {size: astuple(value) for size, value in sizes.items()} for name, sizes in self.values.items()}
        kept = {"values": values, "notes": self.notes, "seconds": self.seconds}
        path.write_text(json.dumps(kept), encoding="utf-8")

    def load(self, path: Path) -> None:
        """Take over what was kept in a file, if it is there."""
        if path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
            self.notes, self.seconds = kept["notes"], kept["seconds"]
            for name, sizes in kept["values"].items():
                self.values[name] = {int(size): Value(*value) for size, value in sizes.items()}

    def get(self, name: str, size: int) -> tuple[int, Value] | None:
        """Return what was measured at a size, or at the largest one where there was none so large; and that size."""
        found = self.values.get(name, {})
        at = min(size, max(found, default=0))
        return (at, found[at]) if at in found else None


def short(value: float) -> str:
    """Return a number with about three digits."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table; the first column is text, the others are numbers."""
    lines = [list(heads), ["---", *["---:"] * (len(heads) - 1)], *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
