"""Write an agent to a HAAK roster, in the roster's own names and words (docs/formats/haak.md#writing)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from mailstore.errors import StoreError
from mailstore.files.append import append_lines, locked, replace_file
from mailstore.files.lines import BIG_BLOCK, LineFile
from mailstore.files.salvage import UNREADABLE, loads
from mailstore.kit.json_records import encode_record
from mailstore.kit.timestamps import isoformat, parse_time
from mailstore.records.roster import Agent, Status
from mailstore.stores.haak.field_names import AGENT, SPELLS, STATUSES, named, pick
from mailstore.stores.haak.places import MailboxFiles
from mailstore.stores.haak.read.values import entries_of
from mailstore.stores.haak.write.writer import records_on

__all__ = ["update_roster"]

Entry = dict[str, Any]
ENDS = frozenset(AGENT["ended_at"])
TIMES = ("started_at", "ended_at", "last_seen")
NEW_STATUS = "status"
"""The name of the status field in an empty roster."""
LIVE = {"state": "live"}
"""The word for living agents by field name, if no entry has one."""


def update_roster(places: MailboxFiles, agent: Agent, time: float) -> None:
    """Register an agent, or update its entry; unknown fields are kept.

    A roster of lines gets another line; a document is replaced atomically, under its lock.
    """
    if places.roster_document.exists() and not places.roster_lines.exists():
        _update_document(places.roster_document, agent, time)
        return
    lines = [line for block in LineFile(places.roster_lines).read(block=BIG_BLOCK) for line in block]
    entries = records_on(lines)
    append_lines(places.roster_lines, [encode_record(_entry(entries, agent, time))], places.look())


def _is_of(entry: Any, session_id: str) -> bool:
    return isinstance(entry, dict) and str(pick(entry, AGENT["session_id"])[0]) == session_id


def _entry(entries: list[Entry], agent: Agent, time: float) -> Entry:
    """Return an agent's new entry: its last one, updated."""
    old = next((entry for entry in reversed(entries) if _is_of(entry, agent.session_id)), {})
    name_of = {field: named([old] if _has(old, names) else entries, names) for field, names in AGENT.items()}
    if not any(_has(entry, AGENT["status"]) for entry in entries):
        name_of["status"] = NEW_STATUS
    if agent.status is not Status.DEAD:
        old = {name: value for name, value in old.items() if name not in ENDS}
    said: dict[str, Any] = {
        "session_id": agent.session_id,
        "name": agent.name or None,
        "role": agent.role or None,
        "tags": ", ".join(agent.tags) if isinstance(old.get("tags"), str) else list(agent.tags),
        "status": _word(entries, name_of["status"], agent.status),
        "activity": agent.activity or None,
        **{field: _stamp(getattr(agent, field), old.get(name_of[field])) for field in TIMES},
        "updated": isoformat(time),
    }
    fields = {name_of[field]: value for field, value in said.items()}
    fields[name_of["session_id"]] = old.get(name_of["session_id"], agent.session_id)
    return {**old, **{name: value for name, value in fields.items() if value is not None or name in old}}


def _has(entry: Entry, names: tuple[str, ...]) -> bool:
    return any(name in entry for name in names)


def _word(entries: list[Entry], name: str, status: Status) -> str:
    """Return the roster's most frequent word for a status."""
    words = Counter(str(entry[name]) for entry in entries if name in entry)
    mine = [word for word, _ in words.most_common() if STATUSES.get(word.strip().lower()) == status]
    if mine:
        return mine[0]
    return LIVE.get(name, status.value) if status is Status.LIVING else status.value


def _stamp(time: float | None, said: Any) -> Any:
    """Return a time, as already written in the roster if it is the same."""
    if time is None:
        return None
    return said if parse_time(said)[0] == time else isoformat(time)


def _update_document(path: Path, agent: Agent, time: float) -> None:
    with locked(path):
        data = path.read_bytes()
        try:
            document = loads(data) if data.strip() else []
        except UNREADABLE as error:
            raise StoreError(f"{path} is invalid JSON", "correct it first; nothing was written") from error
        entries = entries_of(document)
        if entries is None:
            raise StoreError(f"{path} is not a roster", "a roster is a list or an object of agents")
        new = _put(document, agent.session_id, _with_spell(entries, _entry(entries, agent, time)))
        replace_file(path, msgspec.json.format(encode_record(new), indent=2) + b"\n")


def _with_spell(entries: list[Entry], entry: Entry) -> Entry:
    """Add the last frozen interval of an agent that is no longer frozen: a document has no earlier lines."""
    session_id = str(pick(entry, AGENT["session_id"])[0])
    old = next((each for each in reversed(entries) if _is_of(each, session_id)), {})
    if _status(old) != Status.FROZEN or _status(entry) == Status.FROZEN:
        return entry
    known = old.get(SPELLS)
    since, until = (pick(each, AGENT["updated"])[0] for each in (old, entry))
    return {**entry, SPELLS: [*(known if isinstance(known, list) else []), [since, until]]}


def _status(entry: Entry) -> str | None:
    return STATUSES.get(str(pick(entry, AGENT["status"])[0]).strip().lower())


def _put(document: Any, session_id: str, entry: Entry) -> Any:
    """Return a roster document with one entry inserted or replaced, otherwise unchanged."""
    if isinstance(document, dict) and isinstance(document.get("agents"), (list, dict)):
        return {**document, "agents": _put(document["agents"], session_id, entry)}
    if isinstance(document, dict):
        known = (
            key
            for key, old in document.items()
            if isinstance(old, dict) and _is_of({"session_id": key, **old}, session_id)
        )
        key = next(known, session_id)
        names_itself = _has(document.get(key, {}), AGENT["session_id"])
        kept = entry if names_itself else {name: value for name, value in entry.items() if name != "session_id"}
        return {**document, key: kept}
    at = next((at for at, old in enumerate(document) if _is_of(old, session_id)), len(document))
    return [*document[:at], entry, *document[at + 1 :]]
