"""OpenCode's database as its sessions treat it, for the conformance suite."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar
from uuid import uuid4

import pytest

from mailstore.conformance import Feature
from mailstore.kinds.opencode_sessions import sending
from mailstore.kinds.opencode_sessions.store import OpenCodeSource, OpenCodeStore
from mailstore.kit.timestamps import time_of
from mailstore.store import Store
from tests.kinds.sessions_harness import CAN_NOT, NAMES, NamedSessions, SessionsHarness

TABLES = (
    "CREATE TABLE session (id text PRIMARY KEY, parent_id text, title text, directory text, version text,"
    " cost real DEFAULT 0, tokens_input integer DEFAULT 0, time_created integer, time_updated integer)",
    "CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text)",
    "CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer,"
    " time_updated integer, data text)",
)


class NamedChildren(NamedSessions, OpenCodeStore):
    """Sessions and messages that go by the names that the suite gives them."""


class OpenCodeHarness(SessionsHarness):
    """Sessions that are each other's parents, so that each may give another a task."""

    store: ClassVar[type[Store]] = NamedChildren
    cannot: ClassVar[Mapping[Feature, str]] = {**CAN_NOT, Feature.TEAR: "a row of a table is there as a whole or not"}
    place = "opencode"

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(folder, monkeypatch)
        monkeypatch.setattr(sending, "server", lambda: (sending.Server("http://127.0.0.1:1"), ""))
        monkeypatch.setattr(sending, "post", lambda to, session, text: self.run(*prompt(session, text)))
        monkeypatch.setattr(OpenCodeSource, "session_of", lambda self, label: label)

    @property
    def database(self) -> Path:
        return self.path / "opencode.db"

    def run(self, *statements: tuple[object, ...]) -> None:
        """Change the database as the program does, at once."""
        with closing(sqlite3.connect(self.database)) as database, database:
            database.execute("PRAGMA synchronous = OFF")
            for statement, *values in statements:
                database.execute(str(statement), values)

    def make(self) -> None:
        if not self.database.exists():
            self.path.mkdir(parents=True, exist_ok=True)
            self.run(*((table,) for table in TABLES))
            self.run(*(_session(name, NAMES[number - 1]) for number, name in enumerate(NAMES)))

    def message(self, fields: Mapping[str, Any]) -> None:
        self.make()
        sender, to = fields["sender"], fields.get("recipient", NAMES[0])
        self.known("told", sender, fields, to)
        start = round((time_of(fields["timestamp"]) or 0.0) * 1000)
        state = {"status": "running", "input": {"prompt": fields["content"]}, "metadata": {"sessionId": to}}
        parent = ("UPDATE session SET parent_id = ? WHERE id = ?", sender, to)
        data = json.dumps(task(**state, time={"start": start}), separators=(",", ":"))
        self.run(_session(sender, to), _session(to, sender), parent, *_part(fields["id"], sender, data))

    def damage(self) -> None:
        data = '{"type":"tool","tool":"task", broken'
        self.run(*_part(f"broken {time.monotonic_ns()}", NAMES[0], data))


def _session(name: str, parent: str) -> tuple[object, ...]:
    first = int((time_of("2026-03-16T14:00:00Z") or 0.0) * 1000)
    words = "INSERT OR IGNORE INTO session VALUES (?, ?, '', ?, '1.18.33', 0, 0, ?, ?)"
    return words, name, parent, f"/srv/{name}", first, first


def _part(number: str, session: str, data: str) -> list[tuple[object, ...]]:
    now = int(time.time() * 1000)
    part = ("INSERT INTO part VALUES (?, 'x', ?, ?, ?, ?)", number, session, now, now, data)
    return [part, ("UPDATE session SET time_updated = ? WHERE id = ?", now, session)]


def prompt(session: str, text: str) -> list[tuple[object, ...]]:
    """Return what the program writes when its user gives a session a prompt."""
    now, number = int(time.time() * 1000), f"msg_{uuid4()}"
    said = json.dumps({"role": "user", "time": {"created": now}}, separators=(",", ":"))
    text_part = json.dumps({"type": "text", "text": text}, separators=(",", ":"))
    return [
        ("INSERT INTO message (id, session_id, time_created, data) VALUES (?, ?, ?, ?)", number, session, now, said),
        ("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", f"prt_{number}", number, session, now, now, text_part),
        ("UPDATE session SET time_updated = ? WHERE id = ?", now, session),
    ]


def task(**state: object) -> dict[str, object]:
    """Return the part of a message in which a session calls another one."""
    return {"type": "tool", "tool": "task", "state": state}
