"""Numbers over time as upright bars with a scale and a time axis, as plain lines."""

from __future__ import annotations

from collections.abc import Sequence

from console.widgets.sparkline import BLOCKS

STEPS = len(BLOCKS) - 1


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
