"""The person's own state: what they have seen, drafts, channels joined, where they left off."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple

from console.composer_draft import ComposerDraft
from console.config import state_file
from mailstore.records.scope import Scope, label_of, parts_of

__all__ = ["PersonalState", "Shown"]

SCHEMA = """
CREATE TABLE IF NOT EXISTS seen (
    id INTEGER PRIMARY KEY AUTOINCREMENT, mailbox TEXT NOT NULL, message_id TEXT NOT NULL, at REAL NOT NULL,
    UNIQUE (mailbox, message_id) ON CONFLICT IGNORE
);
CREATE TABLE IF NOT EXISTS drafts (
    mailbox TEXT NOT NULL, key TEXT NOT NULL, recipients TEXT NOT NULL, subject TEXT NOT NULL, body TEXT NOT NULL,
    thread TEXT, action TEXT NOT NULL, updated REAL NOT NULL, PRIMARY KEY (mailbox, key)
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
"""
VERSION = 1
FOREVER = float("inf")


class Shown(NamedTuple):
    """Which messages were shown, and in which mailboxes, by their labels, anything was handed out before."""

    ids: frozenset[str] = frozenset()
    begun: frozenset[str] = frozenset()

    def holds(self, message_id: str) -> bool:
        """Say whether a message was shown."""
        return _plain(message_id) in self.ids


class PersonalState:
    """An SQLite file under the XDG state folder, safe with two consoles and a sudden death.

    Everything is kept by mailbox URL. Methods block; any thread may call them. A database that can't be
    used is moved aside, never deleted, and a passing one in memory takes its place: `problem` says so.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or state_file()
        self.problem = ""
        self.is_passing = False
        """Whether nothing is kept, because the file can't be used."""
        self._lock = RLock()
        self._db = self._open()

    def _open(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return self._connect(self.path)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                return self._pass(f"{self.path} can't be used ({error}): what you read and draft now is not kept")
            aside = self._move_aside()
            self.problem = f"{self.path} was damaged: it was moved to {aside.name} and a new one begun"
            return self._connect(self.path)
        except OSError as error:
            return self._pass(f"{self.path} can't be made ({error.strerror}): what you read and draft now is not kept")

    def _pass(self, problem: str) -> sqlite3.Connection:
        self.problem = problem
        self.is_passing = True
        return self._connect(":memory:")

    def _move_aside(self) -> Path:
        number = 1
        while (aside := self.path.with_name(f"{self.path.name}.damaged-{number}")).exists():
            number += 1
        self.path.rename(aside)
        for suffix in ("-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        return aside

    def _connect(self, path: Path | str) -> sqlite3.Connection:
        db = sqlite3.connect(path, timeout=5.0, isolation_level=None, check_same_thread=False)
        try:
            found = db.execute("PRAGMA user_version").fetchone()[0]
            if found > VERSION:
                raise sqlite3.OperationalError("a newer Signalbox wrote it")
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            db.executescript(SCHEMA)
            db.execute(f"PRAGMA user_version = {VERSION}")
        except sqlite3.Error:
            db.close()
            raise
        return db

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._db.close()

    def stamp(self) -> tuple[int, int] | None:
        """Return what is another after any console wrote; blocks nobody, for WAL stands on local disks alone."""
        try:
            facts = Path(f"{self.path}-wal").stat()
        except OSError:
            return None
        return facts.st_size, facts.st_mtime_ns

    def _rows(self, statement: str, values: Iterable[Any]) -> list[Any]:
        with self._lock:
            return self._db.execute(statement, tuple(values)).fetchall()

    def _write(self, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
        self._write_all([(statement, rows)])

    def _write_all(self, changes: Iterable[tuple[str, Iterable[tuple[Any, ...]]]]) -> None:
        """Make some changes together, or none of them."""
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                for statement, rows in changes:
                    self._db.executemany(statement, rows)
            except sqlite3.Error:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    # What was seen

    def seen(self, mailbox: str, since: int = 0) -> tuple[list[str], int]:
        """Return the messages marked as seen after a mark's number, and the newest mark's number.

        What was seen among several mailboxes was seen in each, and the other way round.
        """
        if parts := parts_of(mailbox):
            found = [(Scope(label), *self.seen(url, since)) for label, url in parts.items()]
            newest = max((mark for _, _, mark in found), default=since)
            return [scope.id(message_id) for scope, ids, _ in found for message_id in ids], newest
        rows = self._rows("SELECT id, message_id FROM seen WHERE mailbox = ? AND id > ?", (mailbox, since))
        return [row[1] for row in rows], max((row[0] for row in rows), default=since)

    def seen_of(self, mailbox: str, message_ids: Iterable[str]) -> list[str]:
        """Return those of some messages that are marked as seen."""
        asked = list(message_ids)
        statement = "SELECT 1 FROM seen WHERE mailbox = ? AND message_id = ?"
        return [key for key, each in zip(asked, _each(mailbox, asked), strict=True) if self._rows(statement, each)]

    def mark_seen(self, mailbox: str, message_ids: Iterable[str], at: float | None = None) -> None:
        """Mark messages as seen by the person."""
        moment = time.time() if at is None else at
        rows = [(*each, moment) for each in _each(mailbox, message_ids)]
        self._write("INSERT INTO seen (mailbox, message_id, at) VALUES (?, ?, ?)", rows)

    def unmark_seen(self, mailbox: str, message_ids: Iterable[str]) -> None:
        """Take marks back."""
        rows = list(_each(mailbox, message_ids))
        self._write("DELETE FROM seen WHERE mailbox = ? AND message_id = ?", rows)

    # What was shown to agents whose mailbox keeps no reads

    def shown(self, mailbox: str, reader: str, purpose: str, until: float = FOREVER) -> Shown:
        """Return what was shown to an agent until a moment (seconds since the epoch)."""
        found: set[str] = set()
        begun: set[str] = set()
        of_reader = "SELECT id FROM readers WHERE mailbox = ? AND reader = ? AND purpose = ?"
        of_shown = "SELECT message_id FROM shown WHERE reader = ? AND at <= ?"
        for label, url in (parts_of(mailbox) or {"": mailbox}).items():
            scope = Scope(label)
            who = (url, _plain(scope.bare(reader) if label else reader), purpose)
            for (number,) in self._rows(of_reader, who):
                begun.add(label)
                rows = self._rows(of_shown, (number, until))
                found.update(scope.id(row[0]) if label else row[0] for row in rows)
        return Shown(frozenset(found), frozenset(begun))

    def mark_shown(self, mailbox: str, reader: str, purpose: str, message_ids: Iterable[str], at: float) -> None:
        """Note that messages were shown to an agent, all of them or none, and that it was handed mail at all."""
        parts = parts_of(mailbox)
        readers = [
            (url, _plain(Scope(label).bare(reader) if label else reader), purpose)
            for label, url in (parts or {"": mailbox}).items()
        ]
        rows = [
            (_plain(message_id), at, url, _plain(Scope(label_of(name)).bare(reader) if parts else reader), purpose)
            for name in message_ids
            for url, message_id in _each(mailbox, [name])
        ]
        self._write_all(
            [
                ("INSERT OR IGNORE INTO readers (mailbox, reader, purpose) VALUES (?, ?, ?)", readers),
                (
                    "INSERT OR IGNORE INTO shown (reader, message_id, at) SELECT id, ?, ? FROM readers"
                    " WHERE mailbox = ? AND reader = ? AND purpose = ?",
                    [(message_id, at, *who) for message_id, at, *who in rows],
                ),
            ]
        )

    # Saved views

    def views(self, mailbox: str) -> dict[str, str]:
        """Return the queries that were saved, by their names."""
        return dict(self._rows("SELECT name, query FROM views WHERE mailbox = ? ORDER BY name", (mailbox,)))

    def save_view(self, mailbox: str, name: str, query: str | None) -> None:
        """Keep a query under a name; None drops it."""
        if query is None:
            self._write("DELETE FROM views WHERE mailbox = ? AND name = ?", [(mailbox, name)])
        else:
            self._write("INSERT OR REPLACE INTO views VALUES (?, ?, ?)", [(mailbox, name, query)])

    # Drafts

    def drafts(self, mailbox: str) -> dict[str, ComposerDraft]:
        """Return the drafts by their keys."""
        rows = self._rows(
            "SELECT key, recipients, subject, body, thread, action FROM drafts WHERE mailbox = ?", (mailbox,)
        )
        return {row[0]: ComposerDraft(*row) for row in rows}

    def save_draft(self, mailbox: str, writing: ComposerDraft) -> None:
        """Keep a draft; it is on the disk's way when this returns, and survives a kill."""
        row = (
            mailbox,
            writing.key,
            writing.recipients,
            writing.subject,
            writing.body,
            writing.thread,
            writing.action,
        )
        self._write("INSERT OR REPLACE INTO drafts VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [(*row, time.time())])

    def drop_draft(self, mailbox: str, key: str) -> None:
        """Drop a draft that was sent or discarded."""
        self._write("DELETE FROM drafts WHERE mailbox = ? AND key = ?", [(mailbox, key)])

    # Channels joined, and where the person left off

    def joined(self, mailbox: str) -> frozenset[str]:
        """Return the channels whose mail the person reads as their own."""
        if parts := parts_of(mailbox):
            return frozenset(Scope(label).name(tag) for label, url in parts.items() for tag in self.joined(url))
        return frozenset(row[0] for row in self._rows("SELECT tag FROM joined WHERE mailbox = ?", (mailbox,)))

    def join(self, mailbox: str, tag: str, is_joined: bool) -> None:
        """Join a channel, or leave it."""
        statement = "INSERT OR IGNORE INTO joined VALUES (?, ?)" if is_joined else None
        self._write(statement or "DELETE FROM joined WHERE mailbox = ? AND tag = ?", list(_each(mailbox, [tag])))

    def session(self, mailbox: str) -> dict[str, Any]:
        """Return where the person left off; empty when they never were here."""
        rows = self._rows("SELECT value FROM session WHERE mailbox = ?", (mailbox,))
        try:
            found = json.loads(rows[0][0]) if rows else {}
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    def save_session(self, mailbox: str, value: dict[str, Any]) -> None:
        """Remember where the person leaves off."""
        self._write("INSERT OR REPLACE INTO session VALUES (?, ?, ?)", [(mailbox, json.dumps(value), time.time())])


def _plain(text: str) -> str:
    """Return a name as a database can keep it: half of a pair of surrogates can't be."""
    return text.encode("utf-8", "backslashreplace").decode()


def _each(mailbox: str, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each id or tag with its mailbox: of several, the one that it stands in, as that one has it."""
    parts = parts_of(mailbox)
    for name in names:
        label = label_of(name) if parts else ""
        yield (parts[label], Scope(label).bare(name)) if label in parts else (mailbox, name)
