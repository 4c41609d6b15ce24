"""Timestamps that need not be kept, because their time says how they were written."""

from __future__ import annotations

from datetime import UTC, datetime

__all__ = ["ODD", "style_of", "written"]

ODD = -1
"""The style of a timestamp that can't be made of its time: the text itself must be kept."""
STYLES = (
    ("seconds", "Z"),
    ("auto", "+00:00"),
    ("milliseconds", "Z"),
    ("microseconds", "Z"),
    ("milliseconds", "+00:00"),
)


def written(time: float, style: int) -> str:
    """Return a moment, in seconds since the epoch, as a style writes it."""
    spec, zone = STYLES[style]
    return datetime.fromtimestamp(time, UTC).isoformat(timespec=spec)[:-6] + zone


def style_of(timestamp: str, time: float) -> int:
    """Return the style that writes a timestamp exactly as it stands, given its time; `ODD` for none."""
    for style, (_, zone) in enumerate(STYLES):
        if timestamp.endswith(zone):
            try:
                if written(time, style) == timestamp:
                    return style
            except (ValueError, OverflowError, OSError):
                return ODD
    return ODD
