"""Write the ledger: what a method has written outlives the process.

A power failure may take the last entries away: messages are then sent or fetched again, and recognised on arrival.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from threading import RLock
from typing import Any

from mailstore.errors import StoreError, reason_of
from mailstore.files.own_database import opened_or_renamed
from mailstore.kinds.agentazall.ledger import LOCAL, NO_WAY, ArrivalState, LedgerWay, ledger_file, way_in
from mailstore.kinds.agentazall.transports.transport import UNEXPECTED

SCHEMA = """
CREATE TABLE IF NOT EXISTS ways (
    owner TEXT NOT NULL, message_id TEXT NOT NULL, recipient TEXT NOT NULL, transport TEXT NOT NULL,
    state TEXT NOT NULL, tries INTEGER NOT NULL, last REAL, reason TEXT NOT NULL, next REAL,
    PRIMARY KEY (owner, message_id, recipient, transport)
);
CREATE INDEX IF NOT EXISTS ways_by_id ON ways (message_id);
CREATE TABLE IF NOT EXISTS messages (
    owner TEXT NOT NULL, message_id TEXT NOT NULL, digest TEXT NOT NULL, file TEXT NOT NULL, noted REAL NOT NULL,
    PRIMARY KEY (owner, message_id)
);
CREATE TABLE IF NOT EXISTS arrivals (
    owner TEXT NOT NULL, transport TEXT NOT NULL, key TEXT NOT NULL, message_id TEXT NOT NULL, at REAL NOT NULL,
    state TEXT NOT NULL, reason TEXT NOT NULL, sender TEXT NOT NULL, excerpt BLOB NOT NULL,
    PRIMARY KEY (owner, transport, key)
);
CREATE INDEX IF NOT EXISTS arrivals_by_id ON arrivals (message_id);
CREATE TABLE IF NOT EXISTS accounts (
    agent TEXT NOT NULL, transport TEXT NOT NULL, is_up INTEGER NOT NULL, since REAL NOT NULL, looked REAL NOT NULL,
    reason TEXT NOT NULL, next REAL, PRIMARY KEY (agent, transport)
);
CREATE TABLE IF NOT EXISTS runs (
    agent TEXT PRIMARY KEY, pid INTEGER NOT NULL, began REAL NOT NULL, looked REAL NOT NULL, ended REAL,
    every_seconds REAL NOT NULL
);
"""
NOT_SET = "this account is no longer set"
WAIT_SECONDS = 30.0


class LedgerWriter:
    """The ledger of one folder of mailboxes. Thread-safe; several processes may share it. Blocks."""

    def __init__(self, root: Path) -> None:
        """Open the ledger, creating it if needed. Raises StoreError."""
        self.path = ledger_file(root)
        self.problem = ""
        self._lock = RLock()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.path.touch(mode=0o600)
            # what is in the inbox is recognised without the ledger
            self._db, renamed = opened_or_renamed(self.path, SCHEMA, seconds=WAIT_SECONDS, is_checked=True)
        except OSError as error:
            raise StoreError(
                f"{self.path} can't be written ({reason_of(error)})", "check $XDG_STATE_HOME and the free space", "E172"
            ) from error
        except sqlite3.Error as error:
            raise StoreError(f"{self.path} can't be used ({error})", "try again, or move it away", "E211") from error
        if renamed is not None:
            self.problem = (
                f"{self.path} was damaged: renamed to {renamed.name}, and a new file has what could be read of it"
            )

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def _change(self, statement: str, *values: Any) -> None:
        self._all([(statement, values)])

    def _all(self, changes: Iterable[tuple[str, tuple[Any, ...]]]) -> None:
        with self._lock:
            try:
                self._db.execute("BEGIN IMMEDIATE")
                for statement, values in changes:
                    self._db.execute(statement, values)
                self._db.execute("COMMIT")
            except BaseException as error:
                # a text that can't be stored is no sqlite3.Error
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                if not isinstance(error, sqlite3.Error):
                    raise
                raise OSError(28 if "full" in str(error) else 5, str(error), str(self.path)) from error

    def _rows(self, statement: str, *values: Any) -> list[Any]:
        with self._lock:
            try:
                return self._db.execute(statement, values).fetchall()
            except sqlite3.Error as error:
                raise OSError(5, str(error), str(self.path)) from error

    def note_message(self, owner: str, message_id: str, digest: str, file: str, now: float) -> bool:
        """Note where a message lies; return whether another message had this id, whose ways are forgotten."""
        rows = self._rows("SELECT digest, file FROM messages WHERE owner = ? AND message_id = ?", owner, message_id)
        if rows and tuple(rows[0]) == (digest, file):
            return False
        is_other = bool(rows) and rows[0][0] != digest
        changes: list[tuple[str, tuple[Any, ...]]] = [
            ("INSERT OR REPLACE INTO messages VALUES (?, ?, ?, ?, ?)", (owner, message_id, digest, file, now))
        ]
        if is_other:
            changes.insert(0, ("DELETE FROM ways WHERE owner = ? AND message_id = ?", (owner, message_id)))
        self._all(changes)
        return is_other

    def ways(self, owner: str, message_id: str) -> list[LedgerWay]:
        rows = self._rows("SELECT * FROM ways WHERE owner = ? AND message_id = ?", owner, message_id)
        return [way_in(row) for row in rows]

    def ways_to(self, owner: str, message_id: str, recipient: str) -> list[LedgerWay]:
        return [way for way in self.ways(owner, message_id) if way.recipient == recipient]

    def waiting(self, owner: str) -> list[tuple[LedgerWay, str]]:
        """Return the ways that wait, with the file of each message as it was noted last."""
        rows = self._rows(
            "SELECT w.owner, w.message_id, recipient, transport, state, tries, last, reason, next, file"
            " FROM ways w JOIN messages l ON w.owner = l.owner AND w.message_id = l.message_id"
            " WHERE w.owner = ? AND state = 'waiting'", owner,
        )  # fmt: skip
        return [(way_in(row), row[9]) for row in rows]

    def plan_ways(self, ways: Iterable[LedgerWay]) -> None:
        """Write ways that are still to be tried, unless they are known."""
        self._all([("INSERT OR IGNORE INTO ways VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", tuple(way)) for way in ways])

    def note_way(self, way: LedgerWay) -> None:
        self._change("INSERT OR REPLACE INTO ways VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", *way)

    def try_again(self, owner: str) -> None:
        """Let every way be tried again that was refused or given up, and take in what a mistake turned away."""
        ways = "UPDATE ways SET state = 'waiting', next = NULL WHERE owner = ? AND state IN ('refused', 'given-up')"
        arrivals = "DELETE FROM arrivals WHERE owner = ? AND state = 'turned-away' AND substr(reason, 1, ?) = ?"
        self._all([(ways, (owner,)), (arrivals, (owner, len(UNEXPECTED), UNEXPECTED))])

    def note_of(self, owner: str, transport: str, key: str) -> tuple[str, str] | None:
        """Return the reason and the sender noted for a message of an account; None if it is not known."""
        statement = "SELECT reason, sender FROM arrivals WHERE owner = ? AND transport = ? AND key = ?"
        rows = self._rows(statement, owner, transport, key)
        return (str(rows[0][0]), str(rows[0][1])) if rows else None

    def came_by(self, owner: str, transport: str, message_id: str) -> bool:
        """Return whether a copy of a message came by an account before."""
        return bool(
            self._rows(
                "SELECT 1 FROM arrivals WHERE owner = ? AND transport = ? AND message_id = ?",
                owner, transport, message_id,
            )
        )  # fmt: skip

    def note_arrival(
        self, owner: str, transport: str, key: str, message_id: str, at: float, state: ArrivalState,
        reason: str = "", sender: str = "", excerpt: bytes = b"",
    ) -> None:  # fmt: skip
        """Write what became of a message that came in."""
        self._change(
            "INSERT OR REPLACE INTO arrivals VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            owner, transport, key, message_id, at, str(state), reason, sender, excerpt,
        )  # fmt: skip

    def note_account(
        self, agent: str, transport: str, is_up: bool, now: float, reason: str, next_look: float | None
    ) -> None:
        """Write how an account was found; the time since when is kept while that stays the same."""
        self._change(
            "INSERT INTO accounts VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (agent, transport) DO UPDATE SET"
            " since = CASE WHEN is_up = excluded.is_up THEN since ELSE excluded.since END,"
            " is_up = excluded.is_up, looked = excluded.looked, reason = excluded.reason, next = excluded.next",
            agent, transport, int(is_up), now, now, reason, next_look,
        )  # fmt: skip

    def begin_run(self, agent: str, pid: int, now: float, every_seconds: float, transports: Iterable[str]) -> None:
        """Write that a sync works for an agent.

        What accounts had to do that are no longer set is given up, until they are set again.
        """
        kept = {*transports, LOCAL}
        waiting = {way.transport for way, _ in self.waiting(agent)}
        known = {row[0] for row in self._rows("SELECT transport FROM accounts WHERE agent = ?", agent)}
        given_up = (
            "UPDATE ways SET state = 'given-up', reason = ?, next = NULL"
            " WHERE owner = ? AND transport = ? AND state = 'waiting'"
        )
        taken_up = (
            "UPDATE ways SET state = 'waiting', reason = ''"
            " WHERE state = 'given-up' AND reason = ? AND owner = ? AND transport = ?"
            " AND NOT EXISTS (SELECT 1 FROM ways other WHERE other.owner = ways.owner"
            " AND other.message_id = ways.message_id AND other.recipient = ways.recipient"
            " AND other.state = 'delivered')"
        )
        self._all(
            [
                ("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, NULL, ?)", (agent, pid, now, now, every_seconds)),
                ("DELETE FROM ways WHERE owner = ? AND transport = ?", (agent, NO_WAY)),
                *((given_up, (NOT_SET, agent, each)) for each in waiting - kept),
                *((taken_up, (NOT_SET, agent, each)) for each in kept),
                *(("DELETE FROM accounts WHERE agent = ? AND transport = ?", (agent, each)) for each in known - kept),
            ]
        )

    def beat(self, agent: str, now: float) -> None:
        """Write that the sync of an agent is alive."""
        self._change("UPDATE runs SET looked = ? WHERE agent = ?", now, agent)

    def end_run(self, agent: str, now: float) -> None:
        """Write that the sync of an agent has ended."""
        self._change("UPDATE runs SET looked = ?, ended = ? WHERE agent = ?", now, now, agent)
