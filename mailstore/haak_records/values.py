"""The fields of HAAK records (docs/formats/haak.md): their accepted names, and what they state, for hooks too.

Imports next to nothing, because a hook reads it at every start (docs/decisions/0015).
"""

from __future__ import annotations

from mailstore.kit.bodies import first_line
from mailstore.kit.timestamps import parse_time
from mailstore.records.agent_table import DEAD, LIVING
from mailstore.records.intervals import FOREVER
from mailstore.records.protocol import TAG_NAMESPACES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mailstore.records.intervals import Spell

    Record = dict[str, Any]

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
NAMESPACES = (*TAG_NAMESPACES, "role")


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


class NotARecord(Exception):
    """A JSON value is not a record of the kind that was expected; says why."""


def message_fields(record: Record, content: str) -> tuple[dict[str, Any], list[str]]:
    """Return the fields of a message's record but for its id, and warnings.

    `time` is None where it can't be read. Raises NotARecord.
    """
    picked = picked_message(record)
    warnings = [warning for _, warning in picked.values() if warning]
    sender, odd_sender = _name(picked["sender"][0])
    recipients, odd_recipient = recipients_in(picked["recipient"][0])
    if not content and all(record.get(name) is None for name in MESSAGE["content"]):
        raise NotARecord("not a message: it has no content")
    if not sender or not recipients:
        raise NotARecord(f"not a message: {odd_sender or odd_recipient}")
    stamp = picked["timestamp"][0]
    time, late = parse_time(stamp)
    stated = picked["ttl_hours"][0]
    if stated is None and any(record.get(name) == [] for name in MESSAGE["ttl_hours"]):
        stated = []  # `pick` takes an empty list for no value, but here it deserves its warning
    ttl, odd_ttl = _ttl(stated)
    if late and time is None:
        late = f"{late}: kept in the order of the file, never expires"
    subject, kind = record.get("subject"), record.get("type")
    fields = {
        "sender": sender,
        "recipients": recipients,
        "timestamp": "" if stamp is None else str(stamp),
        "time": time,
        "subject": subject if isinstance(subject, str) and subject.strip() else first_line(content),
        "thread": _name(picked["thread"][0])[0] or None,
        "ttl_hours": ttl,
        "type": kind if isinstance(kind, str) else "",
        "tags": strings(record.get("tags")),
        "read_by": _readers(record.get("read_by")),
    }
    return fields, [*warnings, *filter(None, (late, odd_ttl, odd_recipient))]


def id_in(record: Record) -> str:
    """Return a record's id as text; empty where it has none."""
    value = record.get("id")
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""


def _name(value: Any) -> tuple[str, str]:
    """Return a name, and why there is none."""
    if isinstance(value, str) and value and not value.isspace():
        return value, ""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value), ""
    return "", "it has no sender" if value is None else f"its sender {str(value)[:40]!r} is not a name"


def recipients_in(value: Any) -> tuple[tuple[str, ...], str]:
    """Return one or several addresses, and what was wrong with them."""
    if isinstance(value, list):
        names = [_name(each)[0].strip() for each in value]
        odd = "" if all(names) else "one of its recipients is not an address"
        return tuple(dict.fromkeys(name for name in names if name)), odd
    text = _name(value)[0].strip()
    if not text:
        return (), "it has no recipient" if value is None else f"its recipient {str(value)[:40]!r} is not an address"
    if "," in text:
        parts = [part.strip() for part in text.split(",")]
        if all(part.partition(":")[0] in NAMESPACES and part.partition(":")[2] for part in parts):
            return tuple(dict.fromkeys(parts)), ""
    return (text,), ""


def _ttl(value: Any) -> tuple[float | None, str]:
    """Return a TTL in hours; None for the default, with a warning where the value is not a TTL."""
    if value is None:
        return None, ""
    try:
        hours = 0.0 if isinstance(value, bool) else float(value)
    except OverflowError:
        hours = FOREVER if value > 0 else 0.0
    except (TypeError, ValueError):
        hours = 0.0
    if hours > 0:
        return hours, ""
    return None, f"ttl {str(value)[:20]!r} is not valid: using the default"


def _readers(value: Any) -> tuple[str, ...]:
    """Return who has read a message, from names or from read records in it."""
    if isinstance(value, list):
        value = [pick(each, READ["reader"])[0] if isinstance(each, dict) else each for each in value]
    return strings(value)


def strings(value: Any) -> tuple[str, ...]:
    """Return the names in a list, or in a text that separates them with commas, each once."""
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(dict.fromkeys(name for part in parts if (name := _name(part)[0].strip())))


def text_in(record: Record, names: tuple[str, ...]) -> str | None:
    """Return a field that is a text or an integer, as text; None for any other value."""
    value = pick(record, names)[0]
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def entries_of(document: Any) -> list[Record] | None:
    """Return the entries of a decoded roster document, each with its session id; None if it is not a roster."""
    if isinstance(document, dict) and isinstance(document.get("agents"), (list, dict)):
        document = document["agents"]
    if isinstance(document, dict):
        return [{"session_id": key, **entry} for key, entry in document.items() if isinstance(entry, dict)]
    return [entry for entry in document if isinstance(entry, dict)] if isinstance(document, list) else None


def agent_fields(record: Record) -> tuple[dict[str, Any], str]:
    """Return those fields of an agent's entry that decide which mail it has, and a warning. Raises NotARecord."""
    session_id = text_in(record, AGENT["session_id"])
    if session_id is None:
        raise NotARecord("it has no session id")
    word = pick(record, AGENT["status"])[0]
    status = STATUSES.get(str(word).strip().lower())
    warning = ""
    if status is None:
        warning = "no status: taken as living" if word is None else f"status {str(word)[:20]!r}: taken as living"
    updated, ended_at = agent_time(record, "updated"), agent_time(record, "ended_at")
    fields = {
        "session_id": session_id,
        "name": agent_word(record, "name"),
        "role": agent_word(record, "role"),
        "tags": strings(record.get("tags")),
        "status": status or LIVING,
        "started_at": agent_time(record, "started_at"),
        "ended_at": None if status != DEAD else updated if ended_at is None else ended_at,
        "updated": updated,
        "was_frozen": _spells(record.get(SPELLS)),
    }
    return fields, warning


def agent_time(record: Record, field: str) -> float | None:
    """Return a time in an agent's entry, in seconds since the epoch; None where it has none that can be read."""
    return parse_time(pick(record, AGENT[field])[0])[0]


def agent_word(record: Record, field: str) -> str:
    """Return a text in an agent's entry; empty where it has none."""
    value = pick(record, AGENT[field])[0]
    return str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""


def _spells(value: Any) -> tuple[Spell, ...]:
    """Return the periods in which an agent was frozen: pairs of times, null for an unknown one."""
    pairs = value if isinstance(value, list) else []
    return tuple(
        (parse_time(pair[0])[0], parse_time(pair[1])[0]) for pair in pairs if isinstance(pair, list) and len(pair) == 2
    )
