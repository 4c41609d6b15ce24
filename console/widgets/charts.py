"""Sparklines, histograms and grids, as text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, sqrt

from rich.cells import cell_len, set_cell_size

from console.render.short_text import shorten_middle

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


def round_top(most: int) -> int:
    """Return the top of the scale: the next of 1, 2, 3, 4, 5, 6 and 8 times a power of ten."""
    power = int(f"1{'0' * (len(str(max(1, most))) - 1)}")
    return next(times * power for times in (1, 2, 3, 4, 5, 6, 8, 10) if times * power >= most)


def bar_rows(values: Sequence[int], height: int, top: int) -> list[str]:
    """Return the bars as so many rows, the highest first, one character for each value; few differ from none."""
    full = height * STEPS
    heights = [min(full, max(1, round(full * value / top))) if value > 0 and top > 0 else 0 for value in values]
    rows = []
    for row in range(height - 1, -1, -1):
        rows.append("".join(BLOCKS[min(STEPS, max(0, each - row * STEPS))] for each in heights))
    return rows


def gutter(height: int, top: int) -> list[str]:
    """Return the scale at the left of the bars and their axis: the top, its half if there is room, and zero."""
    size = len(f"{top:,}")
    marks = {0: f"{top:,}", height: "0"}
    if height >= 4 and height % 2 == 0 and top % 2 == 0:
        marks[height // 2] = f"{top // 2:,}"
    return [f"{marks.get(row, ''):>{size}} {'┤' if row in marks else '│'}" for row in range(height)] + [
        f"{'0':>{size}} └"
    ]


def axis_labels(marks: Sequence[tuple[int, str]], width: int) -> str:
    """Return a line of labels, each beginning at its column; those that would touch the one before are left out."""
    line = ""
    for column, text in marks:
        if column >= len(line) + (1 if line else 0) and column + len(text) <= width:
            line = line.ljust(column) + text
    return line.ljust(width)


def stepped_headings(names: Sequence[str], cell: int, steps: int, room: int) -> list[str]:
    """Return lines of headings over right-aligned columns of `cell` cells; `room` is what is free left of the first.

    Each heading ends above its column and takes the next line after the one before it; a stroke leads down from it.
    """
    width = room + cell * len(names)
    lines = [[" "] * width for _ in range(steps)]
    for at, name in enumerate(names):
        end = room + cell * (at + 1)
        step = at % steps
        space = min(end, cell * min(steps, at + 1) + (room if at < steps else 0)) - 1
        text = shorten_middle(name, space)
        size = cell_len(text)
        # a wide sign takes two places of the line: the second holds nothing
        lines[step][end - size : end] = _places(text, size)
        for below in range(step + 1, steps):
            lines[below][end - 1] = "╷"
    return [set_cell_size("".join(line), width) for line in lines]


def _places(text: str, size: int) -> list[str]:
    labels: list[str] = []
    for char in text:
        width = cell_len(char)
        if width == 0 and labels:
            labels[-1 if labels[-1] else -2] += char
        else:
            labels += [char, *[""] * (width - 1)]
    return (labels + [" "] * size)[:size]
