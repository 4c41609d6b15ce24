"""The accepted names of fields in a HAAK mailbox (docs/semantics.md#records)."""

from __future__ import annotations

TYPE_CHECKING = False  # typing and collections.abc cost more than a hook may
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

Names = dict[str, tuple[str, ...]]
"""The accepted names of each field; the first one has precedence."""

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

OTHER_MESSAGE_NAMES = frozenset(name for names in MESSAGE.values() for name in names[1:])
"""The accepted names that are not the first of their field."""
MESSAGE_FIELDS = frozenset(
    {"id", "subject", "type", "tags", "read_by", "metadata", *(name for names in MESSAGE.values() for name in names)}
)
SPELLS = "frozen_spells"
"""Earlier frozen intervals of an agent as pairs of times, in a roster without earlier lines."""
AGENT_FIELDS = frozenset(name for names in AGENT.values() for name in names)

STATUSES = {
    **dict.fromkeys(("live", "living", "alive", "active", "awake"), "living"),
    **dict.fromkeys(("frozen", "idle", "sleeping", "suspended"), "frozen"),
    **dict.fromkeys(("dead", "buried", "ended", "offline"), "dead"),
}

NOTHING: tuple[Any, ...] = (None, "", [])


def pick(record: Mapping[str, Any], names: tuple[str, ...]) -> tuple[Any, str]:
    """Return the value under the first name that has one, and a warning if another name has a different one."""
    by = ""
    found: Any = None
    for name in names:
        value = record.get(name)
        if not value and value in NOTHING:
            continue
        if not by:
            found, by = value, name
        elif value != found:
            return found, f"{by!r} and {name!r} differ: {by!r} wins"
    return found, ""


def picked_message(record: Mapping[str, Any]) -> dict[str, tuple[Any, str]]:
    """Return what `pick` returns for each field of a message."""
    if not OTHER_MESSAGE_NAMES.isdisjoint(record):
        return {field: pick(record, names) for field, names in MESSAGE.items()}
    values = ((field, record.get(names[0])) for field, names in MESSAGE.items())
    return {field: (None if not value and value in NOTHING else value, "") for field, value in values}


def named(records: list[dict[str, Any]], names: tuple[str, ...]) -> str:
    """Return the most frequent name of a field in some records; the first name if none has it."""
    votes = dict.fromkeys(names, 0)
    for record in records:
        used = next((name for name in names if name in record), None)
        if used is not None:
            votes[used] += 1
    return max(names, key=votes.__getitem__)
