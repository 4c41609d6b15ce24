"""Lines that are wider than their pane: the part in sight, with signs where more follows."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

MORE_LEFT, MORE_RIGHT = "‹", "›"


def shifted(line: Strip, by: int, width: int, edge: Style) -> Strip:
    """Return `width` cells of a line, or all of one that fits; it is scrolled no further than to its end."""
    over = line.cell_length - width
    if over <= 0 or width < 2:
        return line
    start = min(by, over)
    seen = line.crop(start, start + width)
    is_more = bool(line.crop(start + width - 1).text.strip())
    if start and line.crop(0, start + 1).text.strip():
        seen = Strip([Segment(MORE_LEFT, edge), *seen.crop(1)])
    if is_more and start < over:
        seen = Strip([*seen.crop(0, width - 1), Segment(MORE_RIGHT, edge)])
    return seen
