"""Finds the threads of many messages at once."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mailstore.columns.messages import NONE

Rows = NDArray[np.int32]
Places = NDArray[np.int64]
WORD = 64


def column(typecode: str, values: NDArray[np.generic]) -> array[Any]:
    """Return numbers as an array with the item size of a type code."""
    column_array: array[Any] = array(typecode)
    column_array.frombytes(np.ascontiguousarray(values, np.dtype(typecode)).view(np.uint8))  # type: ignore[arg-type]
    return column_array


def roots(parents: Rows) -> Rows:
    """Return the root above each row; for a row on or below a cycle, some row of the cycle."""
    above = np.where(parents == NONE, np.arange(len(parents), dtype=np.int32), parents)
    below = np.flatnonzero(parents != NONE)
    for _ in range(max(1, len(parents)).bit_length()):
        further = above[above[below]]
        is_below = further != above[below]
        if not is_below.any():
            break
        above[below] = further
        below = below[is_below]
    return above


def rings(parents: Rows) -> NDArray[np.int64]:
    """Return all rows that are part of a cycle of replies."""
    tops = roots(parents)
    on_ring = np.unique(tops[parents[tops] != NONE])
    rows: set[int] = set()
    for start in on_ring.tolist():
        row = start
        while row not in rows:
            rows.add(row)
            row = int(parents[row])
    return np.array(sorted(rows), np.int64)


def in_order(keys: NDArray[np.integer]) -> tuple[Places, Places]:
    """Return non-negative numbers sorted, and the positions that they had; the sort is stable."""
    bits = len(keys).bit_length()
    if not len(keys) or int(keys.max()).bit_length() + bits >= WORD:
        order = np.argsort(keys, kind="stable")
        return keys[order].astype(np.int64), order
    # sorting numbers that contain their position is many times faster than sorting positions by number
    both = keys.astype(np.int64)
    both <<= bits
    both |= np.arange(len(keys))
    both.sort()
    order = both & ((1 << bits) - 1)
    both >>= bits
    return both, order


def previous_of_each(keys: NDArray[np.integer]) -> tuple[Rows, NDArray[np.intp]]:
    """Return for each position the previous one with the same key, and the positions sorted by key, stable."""
    ordered, order = in_order(keys)
    before = np.full(len(keys), NONE, np.int32)
    is_same = ordered[1:] == ordered[:-1]
    before[order[1:][is_same]] = order[:-1][is_same]
    return before, order


def last_of_each(keys: NDArray[np.integer], order: NDArray[np.intp]) -> tuple[NDArray[np.integer], NDArray[np.intp]]:
    """Return every key and the last position that has it, given the positions sorted by key."""
    ordered = keys[order]
    is_last = np.ones(len(keys), bool)
    is_last[:-1] = ordered[1:] != ordered[:-1]
    return ordered[is_last], order[is_last]


def by_age(times: NDArray[np.float64], offsets: NDArray[np.int64], files: NDArray[np.integer]) -> Places:
    """Return positions sorted by age, the oldest first (`mailstore.records.message.by_age`).

    `files` are numbers in the order of the files' names; no two messages are at one offset of one file.
    """
    is_later = (files[1:] > files[:-1]) | ((files[1:] == files[:-1]) & (offsets[1:] > offsets[:-1]))
    if is_later.all():
        return np.argsort(times, kind="stable")
    order = np.lexsort((offsets, files))
    ordered: Places = order[np.argsort(times[order], kind="stable")]
    return ordered


def newest_of_each(thread: Rows, order: Places) -> tuple[Rows, Places]:
    """Return every root and the newest row of its thread; `order` are the positions sorted by age."""
    tops, places = in_order(thread[order])
    is_end = np.append(tops[1:] != tops[:-1], True)[: len(tops)]
    return tops[is_end], order[places[is_end]]
