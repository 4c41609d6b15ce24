"""Somebody's own JSONL or SQLite mail with a mapping beside it, for the conformance suite."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

from mailstore.conformance import Feature, FileHarness
from mailstore.kinds.mapped.store import MappedStore
from mailstore.store import Store

FIELDS = """
[message]
id = "id"
sender = "sender"
recipients = "recipient"
time = "timestamp"
body = "content"
subject = "subject"
reply_to = "thread"
type = "type"

[agents]
id = "session_id"
role = "role"
tags = "tags"
status = "status"
"""
COLUMNS = "id, sender, recipient, timestamp, content, subject, thread, type"
CANNOT = {
    Feature.TTL: "what has no TTL of its own does not expire",
    Feature.EXTRA: "it is read only",
    Feature.RECORDS: "there is at most a flag on the message",
    Feature.LOCK: "it is read only",
}


class MappedHarness(FileHarness):
    """A mapping, and the folder of the mail that it tells of."""

    store: ClassVar[type[Store]] = MappedStore
    source: ClassVar[str]

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._missing = b""

    @property
    def home(self) -> Path:
        return self._folder / "home"

    @property
    def path(self) -> Path:
        return self.home / "mapping.toml"

    def make(self) -> None:
        (self.home / "mail").mkdir(parents=True)
        self.path.write_text(self.source)

    def remove(self) -> None:
        self.home.replace(self._folder / "away")

    def restore(self) -> None:
        (self._folder / "away").replace(self.home)

    def snapshot(self) -> Mapping[str, tuple[bytes, int]]:
        files = (path for path in self.home.rglob("*") if path.is_file())
        return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


class MappedLinesHarness(MappedHarness):
    """Mail as lines in one file, agents as lines in another."""

    source = f'[source]\njsonl = "mail/log*.jsonl"\n{FIELDS}[agents.source]\njsonl = "mail/agents.jsonl"\n'
    cannot: ClassVar[Mapping[Feature, str]] = CANNOT

    def _append(self, data: bytes, name: str = "log.jsonl") -> None:
        with (self.home / "mail" / name).open("ab") as file:
            file.write(data)

    def message(self, fields: Mapping[str, Any]) -> None:
        self._append(json.dumps(fields, ensure_ascii=False).encode() + b"\n")

    def agent(self, fields: Mapping[str, Any]) -> None:
        self._append(json.dumps(fields).encode() + b"\n", "agents.jsonl")

    def damage(self) -> None:
        self._append(b'{"id": "cut", "sender": "bob\n')

    def tear(self, fields: Mapping[str, Any]) -> None:
        line = json.dumps(fields).encode() + b"\n"
        self._append(line[:40])
        self._missing = line[40:]

    def repair(self) -> None:
        self._append(self._missing)

    def replace(self, *messages: Mapping[str, Any]) -> None:
        new = self.home / "new"
        new.write_text("".join(json.dumps(fields) + "\n" for fields in messages))
        new.replace(self.home / "mail" / "log.jsonl")


class MappedRowsHarness(MappedHarness):
    """Mail and agents as rows of a database."""

    source = (
        f'[source]\ndatabase = "mail/mail.db"\ntable = "messages"\n{FIELDS}'
        '[agents.source]\ndatabase = "mail/mail.db"\nquery = "SELECT * FROM agents"\n'
    )
    cannot: ClassVar[Mapping[Feature, str]] = {
        **CANNOT,
        Feature.TEAR: "rows come whole",
        Feature.DAMAGE: "every row is a record",
        Feature.OTHER: "a row has its columns and no others",
        Feature.VERBATIM: "a row is shown as JSON",
    }

    @property
    def database(self) -> Path:
        return self.home / "mail" / "mail.db"

    def make(self) -> None:
        super().make()
        self._make(self.database)

    def _make(self, path: Path, messages: tuple[Mapping[str, Any], ...] = ()) -> None:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(
                "CREATE TABLE messages (id, sender, recipient, timestamp, content, subject, thread, type)"
            )
            connection.execute("CREATE TABLE agents (session_id PRIMARY KEY, role, tags, status)")
            for fields in messages:
                self._insert(connection, "messages", fields)

    def _insert(self, connection: sqlite3.Connection, table: str, fields: Mapping[str, Any]) -> None:
        values = [json.dumps(it) if isinstance(it, list) else it for it in fields.values()]
        marks = ", ".join("?" * len(values))
        connection.execute(f"INSERT OR REPLACE INTO {table} ({', '.join(fields)}) VALUES ({marks})", values)

    def message(self, fields: Mapping[str, Any]) -> None:
        with closing(sqlite3.connect(self.database)) as connection, connection:
            connection.execute("PRAGMA synchronous = 0")
            self._insert(connection, "messages", fields)

    def agent(self, fields: Mapping[str, Any]) -> None:
        with closing(sqlite3.connect(self.database)) as connection, connection:
            self._insert(connection, "agents", fields)

    def replace(self, *messages: Mapping[str, Any]) -> None:
        self._make(self.home / "new.db", messages)
        (self.home / "new.db").replace(self.database)
