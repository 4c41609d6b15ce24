"""Parse a time as people write it: a date, a time of day, both, or an age."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

__all__ = ["EXAMPLES", "read_moment"]

EXAMPLES = "a date (2026-03-16, today, yesterday), a time (14:30, UTC), both, or an age such as 2h or 3d"
DAYS_AGO = {"today": 0, "yesterday": 1}
UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
AGE = re.compile(r"(\d{1,6})([mhdw])", re.ASCII)
CLOCK = re.compile(r"\d{1,2}:\d{2}(:\d{2})?", re.ASCII)


def read_moment(text: str, now: float) -> float | None:
    """Return a time in seconds since the epoch; None for a text that is not a time.

    Times without an offset are in UTC; a date means its first moment; a time alone means its last occurrence before
    `now`.
    """
    try:
        if found := AGE.fullmatch(text):
            return now - timedelta(**{UNITS[found[2]]: int(found[1])}).total_seconds()
        if text in DAYS_AGO:
            day = datetime.fromtimestamp(now, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
            return (day - timedelta(days=DAYS_AGO[text])).timestamp()
        if CLOCK.fullmatch(text):
            today = datetime.fromtimestamp(now, UTC).date()
            moment = datetime.fromisoformat(f"{today}T{text.zfill(5) if len(text) < 6 else text.zfill(8)}+00:00")
            return (moment if moment.timestamp() <= now else moment - timedelta(days=1)).timestamp()
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
