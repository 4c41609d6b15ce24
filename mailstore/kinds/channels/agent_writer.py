"""Write what is known of an agent: its registration, its presence, and the channels that it belongs to."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from mailstore.errors import StoreError
from mailstore.files.append import locked
from mailstore.files.flushing import flush
from mailstore.files.folder import Folder, Stamp, path_stamp
from mailstore.files.owned import look_of, make_folder
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.channels.decode import InvalidChannelFile, name_of, record_in
from mailstore.kinds.channels.places import CHANNELS, ROSTER, is_broadcast
from mailstore.kinds.channels.presence import OFFLINE, is_fresher, present
from mailstore.kinds.channels.roster import RETIRED, RosterFiles, Traffic
from mailstore.kit.json_records import encode_record
from mailstore.kit.timestamps import parse_time, written_time
from mailstore.records.protocol import USER_NAMES
from mailstore.records.roster import Agent, Status

TRIES = 20
Record = dict[str, Any]
Change = Callable[[Record | None], Record | None]
"""Gets the record, None where there is none; returns the new one, None to leave it as it is."""


def record_at(path: Path) -> Record | None:
    """Return the record in a file; None if there is none. Raises StoreError for a damaged one, OSError."""
    try:
        return record_in(read_whole(path))
    except FileNotFoundError:
        return None
    except (InvalidChannelFile, NotAFile) as error:
        raise StoreError(f"{path} can't be changed ({error})", "fix or remove it", "E389") from error


def change_record(path: Path, change: Change) -> bool:
    """Replace a record by what `change` makes of it; return whether it was replaced. Raises StoreError, OSError.

    If another program writes the file meanwhile, `change` is called again with what it wrote.
    """
    for _ in range(TRIES):
        before = path_stamp(path)
        record = change(record_at(path))
        if record is None:
            return False
        data = msgspec.json.format(encode_record(record), indent=2) + b"\n"
        make_folder(path.parent.parent, look_of(path.parent.parent.parent))
        make_folder(path.parent, look_of(path.parent.parent))
        if _replaced(path, data, before):
            return True
    raise StoreError(f"{path} changes all the time", "try again", "E388")


def _replaced(path: Path, data: bytes, before: Stamp | None) -> bool:
    """Put new data in the place of a file, unless it was written since; what a crash left of it is used again."""
    new = path.with_name(f".{path.stem}.signalbox.tmp")
    with locked(new, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, like=look_of(path, path.parent)) as fd:
        is_done = False
        try:
            os.ftruncate(fd, 0)
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(fd, rest) :]
            flush(fd)
            is_done = path_stamp(path) == before
            if is_done:
                new.rename(path)
        except BaseException:
            is_done = False
            raise
        finally:
            if not is_done:  # once it has its name, another program may have begun the next one
                with suppress(FileNotFoundError):
                    new.unlink()
    return is_done


REGISTRY, SIGNALS, PRESENCE, SESSIONS = ROSTER
RETIRED_WORD, NEW_WORD = "retired", "available"
CHANNEL = "project:"
LONGEST_NAME = 100


def write_agent(root: Path, agent: Agent, traffic: Traffic, now: float) -> None:
    """Register an agent or change what is known of it. Raises StoreError and OSError.

    `traffic` are the channels in which each agent wrote: they are tags too, and no lists of members for that.

    Presence that another program has written since stays; if the agent's status was to change, that is refused.
    """
    _check_name(agent.session_id)
    for tag in agent.tags:
        if tag.startswith(CHANNEL):
            _check_name(tag.removeprefix(CHANNEL))
    known = _known(root, agent.session_id, traffic)
    moment = agent.updated or agent.last_seen or now
    entry = _place(root, (REGISTRY,), agent.session_id, "id")
    presence = _place(root, (SIGNALS, PRESENCE), agent.session_id, "agent_id", "agent")
    for path in (entry, presence):
        record_at(path)  # a damaged one is refused before anything is written
    if _changes_presence(agent, known):
        change_record(presence, lambda before: _presence(before, agent, known, moment))
    own = set() if known is None else set(known.tags)
    for tag in sorted(own.symmetric_difference(agent.tags)):
        if _has_members(root, tag):
            _change_members(root, tag.removeprefix(CHANNEL), agent, moment, is_in=tag in agent.tags)
    others = [tag for tag in agent.tags if not _has_members(root, tag)]
    if _changes_entry(agent, known):  # last: until then the command can be repeated
        change_record(entry, lambda before: _registered(before or {}, agent, others, moment))


def _check_name(name: str) -> None:
    odd = not name or name.startswith(".") or len(name.encode("utf-8", "surrogatepass")) > LONGEST_NAME
    if odd or any(char in "/\\:" or not char.isprintable() or char.isspace() for char in name):
        raise StoreError(f'"{name[:40]}" can\'t be part of a file name', "use a shorter, plain name", "E368")
    if name in USER_NAMES or is_broadcast(name):
        raise StoreError(f'"{name}" is not an agent here', "use another name", "E369")


def _known(root: Path, name: str, traffic: Traffic) -> Agent | None:
    files = RosterFiles(root)
    files.look()
    events = files.read(traffic) or ()
    return next((event for event in events if isinstance(event, Agent) and event.session_id == name), None)


def _changes_presence(agent: Agent, known: Agent | None) -> bool:
    """Say whether presence has to be written: an agent that was only registered, or retired, gives no sign of life."""
    if agent.status is Status.DEAD:
        return False
    if known is None or known.status is Status.DEAD:
        return bool(agent.activity) or agent.status is Status.FROZEN
    news = (agent.status, agent.activity or known.activity, agent.last_seen)
    return news != (known.status, known.activity, known.last_seen)


def _presence(before: Record | None, agent: Agent, known: Agent | None, moment: float) -> Record | None:
    if before is None or not is_fresher(before, moment):
        return present(agent, before or {}, moment)
    if known is not None and known.status is agent.status:
        return None
    raise StoreError(
        f"{agent.session_id}'s own program says what it does, and said so later",
        "end that program, then try again",
        "E367",
    )


def _place(root: Path, folders: tuple[str, ...], name: str, *fields: str) -> Path:
    """Return the file of an agent: of several the one with the newest time; its usual place if there is none."""
    places: list[tuple[float, Path]] = []
    for folder in folders:
        for stem in Folder(root / folder).look():
            if not stem.endswith(".json") or stem.startswith("."):
                continue
            path = root / folder / stem
            if stem != f"{name}.json" and not _is_named(path, name, fields):
                continue
            record = record_at(path) or {}
            places.append((parse_time(record.get("timestamp"))[0] or 0.0, path))
    usual = next((folder for folder in folders if (root / folder).is_dir()), folders[0])
    return max(places)[1] if places else root / usual / f"{name}.json"


def _is_named(path: Path, name: str, fields: tuple[str, ...]) -> bool:
    try:
        record = record_at(path) or {}
    except (StoreError, OSError):  # another agent's file
        return False
    return next(filter(None, (name_of(record.get(field)) for field in fields)), "") == name


def _changes_entry(agent: Agent, known: Agent | None) -> bool:
    if known is None:
        return True
    ended = (agent.status is Status.DEAD, agent.ended_at)
    news = (agent.name, agent.role, set(agent.tags), agent.started_at, *ended)
    was = (known.name, known.role, set(known.tags), known.started_at, known.status is Status.DEAD, known.ended_at)
    return news != was


def _has_members(root: Path, tag: str) -> bool:
    """Say whether a tag is an existing channel's, which has a list of members; others are in the registration."""
    channel = tag.removeprefix(CHANNEL)
    is_there = (root / CHANNELS / channel).is_dir() or (root / SESSIONS / f"{channel}.json").exists()
    return tag.startswith(CHANNEL) and is_there


