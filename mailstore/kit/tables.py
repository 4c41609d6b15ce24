"""Ask another program's SQLite database, and follow it.

Usage:

    class QueueSource(DatabaseSource):
        def pages(self): ... = self.begin(first_query)
        def changed(self): ... = self.look(next_query)
"""

from __future__ import annotations

import sqlite3
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from mailstore.errors import ContentGone, StoreError, reason_of
from mailstore.files.database import (
    DatabaseStamp,
    Unreadable,
    database_stamp,
    is_database,
    is_replaced,
    may_have_changed,
    read_database,
)
from mailstore.kit.record_reader import RecordMap, RecordSource
from mailstore.kit.timestamps import time_of

AT_ONCE = 500
Answer = TypeVar("Answer")
Value = TypeVar("Value")
Query = Callable[[sqlite3.Connection], Answer]
"""May be called again, and has fetched everything when it returns."""


def look(path: Path, query: Query[Answer], *, is_text: bool = False) -> Answer:
    """Run a query as `read_database` does. Raises OSError and Unreadable.

    Texts are bytes as they are in the file; on request they are decoded, with damage replaced.
    """
    return read_database(path, query, text_of if is_text else bytes)


def look_or_gone(path: Path, query: Query[Answer], *, is_text: bool = False) -> Answer:
    """Run a query for what a message holds. Raises ContentGone."""
    try:
        return look(path, query, is_text=is_text)
    except (OSError, Unreadable) as error:
        raise ContentGone(f"{path.name} can't be read", reason_of(error), "E444") from error


def look_before_writing(database: Path, query: Query[Answer], undone: str = "nothing was written") -> Answer:
    """Run a query for what a command needs; `undone` is what it says where that fails. Raises StoreError."""
    try:
        return look(database, query)
    except (OSError, Unreadable) as error:
        raise StoreError(f"{database} can't be read", f"{reason_of(error)}; {undone}", "E527") from error


def is_database_of(path: Path, query: Query[bool], name: str) -> bool:
    """Say whether a file is a database that a query recognises; if it can't be read now, whether it has the name."""
    if not is_database(path):
        return False
    try:
        return read_database(path, query)
    except Unreadable:
        return path.name == name


def tables_in(database: sqlite3.Connection) -> set[str]:
    """Return the names of the tables, without views."""
    return {text_of(name) for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def columns_in(database: sqlite3.Connection, table: str) -> list[str]:
    return [text_of(row[1]) for row in database.execute(f"PRAGMA table_info({table})")]


def columns(database: sqlite3.Connection, table: str, *names: str) -> str:
    """Return columns for a query; those that an older release lacks are NULL."""
    known = set(columns_in(database, table))
    return ", ".join(name if name in known else f"NULL AS {name}" for name in names)


def in_parts(values: Iterable[Value]) -> Iterator[tuple[str, list[Value]]]:
    """Yield values in parts small enough for one query, each with its placeholders."""
    rest = iter(values)
    while part := list(islice(rest, AT_ONCE)):
        yield ",".join("?" * len(part)), part


def text_of(value: object) -> str:
    """Return a column's value as text; empty for NULL."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def bytes_of(value: object) -> bytes:
    """Return a column's value as the bytes of its text."""
    return value if isinstance(value, bytes) else text_of(value).encode("utf-8", "replace")


def rows_of(asked: sqlite3.Cursor) -> Iterator[dict[str, Any]]:
    """Yield the rows of a query, their values by the names of the columns."""
    names = [text_of(column[0]) for column in asked.description]
    return (dict(zip(names, row, strict=True)) for row in asked)


def first_time(written: Iterable[object]) -> float:
    """Return the first of some values that is a time, in seconds since the epoch; 0 if none is."""
    return next((time for time in map(time_of, written) if time is not None), 0.0)


class DatabaseSource(RecordSource):
    """The records of a database, asked for when its files have changed.

    A query may be repeated, so its results are stored only once it is complete.
    """

    is_text: ClassVar[bool] = False
    """Whether texts are decoded, with damage replaced, rather than bytes."""

    def __init__(self, database: Path) -> None:
        self.database = database
        self._stamp: DatabaseStamp | None = None

    @property
    def name(self) -> str:
        return self.database.name

    def look(self, query: Query[Answer]) -> Answer:
        """Run a query. Raises OSError and Unreadable."""
        return look(self.database, query, is_text=self.is_text)

    def begin(self, query: Query[Answer]) -> Answer:
        """Run the first query of `pages`: `changed` is asked for what came after it."""
        stamp = database_stamp(self.database)
        answer = self.look(query)
        self._stamp = stamp
        return answer

    @abstractmethod
    def changed(self) -> RecordMap | None:
        """Return the records that changed since the last call; None if only reading all of them can tell."""

    def news(self, *, closely: bool) -> RecordMap | None:
        """Return what changed; nothing while the files are the same, None if another file is in their place."""
        stamp = database_stamp(self.database)
        if not may_have_changed(stamp, self._stamp):
            return {}
        if is_replaced(stamp, self._stamp):
            return None
        records = self.changed()
        if records is not None:
            self._stamp = stamp
        return records
