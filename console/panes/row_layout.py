"""The layout of a line: pieces at the left, which are cut if necessary, and pieces at the right, which are not."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

MARK = "▪ "
"""The prefix of a marked row."""

Piece = tuple[str, Style]


def layout_line(left: Sequence[Piece], right: Sequence[Piece], width: int, base: Style) -> Strip:
    """Return a line of exactly `width` cells; what does not fit at the left is cut with `…`."""
    fixed = sum(cell_len(text) for text, _ in right)
    room = max(0, width - fixed - (1 if right else 0))
    wanted = sum(cell_len(text) for text, _ in left)
    segments = _cut(left, room, base) if wanted > room else [Segment(text, base + style) for text, style in left]
    gap = width - fixed - min(wanted, room)
    if gap > 0:
        segments.append(Segment(" " * gap, base))
    segments.extend(Segment(text, base + style) for text, style in right)
    return Strip(segments, width) if gap >= 0 else Strip(segments).adjust_cell_length(width, base)


def _cut(pieces: Sequence[Piece], room: int, base: Style) -> list[Segment]:
    segments: list[Segment] = []
    left = room
    for text, style in pieces:
        size = cell_len(text)
        if size >= left:
            segments.append(Segment(set_cell_size(text, left - 1) + "…" if left else "", base + style))
            break
        segments.append(Segment(text, base + style))
        left -= size
    return segments
