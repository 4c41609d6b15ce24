"""Reads MCP Agent Mail's database: what is new by its number, what was read by when that was."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from mailstore.events import Progress
from mailstore.files.database import DatabaseStamp, database_stamp
from mailstore.files.stamp import is_fresh
from mailstore.stores.agent_mail import tables as ask
from mailstore.stores.agent_mail.columns import text_of
from mailstore.stores.agent_mail.decode import Row, To, bundle_of
from mailstore.stores.agent_mail.roster import Names, agents_of, moment, names_of
from mailstore.stores.agent_mail.tables import Sums, Thread
from mailstore.stores.feeding import Bundle, Bundles, Feed

__all__ = ["DatabaseFeed"]

FIRST_PAGE = 1000
PAGE = 20_000
Counted = tuple[int, int, int]
"""How many recipients a message has, how many of them read it, how many acknowledged it."""


class DatabaseFeed(Feed):
    """Every message and every agent, under the number of its row."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._stamp: DatabaseStamp | None = None
        self._sums = Sums()
        self._names = Names({})
        self._firsts: dict[Thread, int] = {}
        self._counted: dict[int, Counted] = {}

    @property
    def name(self) -> str:
        """Return the database's file name."""
        return self._database.name

    def pages(self) -> Iterator[tuple[Bundles, Progress]]:
        """Yield the agents, then all messages, the newest first."""
        self._stamp = database_stamp(self._database)
        found, last = ask.look(self._database, self._begin)
        total, done = self._sums.messages, min(self._sums.messages, FIRST_PAGE)
        yield found, Progress(done, max(total, done))
        while last > 1:
            found, last = ask.look(self._database, partial(self._page, last, PAGE))
            done += len(found)
            yield found, Progress(min(done, total), total)

    def _begin(self, mail: sqlite3.Connection) -> tuple[dict[str, Bundle], int]:
        self._sums = ask.sums(mail)
        self._names = names_of(mail)
        self._firsts = ask.firsts(mail)
        self._counted = {}
        messages, last = self._page(self._sums.last + 1, FIRST_PAGE, mail)
        return {**self._agents(mail), **messages}, last

    def _page(self, before: int, limit: int, mail: sqlite3.Connection) -> tuple[dict[str, Bundle], int]:
        """Return so many messages from before one, and the number of the last of them: 0 where there are no more."""
        rows = ask.messages(mail, before=before, limit=limit)
        return self._bundles(mail, rows), rows[-1].id if len(rows) == limit else 0

    def news(self, *, closely: bool) -> Bundles | None:
        """Return what is new, was read or acknowledged, and all agents; None where something else changed."""
        stamp = database_stamp(self._database)
        if self._stamp == stamp and not any(part and is_fresh(part) for part in stamp):
            return {}
        if _place(stamp) != _place(self._stamp):
            return None
        found = ask.look(self._database, self._changed)
        if found is not None:
            self._stamp = stamp
        return found

    def _changed(self, mail: sqlite3.Connection) -> dict[str, Bundle] | None:
        names, now = names_of(mail), ask.sums(mail)
        if any(names.by_id.get(agent) != name for agent, name in self._names.by_id.items()):
            return None
        found: dict[str, Bundle] = {}
        if now != self._sums:
            ids = ask.changed(mail, self._sums)
            rows = sorted(ask.some_messages(mail, ids), key=lambda row: row.id)
            before = [self._counted.get(row.id, (0, 0, 0)) for row in rows]
            new = sum(row.id > self._sums.last for row in rows)
            to = ask.recipients(mail, ids)
            after = [_count(to.get(row.id, ())) for row in rows]
            told = (self._sums.recipients, self._sums.read, self._sums.acknowledged)
            expected = tuple(sum(each) for each in zip(told, *after, *map(_minus, before), strict=True))
            # somebody took a message, a recipient or a mark away, or put one in without a time of its own
            if expected != (now.recipients, now.read, now.acknowledged) or self._sums.messages + new != now.messages:
                return None
            self._names = names
            for row in rows:
                self._join(mail, row)
            found = self._bundles(mail, rows)
        self._names, self._sums = names, now
        return {**self._agents(mail), **found}

    def _join(self, mail: sqlite3.Connection, row: Row) -> None:
        """Let a message begin its thread where it is the first that bears the label."""
        label = text_of(row.thread)
        if label and (row.project, label) not in self._firsts:
            is_id = ask.exists(mail, row.project, label)
            self._firsts[row.project, label] = int(label) if is_id else row.id

    def _agents(self, mail: sqlite3.Connection) -> dict[str, Bundle]:
        return {f"agent {row}": Bundle((agent,)) for row, agent in agents_of(mail, self._names).items()}

    def _bundles(self, mail: sqlite3.Connection, rows: Sequence[Row]) -> dict[str, Bundle]:
        to = ask.recipients(mail, [row.id for row in rows])
        self._counted.update((row.id, _count(to.get(row.id, ()))) for row in rows)
        found: dict[str, Bundle] = {}
        for row in rows:
            first = self._firsts.get((row.project, text_of(row.thread)), row.id)
            before = 0.0
            if moment(text_of(row.created)) is None:
                times = (moment(created) for created in ask.time_before(mail, row.id))
                before = next((time for time in times if time is not None), 0.0)
            found[f"message {row.id}"] = bundle_of(row, to.get(row.id, []), self._names, first, before, self.name)
        return found


def _count(to: Sequence[To]) -> Counted:
    return (
        len(to),
        sum(each.read is not None for each in to),
        sum(each.acknowledged is not None for each in to),
    )


def _minus(counted: Counted) -> Counted:
    recipients, read, acknowledged = counted
    return -recipients, -read, -acknowledged


def _place(stamp: DatabaseStamp | None) -> object:
    """Return what tells a database from another one that was put in its place."""
    return stamp and stamp[0] and (stamp[0].device, stamp[0].inode)
