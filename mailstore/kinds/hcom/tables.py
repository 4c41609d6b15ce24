"""Queries for hcom's events and instances (docs/formats/hcom.md#tables)."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from mailstore.kit.tables import bytes_of, columns, in_parts, text_of

MESSAGE, STATUS, LIFE = "message", "status", "life"
INSTANCE = (
    *("name", "last_event_id", "tag", "status", "status_time", "status_context", "status_detail", "last_stop"),
    *("last_seen", "created_at", "tool", "directory", "parent_name", "origin_device_id"),
)
LAST = (1 << 63) - 1
"""The largest number that a row can have."""
MARK_LENGTH = 6


class EventRow(NamedTuple):
    """A row of `events`; texts are bytes as they are in the file."""

    id: int
    timestamp: str
    type: str
    instance: str
    data: bytes


class Ends(NamedTuple):
    """The number of the last event, and how many messages there are."""

    last: int = 0
    messages: int = 0


def ends(mail: sqlite3.Connection) -> Ends:
    [(last,)] = mail.execute("SELECT max(id) FROM events")
    [(count,)] = mail.execute("SELECT count(*) FROM events WHERE type = ?", (MESSAGE,))
    return Ends(last or 0, count)


def mark(mail: sqlite3.Connection) -> str:
    """Return what tells a conversation from others, whose events have the same numbers; empty for an empty log."""
    row = mail.execute("SELECT timestamp FROM events ORDER BY id LIMIT 1").fetchone()
    return (
        "" if row is None else hashlib.sha1(text_of(row[0]).encode(), usedforsecurity=False).hexdigest()[:MARK_LENGTH]
    )


def messages(mail: sqlite3.Connection, *, before: int | None = None, limit: int) -> list[EventRow]:
    """Return up to `limit` messages, newest first: those with smaller numbers than `before`, or the last ones."""
    bound = "" if before is None else "AND id < ?"
    asked = mail.execute(
        f"SELECT id, timestamp, type, instance, data FROM events WHERE type = ? {bound} ORDER BY id DESC LIMIT ?",  # noqa: S608
        (MESSAGE, limit) if before is None else (MESSAGE, before, limit),
    )
    return [_event(row) for row in asked]


def some_messages(mail: sqlite3.Connection, ids: Iterable[int]) -> list[EventRow]:
    return [
        _event(row)
        for marks, part in in_parts(ids)
        for row in mail.execute(
            f"SELECT id, timestamp, type, instance, data FROM events WHERE type = ? AND id IN ({marks})",  # noqa: S608
            (MESSAGE, *part),
        )
    ]


def events(mail: sqlite3.Connection, *types: str, after: int, until: int | None = None) -> Iterator[EventRow]:
    """Yield the events of some types after a number, and up to another one, oldest first."""
    marks = ",".join("?" * len(types))
    asked = mail.execute(
        "SELECT id, timestamp, type, instance, data FROM events "  # noqa: S608
        f"WHERE type IN ({marks}) AND id > ? AND id <= ? ORDER BY id",
        (*types, after, LAST if until is None else until),
    )
    return map(_event, asked)


def _event(row: tuple[Any, ...]) -> EventRow:
    number, timestamp, kind, instance, data = row
    return EventRow(number, text_of(timestamp), text_of(kind), text_of(instance), bytes_of(data))


def instances(mail: sqlite3.Connection) -> list[dict[str, Any]]:
    """Return the rows of the agents that are connected; what an older release lacks is None."""
    asked = mail.execute(f"SELECT {columns(mail, 'instances', *INSTANCE)} FROM instances ORDER BY rowid")  # noqa: S608
    return [dict(zip(INSTANCE, row, strict=True)) for row in asked]


def bundle(mail: sqlite3.Connection, bundle_id: str, before: int) -> bytes | None:
    """Return the data of a bundle's event: the last one before a message."""
    asked = mail.execute(
        "SELECT data FROM events WHERE type = 'bundle' AND id < ? AND instr(data, ?) ORDER BY id DESC LIMIT 1",
        (before, bundle_id),
    )
    row = asked.fetchone()
    return None if row is None else bytes_of(row[0])


def time_before(mail: sqlite3.Connection, number: int) -> Iterator[str]:
    """Yield when the events before one were written, the last first."""
    asked = mail.execute("SELECT timestamp FROM events WHERE id < ? ORDER BY id DESC LIMIT 100", (number,))
    for (written,) in asked:
        yield text_of(written)
