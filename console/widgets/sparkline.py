"""Numbers over time as one line of block characters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, sqrt

BLOCKS = " ▁▂▃▄▅▆▇█"
STEPS = len(BLOCKS) - 1


def grouped(values: Sequence[int], width: int) -> list[int]:
    """Return values added up in groups of one size, at most `width` of them; only the first may be smaller."""
    if width <= 0:
        return []
    size = max(1, ceil(len(values) / width))
    first = len(values) % size or size
    edges = [0, *range(first, len(values) + 1, size)] if values else [0]
    return [sum(values[start:end]) for start, end in pairwise(edges)]


def level(value: int, top: int) -> int:
    """Return how high a value is drawn, 0 to 8: by its square root, so that few look different from none."""
    if value <= 0 or top <= 0:
        return 0
    return min(STEPS, max(1, ceil(STEPS * sqrt(value / top))))


def sparkline(values: Sequence[int], width: int, top: int) -> str:
    """Return values, the last at the right, as so many cells; `top` is drawn as a full block."""
    return "".join(BLOCKS[level(value, top)] for value in grouped(values, width)).rjust(width)


def scale_words(top: int) -> str:
    """Return what the heights mean: one, the number that is drawn at half the height, and the largest."""
    middle = f"  ▄ {top // 4:,}" if top >= 8 else ""
    return f"▁ 1{middle}  █ {top:,}" if top > 1 else "█ 1"
