"""Read hcom's log: its events only grow, and its table of agents is small."""

from __future__ import annotations

import re
import sqlite3
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from mailstore.kinds.hcom import tables as ask
from mailstore.kinds.hcom.decode import BIGBOSS, HcomMessage, UnreadableEvent, id_of, message_events, message_of
from mailstore.kinds.hcom.roster import HcomRoster
from mailstore.kinds.hcom.tables import LIFE, MESSAGE, STATUS, Ends, EventRow
from mailstore.kit.record_reader import RecordEvents, RecordMap
from mailstore.kit.tables import DatabaseSource, first_time, text_of
from mailstore.kit.timestamps import time_of
from mailstore.records.events import Person, Progress
from mailstore.records.message import Message, Problem, Receipt
from mailstore.records.roster import Agent

FIRST_PAGE = 1000
PAGE = 20_000
OUTSIDE = {"external": "external sender: receives no mail", "system": "part of hcom: receives no mail"}
PERSON = RecordEvents((Person((BIGBOSS,)),))
POSITION = re.compile(rb'"position":\s*(\d{1,18})\b')
BEGINS = re.compile(rb'"action":\s*"(?:created|started)"')


class EventFeed(DatabaseSource):
    """Every message by the number of its event, every receipt, and every agent."""

    def __init__(self, database: Path) -> None:
        super().__init__(database)
        self._forget()

    def _forget(self) -> None:
        self._ends = Ends()
        self._mark = ""
        self._roots = LabelRoots()
        self._positions = Positions()
        self._roster = HcomRoster()
        self._unread: dict[str, set[int]] = {}
        self._known: frozenset[str] = frozenset()

    def pages(self) -> Iterator[tuple[RecordMap, Progress]]:
        """Yield the agents and the newest messages, then, once all labels are known, all messages."""
        first = self.begin(_first_look)
        self._forget()
        self._ends, self._mark = first.ends, first.mark
        self._take(first.traces)
        self._told(first.instances)
        total = first.ends.messages
        for message in filter(None, map(_message, first.page)):
            self._roots.add(message.label, message.id)
        records = {**self._agents(first.instances), **self._records(first.page, first.before)}
        done = len(first.page)
        yield records, Progress(done, total)
        if done < total:
            yield from self._older(first, total)

    def _older(self, first: _FirstLook, total: int) -> Iterator[tuple[RecordMap, Progress]]:
        """Yield everything again that older events may say more about, then the older messages."""
        until = first.ends.last
        traces, labels = self.look(partial(_whole_log, until=until))
        self._positions, self._roster, self._unread = Positions(), HcomRoster(), {}
        self._take(traces)
        self._told(first.instances)
        for label, number in labels:
            self._roots.add(label, number)
        done, before = len(first.page), first.page[-1].id
        yield {**self._agents(first.instances), **self._records(first.page, first.before)}, Progress(done, total)
        while True:
            rows, times = self.look(partial(_page, before=before, limit=PAGE))
            if not rows:
                return
            done, before = done + len(rows), rows[-1].id
            yield self._records(rows, times), Progress(min(done, total), total)

    def changed(self) -> RecordMap | None:
        change = self.look(partial(_change, after=self._ends.last))
        if change.ends.last < self._ends.last or (self._mark and change.mark != self._mark):
            return None
        moved = self._take(change.traces)
        self._ends, self._mark = change.ends, change.mark
        moved |= self._told(change.instances)
        for message in filter(None, map(_message, change.page)):
            self._roots.add(message.label, message.id)
        return {
            **self._agents(change.instances),
            **self._records(change.page, change.before),
            **self._newly_read(moved),
        }

    def _take(self, traces: Iterable[EventRow]) -> set[str]:
        """Take status and life events in; return the agents that moved."""
        moved = set()
        for row in traces:
            self._roster.take(row)
            if self._positions.take(row):
                moved.add(row.instance)
        return moved

    def _told(self, rows: list[dict[str, Any]]) -> set[str]:
        """Take in the positions in the agents' rows; return the agents that moved."""
        named = ((text_of(row["name"]), row["last_event_id"]) for row in rows)
        return {name for name, position in named if self._positions.told(name, position, self._ends.last)}

    def _agents(self, rows: list[dict[str, Any]]) -> dict[str, RecordEvents]:
        agents = self._roster.agents(rows)
        self._known = frozenset(agents)
        return {"person": PERSON, **{f"agent {name}": RecordEvents((agent,)) for name, agent in agents.items()}}

    def _records(self, rows: Iterable[EventRow], before: dict[int, float]) -> dict[str, RecordEvents]:
        """Return messages and who has read them."""
        record_events: dict[str, RecordEvents] = {}
        for row in rows:
            try:
                message = message_of(row)
            except UnreadableEvent as error:
                record_events[f"message {row.id}"] = RecordEvents((Problem(self.name, row.id, 0, str(error)),))
                continue
            parent = self._roots.parent(message)
            time = before.get(row.id, 0.0)
            record_events[f"message {row.id}"] = message_events(row, message, parent, time, self.name, self._mark)
            if message.sender_kind in OUTSIDE and message.sender != BIGBOSS and message.sender not in self._known:
                outsider = Agent(message.sender, activity=OUTSIDE[message.sender_kind])
                record_events[f"outsider {message.sender}"] = RecordEvents((outsider,))
            for name in message.to:
                record_events.update(self._receipt(name, row.id))
        return record_events

    def _receipt(self, name: str, number: int) -> dict[str, RecordEvents]:
        step = self._positions.reading(name, number)
        if step is None:
            self._unread.setdefault(name, set()).add(number)
            return {}
        self._unread.get(name, set()).discard(number)
        return {f"read {number} {name}": RecordEvents((Receipt(id_of(number, self._mark), name, step.time),))}

    def _newly_read(self, moved: Iterable[str]) -> dict[str, RecordEvents]:
        """Return the receipts of agents that moved."""
        record_events: dict[str, RecordEvents] = {}
        for name in moved:
            for number in sorted(self._unread.get(name, ())):
                record_events.update(self._receipt(name, number))
        return record_events


