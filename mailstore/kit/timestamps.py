"""Times as agents' records write them, in any of the ways that were seen."""

from __future__ import annotations

from datetime import UTC, datetime

TYPE_CHECKING = False  # typing costs more than a hook may
if TYPE_CHECKING:
    from typing import Any

__all__ = ["isoformat", "parse_time"]

FIRST_SECOND, LAST_SECOND = -62_135_596_800, 253_402_300_799
"""The years 1 to 9999: what a date can say."""
MILLISECONDS_FROM = 100_000_000_000
EPOCH_DIGITS = 9


def parse_time(value: Any) -> tuple[float | None, str]:
    """Return seconds since the epoch and a warning, None where the value is no time (haak.md 14)."""
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
            return None, f"{text[:40]!r} is no time" if text else "there is no time"
        if moment.tzinfo is None:
            return moment.replace(tzinfo=UTC).timestamp(), f"time {value!r} names no zone: read as UTC"
        return moment.timestamp(), ""
    if value is None:
        return None, "there is no time"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None, f"{str(value)[:40]!r} is no time"
    scale = 1000 if abs(value) >= MILLISECONDS_FROM else 1
    if not FIRST_SECOND * scale <= value <= LAST_SECOND * scale:
        return None, f"{str(value)[:40]} is no time"
    return value / scale, ""


def isoformat(time: float) -> str:
    """Return seconds since the epoch as this program writes them: YYYY-MM-DDTHH:MM:SS.mmmZ."""
    return datetime.fromtimestamp(time, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
