"""The SQLite file of the user's own state: opened, repaired and written as a whole."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

from msgspec.structs import astuple

from console.state.composer_draft import ComposerDraft
from mailstore.encoding import as_json, is_encodable
from mailstore.errors import StoreError, reason_of
from mailstore.files.own_database import (
    Identity,
    connected,
    damage_words,
    file_identity,
    is_damage,
    opened_or_renamed,
    replaced,
)

T = TypeVar("T")

SCHEMA = """
CREATE TABLE IF NOT EXISTS seen (
    id INTEGER PRIMARY KEY AUTOINCREMENT, mailbox TEXT NOT NULL, message_id TEXT NOT NULL, at REAL NOT NULL,
    UNIQUE (mailbox, message_id) ON CONFLICT IGNORE
);
CREATE TABLE IF NOT EXISTS drafts (
    mailbox TEXT NOT NULL, key TEXT NOT NULL, recipients TEXT NOT NULL, subject TEXT NOT NULL, body TEXT NOT NULL,
    thread TEXT, action TEXT NOT NULL, updated REAL NOT NULL, PRIMARY KEY (mailbox, key)
);
CREATE TABLE IF NOT EXISTS draft_files (
    mailbox TEXT NOT NULL, key TEXT NOT NULL, paths TEXT NOT NULL, PRIMARY KEY (mailbox, key)
);
CREATE TABLE IF NOT EXISTS draft_options (
    mailbox TEXT NOT NULL, key TEXT NOT NULL, options TEXT NOT NULL, PRIMARY KEY (mailbox, key)
);
CREATE TABLE IF NOT EXISTS joined (mailbox TEXT NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (mailbox, tag));
CREATE TABLE IF NOT EXISTS views (
    mailbox TEXT NOT NULL, name TEXT NOT NULL, query TEXT NOT NULL, PRIMARY KEY (mailbox, name)
);
CREATE TABLE IF NOT EXISTS readers (
    id INTEGER PRIMARY KEY, mailbox TEXT NOT NULL, reader TEXT NOT NULL, purpose TEXT NOT NULL,
    UNIQUE (mailbox, reader, purpose)
);
CREATE TABLE IF NOT EXISTS shown (
    reader INTEGER NOT NULL, message_id TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (reader, message_id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS session (mailbox TEXT PRIMARY KEY, value TEXT NOT NULL, updated REAL NOT NULL);
CREATE TABLE IF NOT EXISTS remembered (
    mailbox TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, updated REAL NOT NULL, PRIMARY KEY (mailbox, name)
);
CREATE TABLE IF NOT EXISTS own_marks (
    mailbox TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, at REAL NOT NULL,
    PRIMARY KEY (mailbox, kind, name)
);
CREATE TABLE IF NOT EXISTS unseen_again (
    id INTEGER PRIMARY KEY AUTOINCREMENT, mailbox TEXT NOT NULL, message_id TEXT NOT NULL,
    UNIQUE (mailbox, message_id) ON CONFLICT REPLACE
);
CREATE TABLE IF NOT EXISTS held (
    mailbox TEXT NOT NULL, id TEXT NOT NULL, process TEXT NOT NULL, state TEXT NOT NULL, due REAL NOT NULL,
    writing TEXT NOT NULL, PRIMARY KEY (mailbox, id)
);
"""


Rows = tuple[str, list[tuple[object, ...]]]


DRAFT_TABLES = ("drafts", "draft_files", "draft_options")


def draft_rows(mailbox: str, draft: ComposerDraft) -> tuple[Rows, Rows, Rows]:
    """Return the statements that save a draft, with their rows: itself, the paths of its files, its options."""
    row = mailbox, *astuple(draft)[:-3]
    options = as_json(draft.options)
    return (
        ("INSERT OR REPLACE INTO drafts VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [row]),
        ("INSERT OR REPLACE INTO draft_files VALUES (?, ?, ?)", [(mailbox, draft.key, as_json(draft.attachments))]),
        ("INSERT OR REPLACE INTO draft_options VALUES (?, ?, ?)", [(mailbox, draft.key, options)]),
    )


class StateDatabase:
    """An SQLite file that two consoles can share and that survives a crash.

    Methods block; any thread may call them. A file that can't be used is renamed, never deleted, and a new one or a
    database in memory takes its place: `problem` says so. Any text can be stored, also a path that isn't UTF-8 and a
    name with unpaired surrogates.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem = ""
        self.is_in_memory = False
        """Whether the file can't be used, so that nothing is kept."""
        self._identity: Identity | None = None
        self._lock = RLock()
        self._db = self._open()

    def _open(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            db, renamed = opened_or_renamed(self.path, SCHEMA)
        except sqlite3.DatabaseError as error:
            return self._open_in_memory(f"{self.path} can't be used ({error}): changes to your state are not saved")
        except OSError as error:
            reason = reason_of(error)
            return self._open_in_memory(f"{self.path} can't be created ({reason}): changes to your state are not saved")
        self._identity = file_identity(self.path)
        if renamed is not None:
            self.problem = damage_words(self.path, renamed)
        return db

    def _open_in_memory(self, problem: str) -> sqlite3.Connection:
        self.problem = problem
        self.is_in_memory = True
        return connected(":memory:", SCHEMA)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def stamp(self) -> tuple[int, int] | None:
        """Return a value that changes whenever any console writes; None if unknown. Waits for no lock."""
        try:
            facts = Path(f"{self.path}-wal").stat()
        except OSError:
            return None
        return facts.st_size, facts.st_mtime_ns

    def _use(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Give one thread the connection, and once more if the file had to be replaced; raise StoreError."""
        with self._lock:
            try:
                self._follow()
                try:
                    return work(self._db)
                except sqlite3.Error as error:
                    if self.is_in_memory or not is_damage(error):
                        raise
                    self._replace()
                    return work(self._db)
            except (sqlite3.Error, OSError) as error:
                raise StoreError(
                    f"{self.path} can't be used ({reason_of(error)})", "check the file and the free space", "E211"
                ) from error

    def _follow(self) -> None:
        """Open the file that another process has put in the place of this one."""
        if not self.is_in_memory and self._identity != file_identity(self.path):
            self._db.close()
            self._db = connected(self.path, SCHEMA)
            self._identity = file_identity(self.path)

    def _replace(self) -> None:
        """Replace a file in which a query met damage."""
        self._db.close()
        self._db, renamed = replaced(self.path, self._identity, SCHEMA)
        self._identity = file_identity(self.path)
        if renamed is not None:
            self.problem = damage_words(self.path, renamed)

    def _transact(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Write all of what is done within, or nothing."""

        def transaction(db: sqlite3.Connection) -> T:
            db.execute("BEGIN IMMEDIATE")
            try:
                done = work(db)
                db.execute("COMMIT")
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")
            return done

        return self._use(transaction)

    def rows(self, statement: str, values: Iterable[Any]) -> list[Any]:
        """Return the rows that a statement selects. Raises StoreError, as all that follow."""
        stored = _stored(values)
        return _read(self._use(lambda db: db.execute(statement, stored).fetchall()))

    def change(self, statement: str, values: Iterable[Any]) -> int:
        """Execute a statement; return how many rows it changed."""
        stored = _stored(values)
        return self._use(lambda db: db.execute(statement, stored).rowcount)

    def move(self, insert: tuple[str, Iterable[Any]], delete: tuple[str, Iterable[Any]]) -> bool:
        """Insert what a statement selects, and delete it where it was; return whether there was anything."""
        inserted, deleted = _stored(insert[1]), _stored(delete[1])

        def work(db: sqlite3.Connection) -> bool:
            db.execute(insert[0], inserted)
            return db.execute(delete[0], deleted).rowcount > 0

        return self._transact(work)

    def write(self, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Execute a statement for each row, for all of them or for none."""
        self.write_all([(statement, rows)])

    def write_all(self, changes: Iterable[tuple[str, Iterable[tuple[Any, ...]]]]) -> None:
        """Execute some statements for their rows, all of them or none."""
        stored = [(statement, [*map(_stored, rows)]) for statement, rows in changes]

        def work(db: sqlite3.Connection) -> None:
            for statement, rows in stored:
                db.executemany(statement, rows)

        self._transact(work)


def _stored(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return values as SQLite takes them: text that isn't Unicode as its bytes."""
    return tuple(
        value.encode("utf-8", "surrogatepass") if isinstance(value, str) and not is_encodable(value) else value
        for value in values
    )


def _read(rows: list[Any]) -> list[Any]:
    """Return rows with the text that `_stored` made bytes of; no column holds other bytes."""
    if bytes not in set(map(type, chain.from_iterable(rows))):
        return rows
    return [
        tuple(value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value for value in row)
        for row in rows
    ]
