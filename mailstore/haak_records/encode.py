"""Records that commands write as JSON objects, and an agent's entry in a roster's own names (docs/formats/haak.md)."""

from __future__ import annotations

from mailstore.haak_records.values import AGENT, MESSAGE, STATUSES, named, pick
from mailstore.kit.timestamps import isoformat, parse_time
from mailstore.records.agent_table import DEAD, LIVING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    from mailstore.records.draft import Draft
    from mailstore.records.message import Intervention

    Entry = dict[str, Any]

    class Described(Protocol):
        """An agent as it is to be written; times in seconds since the epoch."""

        @property
        def session_id(self) -> str: ...
        @property
        def name(self) -> str: ...
        @property
        def role(self) -> str: ...
        @property
        def tags(self) -> tuple[str, ...]: ...
        @property
        def status(self) -> str: ...
        @property
        def activity(self) -> str: ...
        @property
        def started_at(self) -> float | None: ...
        @property
        def ended_at(self) -> float | None: ...
        @property
        def last_seen(self) -> float | None: ...


OWN_NAMES = {field: names[0] for field, names in MESSAGE.items()}
"""The protocol's own name of each field of a message."""
ENDS = frozenset(AGENT["ended_at"])
TIMES = ("started_at", "ended_at", "last_seen")
NEW_STATUS = "status"
"""The name of the status field in an empty roster."""
LIVE = {"state": "live"}
"""The word for living agents by field name, if no entry has one."""


def message_record(draft: Draft, message_id: str, time: float, names: Mapping[str, str] = OWN_NAMES) -> Entry:
    """Return the record of a message that is sent at a time; `names` are those of the fields."""
    record: Entry = {
        "id": message_id,
        names["sender"]: draft.sender,
        names["recipient"]: draft.recipients[0] if len(draft.recipients) == 1 else list(draft.recipients),
        names["timestamp"]: isoformat(time),
    }
    if draft.subject:
        record["subject"] = draft.subject
    record[names["content"]] = draft.content
    record[names["thread"]] = draft.thread
    record[names["ttl_hours"]] = draft.ttl_hours
    if draft.type:
        record["type"] = draft.type
    if draft.metadata:
        record["metadata"] = draft.metadata
    record["read_by"] = []
    return record


def delivery_record(message_id: str, recipient: str, time: float) -> Entry:
    """Return the record that a message was addressed to a recipient."""
    return {"message_id": message_id, "recipient": recipient, "timestamp": isoformat(time)}


def read_record(message_id: str, reader: str, time: float) -> Entry:
    """Return the record that somebody has read a message."""
    return {"message_id": message_id, "reader_session_id": reader, "timestamp": isoformat(time)}


def intervention_record(intervention: Intervention) -> Entry:
    """Return a record of the oversight journal."""
    return {
        "id": intervention.id,
        "actor": intervention.actor,
        "action": intervention.action,
        "message_id": intervention.message_id,
        "timestamp": isoformat(intervention.time),
        "note": intervention.note,
        "details": intervention.details,
    }


def is_of(entry: Any, session_id: str) -> bool:
    """Say whether an entry is an agent's."""
    return isinstance(entry, dict) and str(pick(entry, AGENT["session_id"])[0]) == session_id


def has_any(entry: Entry, names: tuple[str, ...]) -> bool:
    """Say whether an entry has a field of any of these names."""
    return any(name in entry for name in names)


def updated_entry(entries: list[Entry], old: Entry, agent: Described, time: float) -> Entry:
    """Return an agent's new entry: `old` is its last one (empty for a new agent), `entries` show the roster's words."""
    name_of = {field: named([old] if has_any(old, names) else entries, names) for field, names in AGENT.items()}
    if not any(has_any(entry, AGENT["status"]) for entry in entries):
        name_of["status"] = NEW_STATUS
    if agent.status != DEAD:
        old = {name: value for name, value in old.items() if name not in ENDS}
    said: dict[str, Any] = {
        "session_id": agent.session_id,
        "name": agent.name or None,
        "role": agent.role or None,
        "tags": ", ".join(agent.tags) if isinstance(old.get("tags"), str) else list(agent.tags),
        "status": _word(entries, name_of["status"], str(agent.status)),
        "activity": agent.activity or None,
        **{field: _stamp(getattr(agent, field), old.get(name_of[field])) for field in TIMES},
        "updated": isoformat(time),
    }
    fields = {name_of[field]: value for field, value in said.items()}
    fields[name_of["session_id"]] = old.get(name_of["session_id"], agent.session_id)
    return {**old, **{name: value for name, value in fields.items() if value is not None or name in old}}


def _word(entries: list[Entry], name: str, status: str) -> str:
    """Return the roster's most frequent word for a status."""
    words: dict[str, int] = {}
    for entry in entries:
        if name in entry and STATUSES.get((word := str(entry[name])).strip().lower()) == status:
            words[word] = words.get(word, 0) + 1
    if words:
        return max(words, key=words.__getitem__)
    return LIVE.get(name, status) if status == LIVING else status


def _stamp(time: float | None, said: Any) -> Any:
    """Return a time, as already written in the roster if it is the same."""
    if time is None:
        return None
    return said if parse_time(said)[0] == time else isoformat(time)
