"""Moments as people type them: `2h`, `3d`, a date, a time of today, ISO 8601."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from console.cli.problems import UsedWrongly

__all__ = ["moment"]

SPAN = re.compile(r"(\d{1,9})([smhdw])")
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def moment(text: str, now: float) -> float:
    """Return seconds since the epoch; without an offset a time is UTC. Raises UsedWrongly."""
    text = text.strip()
    if span := SPAN.fullmatch(text):
        return now - int(span[1]) * SECONDS[span[2]]
    today = datetime.fromtimestamp(now, UTC).date()
    for typed in (text, f"{today}T{text}"):
        try:
            found = datetime.fromisoformat(typed)
        except ValueError:
            continue
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    raise UsedWrongly(f"{text!r} is no time", "write 2026-03-16, 2026-03-16T14:30:00Z, 14:30, 2h or 3d")
