"""How people write a moment: a date, a time of today, both, or how long ago."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

__all__ = ["EXAMPLES", "read_moment"]

EXAMPLES = "a date (2026-03-16), a time (14:30, UTC), both, or an age such as 2h or 3d"
UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
AGE = re.compile(r"(\d{1,6})([mhdw])", re.ASCII)
CLOCK = re.compile(r"\d{1,2}:\d{2}(:\d{2})?", re.ASCII)


def read_moment(text: str, now: float) -> float | None:
    """Return the moment that is meant, in seconds since the epoch; None for what is none.

    Without an offset a time is in UTC; a time alone is the last one of that name before `now`.
    """
    try:
        if found := AGE.fullmatch(text):
            return now - timedelta(**{UNITS[found[2]]: int(found[1])}).total_seconds()
        if CLOCK.fullmatch(text):
            today = datetime.fromtimestamp(now, UTC).date()
            moment = datetime.fromisoformat(f"{today}T{text.zfill(5) if len(text) < 6 else text.zfill(8)}+00:00")
            return (moment if moment.timestamp() <= now else moment - timedelta(days=1)).timestamp()
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