def _registered(entry: Record, agent: Agent, tags: Sequence[str], moment: float) -> Record:
    """Return an agent's registration; fields that are not known here stay, those that are empty go."""
    word = name_of(entry.get("status"))
    is_dead = agent.status is Status.DEAD
    if is_dead or not word or word.lower() in RETIRED or (word.lower() == OFFLINE and agent.status is Status.LIVING):
        word = RETIRED_WORD if is_dead else NEW_WORD
    seen = (agent.ended_at or moment) if is_dead else agent.last_seen
    mine: Record = {
        "id": agent.session_id,
        "status": word,
        "role": agent.role or None,
        "registered": None if agent.started_at is None else written_time(agent.started_at),
        "last_seen": entry.get("last_seen") if seen is None else written_time(seen),
        "name": agent.name or None,
        "tags": list(tags) or None,
    }
    return {name: value for name, value in {**entry, **mine}.items() if value is not None or name not in mine}


def _change_members(root: Path, channel: str, agent: Agent, moment: float, *, is_in: bool) -> None:
    def change(session: Record | None) -> Record | None:
        listed = (session or {}).get("agents")
        members = listed if isinstance(listed, list) else []
        others = [member for member in members if _member(member) != agent.session_id]
        if is_in is (len(others) != len(members)):
            return None
        made = {"id": channel, "created": written_time(moment), "mode": "chat", "turn": None}
        return {**(made if session is None else session), "agents": [*others, agent.session_id] if is_in else others}

    change_record(root / SESSIONS / f"{channel}.json", change)


def _member(each: Any) -> str:
    return name_of(each.get("id")) if isinstance(each, dict) else name_of(each)
