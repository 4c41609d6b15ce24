"""Write an agent to a HAAK roster, in the roster's own names and words (docs/formats/haak.md#writing)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from mailstore.errors import StoreError
from mailstore.files.append import append_lines, locked, replace_file
from mailstore.files.lines import BIG_BLOCK, LineFile
from mailstore.files.salvage import UNREADABLE, loads
from mailstore.files.whole import NotAFile, read_whole
from mailstore.haak.places import MailboxFiles
from mailstore.haak.write.writer import records_on
from mailstore.haak_records.decode import agent_of
from mailstore.haak_records.encode import has_any, is_of, updated_entry
from mailstore.haak_records.values import AGENT, AGENT_FIELDS, SPELLS, STATUSES, NotARecord, entries_of, pick
from mailstore.kit.json_records import encode_record
from mailstore.kit.known_records import agent_digest
from mailstore.records.roster import Agent, Status

if TYPE_CHECKING:
    from mailstore.haak_records.encode import Described

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


def merge_into_document(path: Path, agents: Sequence[Agent]) -> list[Agent]:
    """Replace the entries of agents whose entries say something else; return the agents that were written.

    Each gets the times that it has, as the last program to change it wrote them. Raises StoreError and OSError.
    """
    with locked(path):
        document, entries = _read_document(path)
        fresh: dict[str, Agent] = {}
        for agent in agents:
            old = next((entry for entry in reversed(entries) if is_of(entry, agent.session_id)), None)
            if old is None or _digest(old) != agent_digest(agent):
                fresh[agent.session_id] = agent
            else:
                fresh.pop(agent.session_id, None)
        for agent in fresh.values():
            document = _put(document, agent.session_id, _with_spell(entries, _as_it_is(entries, agent)))
        if fresh:
            replace_file(path, msgspec.json.format(encode_record(document), indent=2) + b"\n")
    return [agent for agent in agents if agent.session_id in fresh]


def _digest(entry: Entry) -> bytes:
    try:
        agent, _ = agent_of(entry)
    except NotARecord:
        return b""
    return agent_digest(agent) if isinstance(agent, Agent) else b""


def _as_it_is(entries: list[Entry], agent: Agent) -> Entry:
    """Return an agent's entry with exactly what is known of it, and the intervals in which it was frozen."""
    old = next((entry for entry in reversed(entries) if is_of(entry, agent.session_id)), {})
    kept = {name: value for name, value in old.items() if name in AGENT_FIELDS or name == SPELLS}
    entry = updated_entry(entries, kept, agent, agent.updated or 0.0)
    if agent.updated is None:
        entry = {name: value for name, value in entry.items() if name not in AGENT["updated"]}
    return {**(loads(agent.extra.encode()) if agent.extra else {}), **entry}


def _entry(entries: list[Entry], agent: Described, time: float) -> Entry:
    """Return an agent's new entry: its last one, updated."""
    old = next((entry for entry in reversed(entries) if is_of(entry, agent.session_id)), {})
    return updated_entry(entries, old, agent, time)


def _update_document(path: Path, agent: Described, time: float) -> None:
    with locked(path):
        document, entries = _read_document(path)
        new = _put(document, agent.session_id, _with_spell(entries, _entry(entries, agent, time)))
        replace_file(path, msgspec.json.format(encode_record(new), indent=2) + b"\n")


def _read_document(path: Path) -> tuple[Any, list[Entry]]:
    try:
        data = read_whole(path, follow=True)
    except NotAFile as error:
        raise StoreError(
            f"{path} can't be read ({error})", "move it away first; nothing was written", "E251"
        ) from error
    try:
        document = loads(data) if data.strip() else []
    except UNREADABLE as error:
        raise StoreError(f"{path} is invalid JSON", "correct it first; nothing was written", "E296") from error
    entries = entries_of(document)
    if entries is None:
        raise StoreError(
            f"{path} is not a roster", "fix it, or move it away: a roster is a list or an object of agents", "E295"
        )
    return document, list(entries)


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