def message_at(mail: sqlite3.Connection, number: int, file: str) -> Message:
    """Return one message as a scan yields it; `file` is the database's name. Raises LookupError, UnreadableEvent."""
    rows = ask.some_messages(mail, [number])
    if not rows:
        raise LookupError(f"message {number} is not in {file}")
    roots, message = LabelRoots(), message_of(rows[0])
    if message.answered is None and message.label:
        for label, labelled in _labels(mail, number):
            roots.add(label, labelled)
    time = _before(mail, rows).get(number, 0.0)
    events = message_events(rows[0], message, roots.parent(message), time, file, ask.mark(mail)).events
    return next(event for event in events if isinstance(event, Message))


class _FirstLook(NamedTuple):
    """The newest messages, with what came after the oldest of them."""

    ends: Ends
    mark: str
    instances: list[dict[str, Any]]
    page: list[EventRow]
    before: dict[int, float]
    traces: list[EventRow]


def _first_look(mail: sqlite3.Connection) -> _FirstLook:
    ends = ask.ends(mail)
    page = ask.messages(mail, limit=FIRST_PAGE)
    is_whole = len(page) == ends.messages
    traces = ask.events(mail, STATUS, LIFE, after=0 if is_whole else page[-1].id)
    return _FirstLook(ends, ask.mark(mail), ask.instances(mail), page, _before(mail, page), list(traces))


def _change(mail: sqlite3.Connection, after: int) -> _FirstLook:
    """Return the messages and traces after an event, oldest first."""
    ends = ask.ends(mail)
    rows = list(ask.events(mail, MESSAGE, STATUS, LIFE, after=after))
    page = [row for row in rows if row.type == MESSAGE]
    traces = [row for row in rows if row.type != MESSAGE]
    return _FirstLook(ends, ask.mark(mail), ask.instances(mail), page, _before(mail, page), traces)


