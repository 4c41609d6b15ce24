"""Lengths of time and scales in words."""

from __future__ import annotations

from console.widgets.sparkline import scale_words

__all__ = ["length_words", "scale_line"]

HOUR, DAY = 3600, 86400


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
