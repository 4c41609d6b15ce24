"""The agents, from the registry, two presence folders, sessions, and the names in the mail."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from mailstore.encoding import shown_name
from mailstore.errors import reason_of
from mailstore.files.folder import Folder, Stamp
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.channels.decode import InvalidChannelFile, TruncatedRecord, name_of, record_in
from mailstore.kinds.channels.places import ROSTER, is_broadcast, tag_of
from mailstore.kinds.channels.presence import OFFLINE, activity_in, state_in
from mailstore.kit.part_reader import is_settled
from mailstore.kit.timestamps import parse_time
from mailstore.records.events import Event
from mailstore.records.message import Problem
from mailstore.records.protocol import USER_NAMES
from mailstore.records.roster import Agent, Status

REGISTRY, SIGNALS, PRESENCE, SESSIONS = ROSTER
RETIRED = frozenset({"retired", "dead", "removed", "deregistered", "unregistered"})

Record = dict[str, Any]
Records = Mapping[str, list[tuple[str, Record]]]
"""Records by folder, each with the stem of its file."""
Traffic = Mapping[str, Iterable[str]]
"""The tags of the channels in which each sender wrote, by name."""


class NewestPresence(NamedTuple):
    """A presence: its time in seconds since the epoch, its record, and its file."""

    told: float
    record: Record
    file: str


ABSENT = NewestPresence(0.0, {}, "")


class RosterFiles:
    """Four folders of small files, each of which is checked every time: presence is rewritten in place."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folders = {name: Folder(root / name, _is_record) for name in ROSTER}
        self._stamps: dict[str, dict[str, Stamp]] = {}
        self._closed: dict[str, str] = {}
        """Why a folder can't be listed, of those that can't."""
        self.named: frozenset[str] = frozenset()
        """The agents that the files name, as they were read last."""
        self.presences: dict[str, NewestPresence] = {}
        """The newest presence of each agent, as it was read last."""

    def look(self) -> Hashable:
        """Return a stamp that changes with any file."""
        self._stamps, self._closed = {}, {}
        for name, folder in self._folders.items():
            try:
                self._stamps[name] = folder.look(closely=True)
            except OSError as error:
                self._closed[name] = reason_of(error)
        return (*(tuple(sorted(stamps.items())) for stamps in self._stamps.values()), tuple(self._closed.items()))

    def read(self, traffic: Traffic) -> list[Event] | None:
        """Return the agents and problems; None if a file is half-written."""
        records: dict[str, list[tuple[str, Record]]] = {name: [] for name in ROSTER}
        problems: list[Event] = [Problem(shown_name(name), 1, 0, why) for name, why in self._closed.items()]
        for folder, stamps in self._stamps.items():
            for name, stamp in sorted(stamps.items()):
                try:
                    record = record_in(read_whole(self._root / folder / name))
                except FileNotFoundError:
                    continue
                except (InvalidChannelFile, NotAFile, OSError) as error:
                    if isinstance(error, TruncatedRecord) and not is_settled(stamp.changed / 1e9, time.time()):
                        return None
                    why = reason_of(error)
                    problems.append(Problem(shown_name(f"{folder}/{name}"), 1, 0, why))
                    continue
                records[folder].append((shown_name(name.removesuffix(".json")), record))
        self.named = frozenset(agent.session_id for agent in merged(records, {}))
        self.presences = newest(records)
        return [*merged(records, traffic), *problems]


def _is_record(name: str) -> bool:
    return name.endswith(".json") and not name.startswith(".")


def newest(records: Records) -> dict[str, NewestPresence]:
    """Return the newest presence of each agent by name, from the records in both folders."""
    present: dict[str, NewestPresence] = {}
    for folder in (PRESENCE, SIGNALS):
        for stem, record in records[folder]:
            name = name_of(record.get("agent_id")) or name_of(record.get("agent")) or stem
            written = parse_time(record.get("timestamp"))[0] or 0.0
            if name not in present or present[name].told <= written:
                present[name] = NewestPresence(written, record, f"{folder}/{stem}.json")
    return present


def merged(records: Records, traffic: Traffic) -> list[Agent]:
    """Return the agents in some records (by folder, with the stems of their files) and in the traffic."""
    registered = {name_of(record.get("id")) or stem: record for stem, record in records[REGISTRY]}
    present = newest(records)
    tags: dict[str, set[str]] = {name: set(channels) for name, channels in traffic.items()}
    for name, presence in present.items():
        channel = name_of(presence.record.get("channel")) or name_of(presence.record.get("session"))
        tags.setdefault(name, set()).update([tag_of(channel)] if channel else [])
    for name, entry in registered.items():
        others = entry.get("tags")
        tags.setdefault(name, set()).update(filter(None, map(name_of, others if isinstance(others, list) else ())))
    for stem, record in records[SESSIONS]:
        members = record.get("agents")
        for member in members if isinstance(members, list) else []:
            name = name_of(member.get("id")) if isinstance(member, dict) else name_of(member)
            tags.setdefault(name, set()).add(tag_of(name_of(record.get("id")) or stem))
    names = dict.fromkeys((*registered, *present, *sorted(tags)))
    return [
        _agent(name, registered.get(name, {}), present.get(name, ABSENT), tuple(sorted(tags.get(name, ()))))
        for name in names
        if name and name not in USER_NAMES and not is_broadcast(name)
    ]


def _agent(name: str, entry: Record, present: NewestPresence, tags: tuple[str, ...]) -> Agent:
    """Return an agent from its registration and its newest presence."""
    told, presence, _ = present
    last = max(filter(None, (parse_time(entry.get("last_seen"))[0], told)), default=None)
    word = state_in(presence) or name_of(entry.get("status"))
    status = Status.FROZEN if word.lower() == OFFLINE else Status.LIVING
    if name_of(entry.get("status")).lower() in RETIRED:
        status = Status.DEAD
    return Agent(
        name,
        name=name_of(entry.get("name")) if name_of(entry.get("name")) != name else "",
        role=name_of(entry.get("role")),
        tags=tags,
        status=status,
        activity=activity_in(presence, entry),
        started_at=parse_time(entry.get("registered"))[0],
        ended_at=last if status is Status.DEAD else None,
        last_seen=last,
        updated=last,
    )