def _page(mail: sqlite3.Connection, before: int, limit: int) -> tuple[list[EventRow], dict[int, float]]:
    rows = ask.messages(mail, before=before, limit=limit)
    return rows, _before(mail, rows)


def _whole_log(mail: sqlite3.Connection, until: int) -> tuple[list[EventRow], list[tuple[str, int]]]:
    """Return the traces of all agents, and the labels of all messages with their numbers."""
    return list(ask.events(mail, STATUS, LIFE, after=0, until=until)), list(_labels(mail, until))


def _labels(mail: sqlite3.Connection, until: int) -> Iterator[tuple[str, int]]:
    for row in ask.events(mail, MESSAGE, after=0, until=until):
        if b'"thread"' in row.data and (message := _message(row)) is not None and message.label:
            yield message.label, row.id


def _message(row: EventRow) -> HcomMessage | None:
    try:
        return message_of(row)
    except UnreadableEvent:
        return None


def _before(mail: sqlite3.Connection, rows: Iterable[EventRow]) -> dict[int, float]:
    """Return, for messages without a time, that of the events before."""
    result = {}
    for row in rows:
        if time_of(row.timestamp) is None:
            result[row.id] = first_time(ask.time_before(mail, row.id))
    return result


class LabelRoots:
    """The first message of each label."""

    def __init__(self) -> None:
        self._first: dict[str, int] = {}

    def add(self, label: str, number: int) -> None:
        """Add a message with a label, in any order."""
        if label:
            self._first[label] = min(number, self._first.get(label, number))

    def parent(self, message: HcomMessage) -> int | None:
        """Return the message that a message hangs from: the one that it answers, else the first with its label."""
        if message.answered is not None:
            return message.answered
        return self._first.get(message.label) if message.label else None


class Movement(NamedTuple):
    """A movement: the event that tells of it, the position reached, and when (seconds since the epoch)."""

    event: int
    position: int
    time: float | None


class AgentLife:
    """The movements of an agent between its start and the next one of that name.

    An agent begins at some position, and what lies before that was not read by it.
    """

    def __init__(self, start: int) -> None:
        self.start = start
        self.first: int | None = None
        self.steps: list[Movement] = []

    def move(self, step: Movement) -> bool:
        if self.first is None:
            self.first = step.position
        if self.steps and self.steps[-1].position >= step.position:
            return False
        self.steps.append(step)
        return True

    def reading(self, number: int) -> Movement | None:
        """Return the movement by which a message was read."""
        if number < self.start and (self.first is None or self.first >= number):
            return None
        reached = bisect_left(self.steps, number, key=lambda step: step.position)
        # a position says nothing about messages that came after it was told
        at = max(reached, bisect_left(self.steps, number, key=lambda step: step.event))
        return self.steps[at] if at < len(self.steps) else None


class Positions:
    """The lives of all agents, by their names."""

    def __init__(self) -> None:
        self._lives: dict[str, list[AgentLife]] = {}

    def take(self, row: EventRow) -> bool:
        """Take a status or life event in, in the order of the log; return whether its agent moved."""
        if row.type == LIFE:
            if BEGINS.search(row.data):
                self._lives.setdefault(row.instance, []).append(AgentLife(row.id))
            return False
        match = POSITION.search(row.data)
        return match is not None and self._move(row.instance, Movement(row.id, int(match[1]), time_of(row.timestamp)))

    def told(self, name: str, position: object, last: int) -> bool:
        """Take in the position in an agent's row, of which no event tells the time; `last` is the last event."""
        is_number = isinstance(position, int) and position > 0
        return is_number and self._move(name, Movement(last + 1, int(str(position)), None))

    def _move(self, name: str, step: Movement) -> bool:
        lives = self._lives.setdefault(name, [])
        if not lives:
            lives.append(AgentLife(0))
        return lives[-1].move(step)

    def reading(self, name: str, number: int) -> Movement | None:
        """Return the movement by which an agent has read a message; None if it has not, as far as is recorded."""
        movements = (life.reading(number) for life in self._lives.get(name, ()))
        return next((step for step in movements if step is not None), None)
