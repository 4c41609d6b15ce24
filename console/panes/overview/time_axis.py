"""Labels for an axis of time: round times, at equal distances, as many as are easily read."""

from __future__ import annotations

from datetime import datetime
from math import ceil, floor

HOUR, DAY = 3600, 86400
STEPS = (300, 600, 1800, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, *(DAY * days for days in (1, 2, 7, 14, 28, 91, 182, 364)))
MONDAY = 4 * DAY
"""Weeks begin so long after the epoch."""
APART, WIDER_APART = 8, 10
"""The least number of cells from one label to the next: of times and days, and of months."""


def time_marks(start: float, length: float, columns: int, wide: int) -> list[tuple[int, str]]:
    """Return labels by the cell at which they begin, for columns of so many seconds and cells from a time on."""
    years = ceil(WIDER_APART * length / wide / STEPS[-1]) * STEPS[-1]
    step = next((it for it in STEPS if it * wide >= _apart(it) * length), years)
    offset = _offset(start) - (MONDAY if step >= 7 * DAY else 0)
    marks = []
    for column in range(columns):
        begin = start + column * length + offset
        round_time = ceil(begin / step) * step
        if round_time < begin + length:
            marks.append((column * wide, _words(round_time - offset, step)))
    return marks


def _apart(step: float) -> int:
    return WIDER_APART if step >= 91 * DAY else APART


def _offset(time: float) -> float:
    """Return how many seconds the local clock is ahead of UTC."""
    try:
        offset = datetime.fromtimestamp(floor(time)).astimezone().utcoffset()
    except (OverflowError, ValueError, OSError):
        return 0.0
    return 0.0 if offset is None else offset.total_seconds()


def _words(time: float, step: float) -> str:
    try:
        then = datetime.fromtimestamp(time)
    except (OverflowError, ValueError, OSError):
        return ""
    if step >= 91 * DAY:
        return f"{then:%b %Y}"
    if step >= DAY:
        return f"{then.day} {then:%b}"
    return f"{then:%a} {then.day}" if then.hour == then.minute == 0 and step >= 3 * HOUR else f"{then:%H:%M}"
