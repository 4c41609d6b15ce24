"""Hashes of ids that two processes agree on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

NO_KEY = 0
WORD = 8
FACTOR = np.uint64(0x9E37_79B9_7F4A_7C15)
SHIFT = np.uint64(29)
ODD = np.uint64(1)
NOWHERE = -1


class PackedTexts(NamedTuple):
    """Texts one after another as UTF-8, unpaired surrogates included, and the size of each in bytes."""

    cells: NDArray[np.uint8]
    sizes: NDArray[np.uint32]


def texts_of(texts: list[str]) -> PackedTexts:
    """Return texts in one buffer."""
    joined = "".join(texts)
    if joined.isascii():
        sizes = np.fromiter(map(len, texts), np.uint32, len(texts))
        return PackedTexts(np.frombuffer(joined.encode(), np.uint8), sizes)
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    return PackedTexts(np.frombuffer(b"".join(parts), np.uint8), np.fromiter(map(len, parts), np.uint32, len(parts)))


def texts_at(texts: PackedTexts, places: Sequence[int]) -> list[str]:
    """Return the texts at some positions."""
    ends = np.cumsum(texts.sizes, dtype=np.int64)
    spans = zip((ends - texts.sizes)[places].tolist(), ends[places].tolist(), strict=True)
    return [texts.cells[start:end].tobytes().decode("utf-8", "surrogatepass") for start, end in spans]


def keys_of(ids: PackedTexts) -> NDArray[np.uint64]:
    """Return a 64-bit hash of each id, never `NO_KEY`; a collision is next to impossible."""
    cells, sizes = ids
    if not len(sizes):
        return np.empty(0, np.uint64)
    size = int(sizes[0])
    if (sizes == size).all():
        return _keys(cells.reshape(len(sizes), size))
    keys = np.empty(len(sizes), np.uint64)
    starts = np.cumsum(sizes, dtype=np.int64) - sizes
    for size in np.unique(sizes).tolist():
        at = np.flatnonzero(sizes == size)
        keys[at] = _keys(cells[starts[at, None] + np.arange(size)])
    return keys


def _keys(cells: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return the hashes of ids of one size, given as rows of bytes."""
    number, size = cells.shape
    padded = np.zeros((number, -(-size // WORD) * WORD), np.uint8)
    padded[:, :size] = cells
    words = padded.view(np.uint64)
    keys = np.full(number, size, np.uint64)
    for at in range(words.shape[1]):
        keys ^= words[:, at]
        keys *= FACTOR
        keys ^= keys >> SHIFT
    return keys | ODD


class KeyIndex:
    """Finds the positions of keys in a column."""

    def __init__(self, keys: NDArray[np.uint64]) -> None:
        bits = max(1, len(keys).bit_length())
        low = np.uint64((1 << bits) - 1)
        # sorting keys that contain their position is many times faster than sorting positions by key
        order = (np.sort((keys & ~low) | np.arange(len(keys), dtype=np.uint64)) & low).astype(np.int32)
        known = keys[order]
        if (known[1:] < known[:-1]).any():
            order = np.argsort(keys, kind="stable").astype(np.int32)
            known = keys[order]
        self.are_unique = not bool((known[1:] == known[:-1]).any())
        self._order = np.append(order, np.int32(NOWHERE))
        self._known = np.append(known, np.uint64(0xFFFF_FFFF_FFFF_FFFF))
        self._shift = np.uint64(64 - bits)
        # keys are evenly distributed, so their first bits tell where in the sorted column to search
        self._starts = np.searchsorted(known >> self._shift, np.arange(1 << bits, dtype=np.uint64)).astype(np.int32)

    def find(self, keys: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return the first position of each key, -1 for those that are not in the column."""
        at = self._starts[keys >> self._shift]
        behind = np.flatnonzero(self._known[at] < keys)
        while len(behind):
            at[behind] += 1
            behind = behind[self._known[at[behind]] < keys[behind]]
        rows: NDArray[np.int32] = np.where(self._known[at] == keys, self._order[at], np.int32(NOWHERE))
        return rows
