"""The parts of a mapped mailbox: the files or the database in its mapping."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from mailstore.errors import ContentGone
from mailstore.kinds.mapped.decode import Decoded, agent_of, derived_id, is_wanted, message_of
from mailstore.kinds.mapped.origins import MappedRecord, Origin
from mailstore.kinds.mapped.patterned import PatternedDocuments, PatternedFiles, PatternedLines
from mailstore.kinds.mapped.rows import MappedDatabase
from mailstore.kit.part_reader import PartSource
from mailstore.records.events import Event, Person
from mailstore.records.message import Location, Message, Problem
from mailstore.records.protocol import TAG_NAMESPACES
from mailstore.records.roster import Agent

if TYPE_CHECKING:
    from mailstore.kinds.mapped.mapping import Mapping as MailMapping
    from mailstore.kinds.mapped.mapping import SourceMap

ROSTER = "roster"
MAIL = "mail:"
NOBODY: dict[str, Hashable] = {}
First = tuple[float, str]
ITSELF = float("-inf")
"""Before all: the message whose id is the label."""


class HeldPart:
    """What has been read of one part."""

    def __init__(self) -> None:
        self.found: list[Decoded] = []
        self.problems: list[Problem] = []
        self.equals: Counter[str] = Counter()
        self.last_time = 0.0
        self.decoded: dict[int, Decoded] = {}
        """Rows by hash: all of them are read again whenever one changes."""


class MappedSource(PartSource):
    """A part for each file, or for the database, and one for the agents, from a second source and the mail."""

    def __init__(self, mapping: MailMapping, folder: Path) -> None:
        self.mapping = mapping
        self.origin = origin_of(mapping.source, folder)
        self.people = origin_of(mapping.agents.source, folder) if mapping.agents else None
        self._is_file = isinstance(self.origin, PatternedFiles)
        self._has_labels = mapping.message.thread is not None
        self._ticks = count(1)
        self.begin()

    def begin(self) -> None:
        self._names: dict[str, None] = {}
        self._torn: set[str] = set()
        self._labels = ThreadLabels()
        self._ahead: dict[str, list[Event] | None] = {}
        self._held: dict[str, HeldPart] = {}
        self._last: tuple[object, object, int, int] = (None, None, 0, 0)
        self._stamps: dict[str, Hashable] = {}
        self._where: dict[Hashable, Location] = {}

    def parts(self, *, closely: bool) -> Mapping[str, Hashable]:
        parts = self.origin.parts(closely=closely)
        people = self.people.parts(closely=closely) if self.people else NOBODY
        if self._has_labels:
            # the first message of a thread may be in any file: all are read before any is emitted
            for part in parts.keys() - self._held.keys():
                self._ahead[part] = self._read(part)
        for part in self._held.keys() - parts.keys():
            del self._held[part]
            self._labels.put(part, [])
        last, self._last = self._last, (parts, people, len(self._names), self._labels.version)
        if parts is last[0] and people is last[1] and last[2:] == self._last[2:] and not self._torn:
            return self._stamps
        self._stamps = {ROSTER: (tuple(people.items()), len(self._names), self._tick(ROSTER))}
        for part, stamp in parts.items():
            self._stamps[f"{MAIL}{part}"] = (stamp, self._labels.version, self._tick(part))
        return self._stamps

    def _tick(self, part: str) -> int:
        return next(self._ticks) if part in self._torn else 0

    def read(self, part: str) -> list[Event] | None:
        if part == ROSTER:
            return self._roster()
        name = part.removeprefix(MAIL)
        events = self._ahead.pop(name) if name in self._ahead else self._read(name)
        if events is None or not self._has_labels:
            return events
        return [self._threaded(event) for event in events]

    def _read(self, part: str) -> list[Event] | None:
        read = self.origin.read(part, more=part in self._held)
        self._torn.discard(part)
        if read.is_torn:
            self._torn.add(part)
            if not read.records and not read.problems and not read.is_more:
                return None
        known = self._held[part].decoded if part in self._held else {}
        held = self._held[part] if read.is_more else HeldPart()
        self._held[part] = held
        held.problems += read.problems
        for record in read.records:
            if not is_wanted(self.mapping, record):
                continue
            decoded = known.get(key := hash(record.raw)) or message_of(self.mapping, record, held.last_time)
            if isinstance(decoded, str):
                held.problems.append(Problem(record.location.file, record.line, record.location.offset, decoded))
                continue
            if decoded.message.timed and not self._is_file:
                held.decoded[key] = decoded
            held.last_time = decoded.message.time
            held.found.append(self._noted(self._identified(decoded, record, held.equals)))
        if self._has_labels:
            self._labels.put(part, [(it.label, it.message) for it in held.found])
        held.found.sort(key=lambda it: -it.message.time)
        events: list[Event] = []
        for message, _, receipt in held.found:
            events.append(message)
            if receipt is not None:
                events.append(receipt)
        return [*events, *held.problems]

    def _noted(self, decoded: Decoded) -> Decoded:
        """Note names and the location of a message; a thread label is stored in it for now."""
        message, label, receipt = decoded
        for name in (message.sender, *message.recipients):
            self._names.setdefault(name, None)
        if message.location is not None:
            self._where[_identity(message)] = message.location
        if label and not message.thread:
            return Decoded(msgspec.structs.replace(message, thread=f"\0{label}"), label, receipt)
        return decoded

    def _identified(self, decoded: Decoded, record: MappedRecord, equals: Counter[str]) -> Decoded:
        """Give a message without an id a stable one; equal records get different ones."""
        if decoded.message.id:
            return decoded
        derived = derived_id(record, self._is_file)
        number = equals[derived]
        equals[derived] += 1
        name = f"{derived}-{number}" if number else derived
        receipt = msgspec.structs.replace(decoded.receipt, message_id=name) if decoded.receipt else None
        return Decoded(msgspec.structs.replace(decoded.message, id=name), decoded.label, receipt)

    def _threaded(self, event: Event) -> Event:
        """Replace the label of a message's thread by the id of the thread's first message."""
        if not isinstance(event, Message) or not event.thread or not event.thread.startswith("\0"):
            return event
        root = self._labels.root(event.thread[1:])
        return msgspec.structs.replace(event, thread=None if root == event.id else root)

    def _roster(self) -> list[Event] | None:
        agents: dict[str, Agent] = {}
        problems: list[Problem] = []
        self._torn.discard(ROSTER)
        if self.people is not None and self.mapping.agents is not None:
            for part in reversed(self.people.parts(closely=False)):
                read = self.people.read(part)
                if read.is_torn:
                    self._torn.add(ROSTER)
                problems += read.problems
                for record in read.records:
                    agent = agent_of(self.mapping.agents, record)
                    if agent is not None:
                        agents[agent.session_id] = agent
            if self._torn and not agents:
                return None
        roles = {role for agent in agents.values() for role in agent.roles()}
        for name in self._names:
            is_tag = name.partition(":")[0] in TAG_NAMESPACES and ":" in name
            if name not in agents and name not in roles and name not in ("user", "all") and not is_tag:
                agents[name] = Agent(name)
        names = self.mapping.names.user
        return [*([Person(tuple(names))] if names else []), *agents.values(), *problems]

    def same(self, event: Event) -> Hashable:
        if isinstance(event, Message):
            return event.id, event.sender, event.recipients, event.timestamp, event.subject, event.thread, event.type
        return event

    def find(self, message: Message) -> MappedRecord:
        """Return a message's record. Raises ContentGone, Unreadable and OSError."""
        identity = _identity(message)
        finder = self.mapping.message.id
        column = finder.path or "" if finder is not None and not finder.prefix else ""
        now = self._where.get(identity)
        for where in dict.fromkeys(location for location in (message.location, now) if location is not None):
            for record in self._near(where, "" if "." in column else column, message.id):
                decoded = message_of(self.mapping, record, message.time)
                if isinstance(decoded, str):
                    continue
                found = decoded.message
                if not found.id and message.id.partition("-")[0] == derived_id(record, self._is_file):
                    found = msgspec.structs.replace(found, id=message.id)
                if _identity(found) == identity:
                    return record
        raise ContentGone(f"message {message.id} is gone", "check whether it was moved or deleted", "E313")

    def _near(self, where: Location, column: str, text: str) -> Iterator[MappedRecord]:
        try:
            yield from self.origin.near(where, column, text)
        except FileNotFoundError:
            return


