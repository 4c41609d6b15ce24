"""Turns drafts and records into lines of a HAAK mailbox, in the dialect that its file speaks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from mailstore.draft import Draft
from mailstore.files.append import append_lines, locked, refusal, replace_file
from mailstore.files.lines import LineFile
from mailstore.message import Intervention
from mailstore.roster import Agent, Status
from mailstore.stores.haak.decode import NotAMessage, loads, objects
from mailstore.stores.haak.names import MESSAGE, READ, STATUSES, Dialect, isoformat
from mailstore.stores.haak.places import Places
from mailstore.stores.haak.records import entries_of

__all__ = [
    "dialect_of",
    "message_line",
    "update_roster",
    "write_deliveries",
    "write_intervention",
    "write_reads",
]

LAST_LINES = 100
TAIL_BYTES = 1 << 18
encode = msgspec.json.Encoder().encode


def dialect_of(path: Path) -> Dialect:
    """Return the names that the majority of a file's last 100 lines give its fields (haak.md 1)."""
    votes: dict[str, dict[str, int]] = {field: {} for field in MESSAGE}
    for record in _last_records(path):
        for field, names in MESSAGE.items():
            used = next((name for name in names if record.get(name) is not None), None)
            if used is not None:
                votes[field][used] = votes[field].get(used, 0) + 1
    dialect = {field: max(cast, key=lambda name: cast[name]) for field, cast in votes.items() if cast}
    return {field: dialect.get(field, names[0]) for field, names in MESSAGE.items()}


def _last_records(path: Path) -> list[dict[str, Any]]:
    file = LineFile(path)
    file.skip_to(file.tail_start(TAIL_BYTES))
    lines = [line for block in file.read() for line in block]
    records = []
    for line in lines[-LAST_LINES:]:
        try:
            found = [loads(part.data) for part in objects(line)[0]]
        except NotAMessage:
            continue
        records += [record for record in found if isinstance(record, dict)]
    return records


def message_line(draft: Draft, message_id: str, time: float, dialect: Dialect) -> bytes:
    """Return the line that a draft becomes."""
    one = draft.recipients[0] if len(draft.recipients) == 1 else list(draft.recipients)
    record: dict[str, Any] = {
        "id": message_id,
        dialect["sender"]: draft.sender,
        dialect["recipient"]: one,
        dialect["timestamp"]: isoformat(time),
    }
    if draft.subject:
        record["subject"] = draft.subject
    record[dialect["content"]] = draft.content
    record[dialect["thread"]] = draft.thread
    record[dialect["ttl_hours"]] = draft.ttl_hours
    if draft.type:
        record["type"] = draft.type
    record["read_by"] = []
    return encode(record)


def write_deliveries(places: Places, message_id: str, audience: Sequence[str], time: float) -> None:
    """Record for whom a message is at the moment it is sent."""
    stamp = isoformat(time)
    lines = [encode({"message_id": message_id, "recipient": name, "timestamp": stamp}) for name in audience]
    if lines:
        append_lines(places.deliveries, lines)


def write_reads(places: Places, reader: str, message_ids: Sequence[str], time: float) -> int:
    """Record that a reader has read messages; those that it has a record of are passed over."""
    known = _known_reads(places.reads, reader)
    fresh = [message_id for message_id in dict.fromkeys(message_ids) if message_id not in known]
    stamp = isoformat(time)
    lines = [
        encode({"message_id": message_id, "reader_session_id": reader, "timestamp": stamp})
        for message_id in fresh
    ]
    if lines:
        append_lines(places.reads, lines)
    return len(lines)


def _known_reads(path: Path, reader: str) -> set[str]:
    mark = reader.encode()
    known: set[str] = set()
    for block in LineFile(path).read(block=1 << 20):
        for line in block:
            if mark not in line.data:
                continue
            try:
                records = [loads(part.data) for part in objects(line)[0]]
            except NotAMessage:
                continue
            for record in records:
                if isinstance(record, dict) and any(record.get(name) == reader for name in READ["reader"]):
                    known.update(
                        str(record[name]) for name in READ["message_id"] if record.get(name) is not None
                    )
    return known


