"""Recognises timestamps that can be written again from their time, so that their text need not be stored."""

from __future__ import annotations

from datetime import UTC, datetime

ODD = -1
"""The style of a timestamp whose text must be stored, because no style writes it."""
STYLES = (
    ("seconds", "Z"),
    ("auto", "+00:00"),
    ("milliseconds", "Z"),
    ("microseconds", "Z"),
    ("milliseconds", "+00:00"),
)


LENGTHS = ((20,), (25, 32), (24,), (27,), (29,))
"""How many characters each style writes, for a year of four digits."""


def written(time: float, style: int) -> str:
    """Return a time, in seconds since the epoch, as a style writes it."""
    spec, zone = STYLES[style]
    return datetime.fromtimestamp(time, UTC).isoformat(timespec=spec)[:-6] + zone


def style_of(timestamp: str, time: float) -> int:
    """Return the style that writes a timestamp exactly as given, or `ODD`."""
    for style, (_, zone) in enumerate(STYLES):
        if len(timestamp) in LENGTHS[style] and timestamp.endswith(zone):
            try:
                if written(time, style) == timestamp:
                    return style
            except (ValueError, OverflowError, OSError):
                return ODD
    return ODD
