"""Timestamps for other programs."""

from __future__ import annotations


def iso_time(time: float | None) -> str | None:
    """Return seconds since the epoch as ISO 8601 in UTC, to the second; None for an unknown time."""
    if time is None:
        return None
    from datetime import UTC, datetime

    try:
        return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return None
