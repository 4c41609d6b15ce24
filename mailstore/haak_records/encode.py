"""The records that commands write, as JSON objects in the protocol's field names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mailstore.haak_records.field_names import MESSAGE
from mailstore.kit.timestamps import isoformat

if TYPE_CHECKING:
    from mailstore.records.draft import Draft
    from mailstore.records.message import Intervention

Record = dict[str, Any]
OWN_NAMES = {field: names[0] for field, names in MESSAGE.items()}
"""The protocol's own name of each field of a message."""


def message_record(draft: Draft, message_id: str, time: float, names: Mapping[str, str] = OWN_NAMES) -> Record:
    """Return the record of a message that is sent at a time; `names` are those of the fields."""
    record: Record = {
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


def delivery_record(message_id: str, recipient: str, time: float) -> Record:
    """Return the record that a message was addressed to a recipient."""
    return {"message_id": message_id, "recipient": recipient, "timestamp": isoformat(time)}


def read_record(message_id: str, reader: str, time: float) -> Record:
    """Return the record that somebody has read a message."""
    return {"message_id": message_id, "reader_session_id": reader, "timestamp": isoformat(time)}


def intervention_record(intervention: Intervention) -> Record:
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