def _identity(message: Message) -> Hashable:
    """Return the part of a message that comes from its record alone."""
    return message.id, message.sender, message.recipients, message.timestamp, message.subject


def origin_of(source: SourceMap, folder: Path) -> Origin:
    """Return the source in a mapping, relative to the mapping's folder."""
    if source.jsonl is not None:
        return PatternedLines(folder, source.jsonl, source.path)
    if source.json_files is not None:
        return PatternedDocuments(folder, source.json_files, source.path, source.records)
    return MappedDatabase(folder, source.database or "", source.table, source.query)


class ThreadLabels:
    """The first message of each label, over all parts; `version` changes when one that was known does."""

    def __init__(self) -> None:
        self.version = 0
        self._firsts: dict[str, dict[str, First]] = {}
        self._of: dict[str, set[str]] = {}

    def put(self, part: str, labelled: Iterable[tuple[str, Message]]) -> None:
        """Take what a part holds now in the place of what it held."""
        firsts: dict[str, First] = {}
        for label, message in labelled:
            for name, first in ((label, (message.time, message.id)), (message.id, (ITSELF, message.id))):
                if name and (name not in firsts or first < firsts[name]):
                    firsts[name] = first
        for label in self._of.get(part, set()) | firsts.keys():
            before = self.root(label)
            parts = self._firsts.setdefault(label, {})
            parts.pop(part, None)
            if label in firsts:
                parts[part] = firsts[label]
            if before and before != self.root(label):
                self.version += 1
            if not parts:
                del self._firsts[label]
        self._of[part] = set(firsts)

    def root(self, label: str) -> str | None:
        """Return the id of a label's first message, None for an unused label."""
        parts = self._firsts.get(label)
        return min(parts.values())[1] if parts else None
