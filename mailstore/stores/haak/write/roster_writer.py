"""Write an agent to a HAAK roster, in the roster's own names and words (docs/formats/haak.md#writing)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from mailstore.errors import StoreError
from mailstore.files.append import append_lines, locked, replace_file
from mailstore.files.lines import BIG_BLOCK, LineFile
from mailstore.files.salvage import UNREADABLE, loads
from mailstore.haak_records.field_names import AGENT, SPELLS, STATUSES, pick
from mailstore.haak_records.roster_entry import has_any, is_of, updated_entry
from mailstore.haak_records.values import entries_of
from mailstore.kit.json_records import encode_record
from mailstore.records.roster import Status
from mailstore.stores.haak.places import MailboxFiles
from mailstore.stores.haak.write.writer import records_on

if TYPE_CHECKING:
    from mailstore.haak_records.roster_entry import Described

__all__ = ["update_roster"]

Entry = dict[str, Any]


def update_roster(places: MailboxFiles, agent: Described, time: float) -> None:
    """Register an agent, or update its entry; unknown fields are kept.

    A roster of lines gets another line; a document is replaced atomically, under its lock.
    """
    if places.roster_document.exists() and not places.roster_lines.exists():
        _update_document(places.roster_document, agent, time)
        return
    lines = [line for block in LineFile(places.roster_lines).read(block=BIG_BLOCK) for line in block]
    entries = records_on(lines)
    append_lines(places.roster_lines, [encode_record(_entry(entries, agent, time))], places.look())


def _entry(entries: list[Entry], agent: Described, time: float) -> Entry:
    """Return an agent's new entry: its last one, updated."""
    old = next((entry for entry in reversed(entries) if is_of(entry, agent.session_id)), {})
    return updated_entry(entries, old, agent, time)


def _update_document(path: Path, agent: Described, time: float) -> None:
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
    old = next((each for each in reversed(entries) if is_of(each, session_id)), {})
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
            if isinstance(old, dict) and is_of({"session_id": key, **old}, session_id)
        )
        key = next(known, session_id)
        names_itself = has_any(document.get(key, {}), AGENT["session_id"])
        kept = entry if names_itself else {name: value for name, value in entry.items() if name != "session_id"}
        return {**document, key: kept}
    at = next((at for at, old in enumerate(document) if is_of(old, session_id)), len(document))
    return [*document[:at], entry, *document[at + 1 :]]
