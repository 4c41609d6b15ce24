"""The SQLite file of the user's own state: opened, repaired and written as a whole."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any

import msgspec
from msgspec.structs import astuple

from console.state.composer_draft import ComposerDraft
from mailstore.errors import StoreError, reason_of
from mailstore.files.own_database import connected, opened_or_renamed

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
    options = msgspec.json.encode(draft.options).decode()
    return (
        ("INSERT OR REPLACE INTO drafts VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [row]),
        ("INSERT OR REPLACE INTO draft_files VALUES (?, ?, ?)", [(mailbox, draft.key, json.dumps(draft.attachments))]),
        ("INSERT OR REPLACE INTO draft_options VALUES (?, ?, ?)", [(mailbox, draft.key, options)]),
    )


class StateDatabase:
    """An SQLite file that two consoles can share and that survives a crash.

    Methods block; any thread may call them. A file that can't be used is renamed, never deleted, and a new one or a
    database in memory takes its place: `problem` says so.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem = ""
        self.is_in_memory = False
        """Whether the file can't be used, so that nothing is kept."""
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
        if renamed is not None:
            self.problem = f"{self.path} was damaged: renamed to {renamed.name}, and a new file was created"
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
        """Return a value that changes whenever any console writes; None if unknown. Never blocks."""
        try:
            facts = Path(f"{self.path}-wal").stat()
        except OSError:
            return None
        return facts.st_size, facts.st_mtime_ns

    @contextmanager
    def _used(self) -> Iterator[sqlite3.Connection]:
        """Give one thread the connection; raise StoreError for an error of SQLite."""
        with self._lock:
            try:
                yield self._db
            except sqlite3.Error as error:
                raise StoreError(
                    f"{self.path} can't be used ({error})", "check the file and the free space", "E211"
                ) from error

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Write all of what is done within, or nothing."""
        with self._used() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")

    def rows(self, statement: str, values: Iterable[Any]) -> list[Any]:
        """Return the rows that a statement selects. Raises StoreError, as all that follow."""
        with self._used() as db:
            return db.execute(statement, tuple(values)).fetchall()

    def change(self, statement: str, values: Iterable[Any]) -> int:
        """Execute a statement; return how many rows it changed."""
        with self._used() as db:
            return db.execute(statement, tuple(values)).rowcount

    def move(self, insert: tuple[str, Iterable[Any]], delete: tuple[str, Iterable[Any]]) -> bool:
        """Insert what a statement selects, and delete it where it was; return whether there was anything."""
        with self._transaction() as db:
            db.execute(insert[0], tuple(insert[1]))
            return db.execute(delete[0], tuple(delete[1])).rowcount > 0

    def write(self, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Execute a statement for each row, for all of them or for none."""
        self.write_all([(statement, rows)])

    def write_all(self, changes: Iterable[tuple[str, Iterable[tuple[Any, ...]]]]) -> None:
        """Execute some statements for their rows, all of them or none."""
        with self._transaction() as db:
            for statement, rows in changes:
                db.executemany(statement, rows)
