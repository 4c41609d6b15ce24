"""The threads of many messages at once."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mailstore.columns.messages import NONE

__all__ = ["Rows", "column", "last_of_each", "previous_of_each", "rings", "roots"]

Rows = NDArray[np.int32]


def column(typecode: str, values: NDArray[np.generic]) -> array[Any]:
    """Return numbers as an array, of the size that the typecode says."""
    found: array[Any] = array(typecode)
    found.frombytes(np.ascontiguousarray(values, np.dtype(typecode)).tobytes())
    return found


def roots(parents: Rows) -> Rows:
    """Return the root above each row; for one that stands above or on a ring, some row of the ring."""
    above = np.where(parents == NONE, np.arange(len(parents), dtype=np.int32), parents)
    for _ in range(max(1, len(parents)).bit_length()):
        further = above[above]
        if (further == above).all():
            break
        above = further
    return above


def rings(parents: Rows) -> NDArray[np.int64]:
    """Return all rows that stand on a ring of replies."""
    tops = roots(parents)
    on_ring = np.unique(tops[parents[tops] != NONE])
    found: set[int] = set()
    for start in on_ring.tolist():
        row = start
        while row not in found:
            found.add(row)
            row = int(parents[row])
    return np.array(sorted(found), np.int64)


def previous_of_each(keys: NDArray[np.integer]) -> tuple[Rows, NDArray[np.intp]]:
    """Return for each place the one before it with the same key, and the places sorted by key, stable."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    before = np.full(len(keys), NONE, np.int32)
    is_same = ordered[1:] == ordered[:-1]
    before[order[1:][is_same]] = order[:-1][is_same]
    return before, order


def last_of_each(keys: NDArray[np.integer], order: NDArray[np.intp]) -> tuple[NDArray[np.integer], NDArray[np.intp]]:
    """Return every key, and the last place that has it, given the places sorted by key."""
    ordered = keys[order]
    is_last = np.ones(len(keys), bool)
    is_last[:-1] = ordered[1:] != ordered[:-1]
    return ordered[is_last], order[is_last]


def newest_of_each(thread: Rows, times: NDArray[np.float64], id_of: Callable[[int], str]) -> tuple[Rows, Rows]:
    """Return every root, and the newest row of its thread: the last by time, among those of one time by id."""
    order = np.lexsort((times, thread))
    tops, places = last_of_each(thread, order)
    ordered = thread[order]
    # where the last two of a thread are of one time, the id decides
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True)) if len(order) else np.empty(0, np.int64)
    for number, end in enumerate(ends.tolist()):
        if end and ordered[end - 1] == ordered[end] and times[order[end - 1]] == times[order[end]]:
            rivals, at = [int(order[end])], end - 1
            while at >= 0 and ordered[at] == ordered[end] and times[order[at]] == times[order[end]]:
                rivals.append(int(order[at]))
                at -= 1
            places[number] = max(rivals, key=id_of)
    return tops.astype(np.int32), places.astype(np.int32)
