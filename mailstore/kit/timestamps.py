"""Convert the times of records between every notation that was seen and seconds since the epoch.

Usage:

    time, warning = parse_time(record["date"])  # 1773662405.0, ""
    isoformat(time)  # 2026-03-16T12:00:05.000Z
"""

from __future__ import annotations

from mailstore.records.intervals import LAST_SECOND

TYPE_CHECKING = False  # typing costs more than a hook may
if TYPE_CHECKING:
    from datetime import UTC, datetime
    from typing import Any
else:
    try:  # what `datetime` is made of: importing that costs a hook more than all times that it reads
        from _datetime import UTC, datetime
    except ImportError:
        from datetime import UTC, datetime

FIRST_SECOND = -62_135_596_800.0
"""The beginning of the year 1: no calendar has an earlier time."""
MILLISECONDS_FROM = 100_000_000_000
EPOCH_DIGITS = 9


def parse_time(value: Any) -> tuple[float | None, str]:
    """Return seconds since the epoch and a warning; None if the value is not a time."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            text = value.strip()
            if text.isdecimal() and len(text) >= EPOCH_DIGITS:
                return parse_time(float(text))
            if (plain := text.upper()) != value:
                time, warning = parse_time(plain)
                if time is not None:
                    return time, warning
            return None, f"{text[:40]!r} is not a valid time" if text else "it has no time"
        if moment.tzinfo is None:
            return moment.replace(tzinfo=UTC).timestamp(), f"time {value!r} has no zone: read as UTC"
        return moment.timestamp(), ""
    if value is None:
        return None, "it has no time"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None, f"{str(value)[:40]!r} is not a valid time"
    scale = 1000 if abs(value) >= MILLISECONDS_FROM else 1
    if not FIRST_SECOND * scale <= value <= LAST_SECOND * scale:
        return None, f"{str(value)[:40]} is not a valid time"
    return value / scale, ""


def time_of(value: Any) -> float | None:
    """Return seconds since the epoch; None if the value is not a time."""
    return None if value is None else parse_time(value)[0]


def utc(time: float) -> datetime:
    """Return seconds since the epoch as a date, or the nearest date there is."""
    return datetime.fromtimestamp(min(max(time, FIRST_SECOND), LAST_SECOND), UTC)


def isoformat(time: float, precision: str = "milliseconds") -> str:
    """Return seconds since the epoch as this program writes them: YYYY-MM-DDTHH:MM:SS.mmmZ."""
    return utc(time).isoformat(timespec=precision).replace("+00:00", "Z")


def written_time(time: float, written: str = "") -> str:
    """Return a time as a record had it, if that was clear; else in seconds, or microseconds where it has them."""
    if written and parse_time(written) == (time, ""):
        return written
    return isoformat(time, "seconds" if time == int(time) else "microseconds")
