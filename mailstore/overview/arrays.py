"""Pure functions over arrays: counts by bar, the first of each pair, medians of groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mailstore.overview.bars import TimeBars

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

AT_ONCE = 1 << 18
"""How many values are counted before another thread may run."""
FEW_GROUPS = 1 << 16
"""Up to so many groups are sorted by counting, which is many times faster."""


def bars_at(times: Floats, bars: TimeBars) -> Ints:
    """Return the bar of each time, -1 outside of all bars and for a time that is not a number."""
    with np.errstate(invalid="ignore"):
        inside = (times >= bars.start) & (times < bars.end)
        found = np.full(len(times), -1, np.int64)
        found[inside] = np.minimum((times[inside] - bars.start) // bars.length, bars.number - 1)
    return found


def together(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return arrays as one, also if there is none."""
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def counts_by_bar(groups: Ints, bars: Ints, number: int, size: int) -> dict[int, tuple[int, ...]]:
    """Return how many entries each group has in each of a number of bars, for groups below `size` that have any."""
    total = np.zeros(size * number, np.int64)
    for start in range(0, len(groups), AT_ONCE):
        keys = groups[start : start + AT_ONCE] * number + bars[start : start + AT_ONCE]
        total += np.bincount(keys, minlength=size * number)
    table = total.reshape(size, number)
    return {int(group): tuple(table[group].tolist()) for group in np.flatnonzero(table.any(axis=1))}


def earliest_of_pairs(left: Ints, right: Ints, times: Floats, beside: Floats) -> tuple[Ints, Floats, Floats]:
    """Return for each pair its right side, its earliest time, NaN if none is known, and a number beside it."""
    if not len(left):
        return right, times, beside
    keys = left * (int(right.max()) + 1) + right
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    first = order[starts]
    return right[first], np.fmin.reduceat(times[order], starts), beside[first]


def medians(groups: Ints, values: Floats) -> dict[int, tuple[float, int]]:
    """Return the median of each group's values, and how many there are; between two middle values, their mean."""
    few = len(groups) == 0 or int(groups.max()) < FEW_GROUPS
    order = np.argsort(groups.astype(np.uint16) if few else groups, kind="stable")
    ordered = values[order]
    names, starts, sizes = np.unique(groups[order], return_index=True, return_counts=True)
    result = {}
    for name, start, size in zip(names.tolist(), starts.tolist(), sizes.tolist(), strict=True):
        middle = (size - 1) // 2, size // 2
        part = np.partition(ordered[start : start + size], middle)
        result[name] = float((part[middle[0]] + part[middle[1]]) / 2), size
    return result
