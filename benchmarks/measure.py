"""Figures from measurements: medians and percentiles by name and size, and their text form."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from statistics import median

BESIDE = "beside: "
"""Prefixes of the figures of other programs, which have neither goals nor growth."""


@dataclass(frozen=True, slots=True)
class Figures:
    """The values of repeated measurements of one figure, in milliseconds."""

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
        """Return the percentile: the smallest value that this share of the measurements doesn't exceed."""
        at = -(-len(self.values) * percent // 100)
        return self.values[max(0, int(at) - 1)]


@dataclass(frozen=True, slots=True)
class Value:
    """A figure at one size, from a number of measurements."""

    value: float
    unit: str
    count: int

    def __str__(self) -> str:
        return f"{short(self.value)} {self.unit}"


class Results:
    """All figures by name and size; the size is 0 for those without one."""

    def __init__(self) -> None:
        self.values: dict[str, dict[int, Value]] = {}
        self.notes: list[str] = []
        """Notes for the page: what was left out or failed, and why."""
        self.seconds: dict[str, float] = {}
        """Seconds each benchmark took."""

    def add(self, name: str, size: int, value: float, unit: str, count: int = 1) -> None:
        """Record one value."""
        self.values.setdefault(name, {})[size] = Value(value, unit, count)

    def times(self, name: str, size: int, nanoseconds: Sequence[int], percent: float | None = None) -> None:
        """Record the median of some times, or a percentile, in milliseconds; nothing if there are none."""
        if nanoseconds:
            figures = Figures.of_nanoseconds(nanoseconds)
            value = figures.median if percent is None else figures.percentile(percent)
            self.add(name, size, value, "ms", figures.count)

    def save(self, path: Path) -> None:
        """Save everything to a file."""
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
