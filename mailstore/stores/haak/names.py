"""The names that fields go by in the two dialects, and beyond (formats/haak.md 1, 5, 17)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

__all__ = ["MESSAGE", "READ", "STATUSES", "Dialect", "isoformat", "parse_time", "pick"]

MESSAGE: dict[str, tuple[str, ...]] = {
    "sender": ("sender", "from", "from_agent"),
    "recipient": ("recipient", "to"),
    "content": ("content", "body", "text", "message"),
    "timestamp": ("timestamp", "ts", "time", "date"),
    "thread": ("thread", "in_reply_to", "reply_to"),
    "ttl_hours": ("ttl_hours", "ttl"),
}
"""The names of a message's fields, the one that wins first."""

READ: dict[str, tuple[str, ...]] = {
    "message_id": ("message_id", "messageid", "msg_id", "id"),
    "reader": ("reader_session_id", "readersession_id", "reader", "session_id", "by"),
    "timestamp": ("timestamp", "ts", "read_at"),
}

STATUSES = {
    **dict.fromkeys(("live", "living", "alive", "active", "awake"), "living"),
    **dict.fromkeys(("frozen", "idle", "sleeping", "suspended"), "frozen"),
    **dict.fromkeys(("dead", "buried", "ended", "offline"), "dead"),
}

Dialect = dict[str, str]
"""A name to write for each field of MESSAGE."""


def pick(record: Mapping[str, Any], names: tuple[str, ...]) -> tuple[Any, str]:
    """Return the value under the first name that has one, and a warning when another name differs."""
    found: Any = None
    warning = ""
    by = ""
    for name in names:
        value = record.get(name)
        if value is None:
            continue
        if not by:
            found, by = value, name
        elif value != found and not warning:
            warning = f"{by!r} and {name!r} differ: {by!r} wins"
    return found, warning


def parse_time(value: Any) -> tuple[float | None, str]:
    """Return seconds since the epoch and a warning, None where the value is no time (haak.md 14)."""
    if isinstance(value, bool) or value is None:
        return None, f"{value!r} is no time" if value is not None else "there is no time"
    if isinstance(value, (int, float)):
        number = float(value)
        if not -62_135_596_800 < number < 253_402_300_800_000:
            return None, f"{value!r} is no time"
        return (number / 1000 if abs(number) > 100_000_000_000 else number), ""
    text = str(value).strip()
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            return moment.replace(tzinfo=UTC).timestamp(), f"time {text!r} names no zone: read as UTC"
        return moment.timestamp(), ""
    except (ValueError, OverflowError):
        return None, f"{text[:40]!r} is no time"


def isoformat(time: float) -> str:
    """Return seconds since the epoch as the files have it: YYYY-MM-DDTHH:MM:SSZ."""
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
