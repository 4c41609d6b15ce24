"""Read MCP Agent Mail's database: new rows by number, new reads by time."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from mailstore.kinds.agent_mail import tables as ask
from mailstore.kinds.agent_mail.decode import AgentMailRow, RecipientRow, record_events
from mailstore.kinds.agent_mail.roster import OVERSEER, AgentNames, agents_of, names_of
from mailstore.kinds.agent_mail.tables import Sums, Thread
from mailstore.kit.record_reader import RecordEvents, RecordMap
from mailstore.kit.tables import DatabaseSource, first_time, text_of
from mailstore.kit.timestamps import time_of
from mailstore.records.events import Person, Progress
from mailstore.records.message import Message
from mailstore.records.roster import Agent

FIRST_PAGE = 1000
PAGE = 20_000
Counted = tuple[int, int, int]
"""Number of a message's recipients, of those that read it, and of those that acknowledged it."""


class DatabaseFeed(DatabaseSource):
    """Every message and every agent, by the number of its row."""

    is_text = True

    def __init__(self, database: Path) -> None:
        super().__init__(database)
        self._sums = Sums()
        self._names = AgentNames({})
        self._firsts: dict[Thread, int] = {}
        self._counted: dict[int, Counted] = {}

    def pages(self) -> Iterator[tuple[RecordMap, Progress]]:
        """Yield the agents, then all messages, newest first."""
        begun = self.begin(_begin)
        self._sums, self._names, self._firsts = begun.sums, begun.names, begun.firsts
        self._counted = {}
        page, total = begun.page, begun.sums.messages
        done = len(page.rows)
        yield {**_told(begun.agents), **self._records(page)}, Progress(done, max(total, done))
        while page.rows and done < total:
            page = self.look(partial(_page, before=page.rows[-1].id, limit=PAGE))
            done += len(page.rows)
            yield self._records(page), Progress(min(done, total), total)

    def changed(self) -> RecordMap | None:
        """Return new, read and acknowledged messages, and all agents; None if something else changed."""
        change = self.look(partial(_changed, since=self._sums))
        if not self._explains(change):
            return None
        for row in sorted(change.page.rows, key=lambda row: row.id):
            label = text_of(row.thread)
            if label:
                self._firsts.setdefault((row.project, label), change.firsts.get((row.project, label), row.id))
        self._sums, self._names = change.sums, change.names
        return {**_told(change.agents), **self._records(change.page)}

    def _explains(self, change: _Look) -> bool:
        """Return whether the rows found explain the whole change and don't affect other rows.

        They don't if a message, a recipient or a mark was removed, or got a time from before the last look.
        """
        if any(change.names.by_id.get(agent) != name for agent, name in self._names.by_id.items()):
            return False
        rows, then, now = change.page.rows, self._sums, change.sums
        before = [self._counted.get(row.id, (0, 0, 0)) for row in rows]
        after = [_count(change.page.to.get(row.id, ())) for row in rows]
        changed = (then.recipients, then.read, then.acknowledged)
        expected = tuple(sum(each) for each in zip(changed, *after, *map(_minus, before), strict=True))
        new = sum(row.id > then.last for row in rows)
        return (*expected, then.messages + new) == (now.recipients, now.read, now.acknowledged, now.messages)

    def _records(self, page: _Page) -> dict[str, RecordEvents]:
        records: dict[str, RecordEvents] = {}
        for row in page.rows:
            to = page.to.get(row.id, [])
            self._counted[row.id] = _count(to)
            first = self._firsts.get((row.project, text_of(row.thread)), row.id)
            before = page.before.get(row.id, 0.0)
            records[f"message {row.id}"] = record_events(row, to, self._names, first, before, self.name)
        return records


def message_at(mail: sqlite3.Connection, number: int, file: str) -> Message:
    """Return one message as a scan yields it; `file` is the database's name. Raises LookupError."""
    page = _with_recipients(mail, ask.some_messages(mail, [number]))
    if not page.rows:
        raise LookupError(f"message {number} is not in {file}")
    (row,) = page.rows
    first = ask.first(mail, row.project, text_of(row.thread)) if row.thread else None
    before, to = page.before.get(row.id, 0.0), page.to.get(row.id, [])
    events = record_events(row, to, names_of(mail), row.id if first is None else first, before, file)
    return next(event for event in events.events if isinstance(event, Message))


class _Page(NamedTuple):
    """Messages, their recipients, and for messages without a time that of the previous one."""

    rows: list[AgentMailRow]
    to: dict[int, list[RecipientRow]]
    before: dict[int, float]


class _Look(NamedTuple):
    """The results of one query."""

    sums: Sums
    names: AgentNames
    agents: dict[int, Agent]
    firsts: dict[Thread, int]
    page: _Page


def _begin(mail: sqlite3.Connection) -> _Look:
    sums, names = ask.sums(mail), names_of(mail)
    page = _page(mail, before=sums.last + 1, limit=FIRST_PAGE)
    return _Look(sums, names, agents_of(mail, names), ask.firsts(mail), page)


def _changed(mail: sqlite3.Connection, since: Sums) -> _Look:
    """Return what is new or was marked since, and for labels that are a message's number that message."""
    sums, names = ask.sums(mail), names_of(mail)
    rows = ask.some_messages(mail, ask.changed(mail, since, sums)) if sums != since else []
    labels = {(row.project, text_of(row.thread)) for row in rows}
    firsts = {(project, label): int(label) for project, label in labels if ask.exists(mail, project, label)}
    return _Look(sums, names, agents_of(mail, names), firsts, _with_recipients(mail, rows))


def _page(mail: sqlite3.Connection, before: int, limit: int) -> _Page:
    return _with_recipients(mail, ask.messages(mail, before=before, limit=limit))


def _with_recipients(mail: sqlite3.Connection, rows: list[AgentMailRow]) -> _Page:
    before = {}
    for row in rows:
        if time_of(text_of(row.created)) is None:
            before[row.id] = first_time(ask.time_before(mail, row.id))
    return _Page(rows, ask.recipients(mail, [row.id for row in rows]), before)


def _told(agents: dict[int, Agent]) -> dict[str, RecordEvents]:
    people = RecordEvents((Person((OVERSEER,)),))
    return {"person": people, **{f"agent {row}": RecordEvents((agent,)) for row, agent in agents.items()}}


def _count(to: Sequence[RecipientRow]) -> Counted:
    return (
        len(to),
        sum(row.read is not None for row in to),
        sum(row.acknowledged is not None for row in to),
    )


def _minus(counted: Counted) -> Counted:
    recipients, read, acknowledged = counted
    return -recipients, -read, -acknowledged
