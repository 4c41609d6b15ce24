"""Lengths of time, medians and scales in words."""

from __future__ import annotations

from console.widgets.charts import scale_words
from mailstore.overview.picture import Median

HOUR, DAY = 3600, 86400
FEW = 5
"""Of fewer values than that, a median says of how many it is."""


def length_words(seconds: float) -> str:
    """Return the length of a bar: 5 min, 1.5 h, 7 days."""
    if seconds < HOUR:
        return f"{int(seconds // 60)} min"
    if seconds < DAY:
        return f"{seconds / HOUR:.1f} h".replace(".0", "")
    days = f"{seconds / DAY:.1f}".removesuffix(".0")
    return f"{days} day{'s' * (days != '1')}"


def scale_line(top: int, seconds: float) -> str:
    """Return what the heights of lines mean, for a title; empty if there are no lines."""
    return f" · {scale_words(top)} in {length_words(seconds)}" if top else ""


def duration(seconds: float) -> str:
    """Return a duration in at most three cells: 4s, 12m, 3h, 9d, 6w."""
    for size, unit, most in ((1, "s", 60), (60, "m", 5940), (3600, "h", 172800), (86400, "d", 8640000)):
        if seconds < most:
            return f"{int(seconds // size)}{unit}"
    return f"{int(seconds // 604800)}w"


def median_words(median: Median) -> str:
    """Return a median, with the number of values if they are few; a dash for none."""
    if median.seconds is None:
        return "–"
    words = duration(median.seconds)
    return words if median.number >= FEW else f"{words} ({median.number})"