def write_intervention(places: Places, intervention: Intervention) -> None:
    """Append to the oversight journal."""
    record = {
        "id": intervention.id,
        "actor": intervention.actor,
        "action": intervention.action,
        "message_id": intervention.message_id,
        "timestamp": isoformat(intervention.time),
        "note": intervention.note,
        "details": intervention.details,
    }
    append_lines(places.journal, [encode(record)])


def update_roster(places: Places, agent: Agent, time: float) -> None:
    """Register an agent, or change what the roster says of it; fields unknown to us stay."""
    if places.roster_document.exists() and not places.roster_lines.exists():
        _update_document(places.roster_document, agent, time)
        return
    records = [record for block in LineFile(places.roster_lines).read() for record in _records(block)]
    old = _entry_of(agent, records)
    append_lines(places.roster_lines, [encode(_entry(old, records, agent, time))])


def _records(lines: Iterable[Any]) -> list[dict[str, Any]]:
    found = []
    for line in lines:
        try:
            found += [loads(part.data) for part in objects(line)[0]]
        except NotAMessage:
            continue
    return [record for record in found if isinstance(record, dict)]


def _entry_of(agent: Agent, entries: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what the roster says of an agent last, nothing when it does not know it."""
    return next((entry for entry in reversed(entries) if entry.get("session_id") == agent.session_id), {})


def _entry(old: dict[str, Any], others: list[dict[str, Any]], agent: Agent, time: float) -> dict[str, Any]:
    """Return an agent's entry in the words that the roster uses already."""
    state = next(
        (name for name in ("state", "status") for entry in (old, *others[-20:]) if name in entry), "status"
    )
    spoken = {str(entry.get(state)) for entry in others}
    word = next(
        (said for said in spoken if STATUSES.get(said.lower()) == agent.status.value), agent.status.value
    )
    activity = next((name for name in ("activity", "summary", "working_on") if name in old), "activity")
    ended = {"ended_at": isoformat(agent.ended_at)} if agent.ended_at is not None else {}
    if agent.status is not Status.DEAD:
        old = {name: value for name, value in old.items() if name not in ("ended_at", "died_at", "buried_at")}
    fields: dict[str, Any] = {
        "session_id": agent.session_id,
        "name": agent.name or None,
        "role": agent.role or None,
        "tags": list(agent.tags),
        state: word,
        activity: agent.activity or None,
        "started_at": isoformat(agent.started_at) if agent.started_at is not None else None,
        "last_seen": isoformat(agent.last_seen) if agent.last_seen is not None else None,
        "updated": isoformat(time),
    }
    given = {name: value for name, value in fields.items() if value is not None or name in old}
    if "registered" in old:
        given.pop("started_at", None)
    return {**old, **given, **ended}


def _update_document(path: Path, agent: Agent, time: float) -> None:
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise refusal(path, error) from error
    try:
        with locked(fd, path):
            document = loads(path.read_bytes() or b"[]")
            entries = entries_of(document) or []
            old = _entry_of(agent, entries)
            new = _entry(old, entries, agent, time)
            replace_file(
                path, msgspec.json.format(encode(_put(document, agent.session_id, new)), indent=2) + b"\n"
            )
    finally:
        os.close(fd)


def _put(document: Any, session_id: str, entry: dict[str, Any]) -> Any:
    """Return a roster document with one entry put in, its form and everything else as it was."""
    if isinstance(document, dict) and isinstance(document.get("agents"), (list, dict)):
        return {**document, "agents": _put(document["agents"], session_id, entry)}
    if isinstance(document, dict):
        is_named = "session_id" in document.get(session_id, {})
        kept = entry if is_named else {name: value for name, value in entry.items() if name != "session_id"}
        return {**document, session_id: kept}
    entries = document if isinstance(document, list) else []
    at = next((at for at, old in enumerate(entries) if old.get("session_id") == session_id), len(entries))
    return [*entries[:at], entry, *entries[at + 1 :]]
