"""The names that fields go by in the two dialects, and beyond (formats/haak.md 1, 5, 14, 17)."""

from __future__ import annotations

from datetime import UTC, datetime

TYPE_CHECKING = False  # typing and collections.abc cost more than a hook may
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["AGENT", "DELIVERY", "MESSAGE", "READ", "STATUSES", "Names", "isoformat", "named", "parse_time", "pick"]

Names = dict[str, tuple[str, ...]]
"""The names that a field goes by, the one that wins first."""

MESSAGE: Names = {
    "sender": ("sender", "from", "from_agent"),
    "recipient": ("recipient", "to"),
    "content": ("content", "body", "text", "message"),
    "timestamp": ("timestamp", "ts", "time", "date"),
    "thread": ("thread", "in_reply_to", "reply_to"),
    "ttl_hours": ("ttl_hours", "ttl"),
}

READ: Names = {
    "message_id": ("message_id", "messageid", "msg_id", "id"),
    "reader": ("reader_session_id", "readersession_id", "reader", "session_id", "by"),
    "timestamp": ("timestamp", "ts", "read_at"),
}

DELIVERY: Names = {
    "message_id": READ["message_id"],
    "recipient": ("recipient", "recipient_session_id", "session_id", "to"),
    "timestamp": READ["timestamp"],
}

AGENT: Names = {
    "session_id": ("session_id", "session", "id"),
    "name": ("name",),
    "role": ("role",),
    "tags": ("tags",),
    "status": ("state", "status"),
    "activity": ("activity", "summary", "working_on"),
    "started_at": ("started_at", "registered", "registered_at", "created_at"),
    "ended_at": ("ended_at", "died_at", "buried_at"),
    "last_seen": ("last_seen", "heartbeat"),
    "updated": ("updated", "updated_at", "last_updated"),
}

STATUSES = {
    **dict.fromkeys(("live", "living", "alive", "active", "awake"), "living"),
    **dict.fromkeys(("frozen", "idle", "sleeping", "suspended"), "frozen"),
    **dict.fromkeys(("dead", "buried", "ended", "offline"), "dead"),
}

FIRST_SECOND, LAST_SECOND = -62_135_596_800, 253_402_300_799
"""The years 1 to 9999: what a date can say."""
MILLISECONDS_FROM = 100_000_000_000
EPOCH_DIGITS = 9
NOTHING: tuple[Any, ...] = (None, "", [])


def pick(record: Mapping[str, Any], names: tuple[str, ...]) -> tuple[Any, str]:
    """Return the value under the first name that has one, and a warning when another name differs."""
    by = ""
    found: Any = None
    for name in names:
        value = record.get(name)
        if value in NOTHING:
            continue
        if not by:
            found, by = value, name
        elif value != found:
            return found, f"{by!r} and {name!r} differ: {by!r} wins"
    return found, ""


def named(records: list[dict[str, Any]], names: tuple[str, ...]) -> str:
    """Return the name that most of some records give a field; the first where none has it."""
    votes = dict.fromkeys(names, 0)
    for record in records:
        used = next((name for name in names if name in record), None)
        if used is not None:
            votes[used] += 1
    return max(names, key=votes.__getitem__)


def parse_time(value: Any) -> tuple[float | None, str]:
    """Return seconds since the epoch and a warning, None where the value is no time (haak.md 14)."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            text = value.strip()
            if text.isdecimal() and len(text) >= EPOCH_DIGITS:
                return parse_time(float(text))
            if text != value or text.upper() != text:
                return parse_time(text.upper())
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
    """Return seconds since the epoch as the files have it: YYYY-MM-DDTHH:MM:SSZ."""
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
