"""The headings of narrow columns, in steps so that longer names fit."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size

from console.render.short_text import shorten_middle


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
    found: list[str] = []
    for char in text:
        width = cell_len(char)
        if width == 0 and found:
            found[-1 if found[-1] else -2] += char
        else:
            found += [char, *[""] * (width - 1)]
    return (found + [" "] * size)[:size]
