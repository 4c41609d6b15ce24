"""Mail of systems with shapes of their own, as their programs leave it, for mappings to be tried on."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from mailstore.conformance.following import of, scanned
from mailstore.records.events import Event
from mailstore.records.message import Message
from mailstore.registry import open_store

LINES = '[source]\njsonl = "log.jsonl"\n[message]\nsender = "from"\nrecipients = "to"\nbody = "text"\n'

OVERSTORY = """
[source]
database = ".overstory/mail.db"
table = "messages"

[message]
id = "id"
sender = "from_agent"
recipients = "to_agent"
subject = "subject"
body = "body"
type = "type"
thread = "thread_id"
read = "read"
time = "created_at"
"""
HCOM = """
[source]
database = "hcom.db"
query = "SELECT * FROM events WHERE type = 'message'"

[message]
id = "id"
sender = "data.from"
recipients = "data.delivered_to"
body = "data.text"
reply_to = "data.reply_to"
thread = "data.thread"
time = "timestamp"

[agents]
source = { database = "hcom.db", table = "instances" }
id = "name"
status = "status"
activity = "status_context"
seen = { path = "status_time", format = "epoch" }
"""
SPOOL = r"""
[source]
json = "spool/*/*/*.json"
path = '(?P<box>[^/]+)/[^/]+\.json$'

[message]
id = "msgId"
sender = "from"
recipients = "to"
body = "text"
time = { path = "ts", format = "epoch-ms" }
expires = { path = "expiresAt", format = "epoch-ms" }
read = { group = "box", values = ["consumed"] }
"""


def overstory(folder: Path) -> Path:
    """Make a mail database with three messages in two threads; one is read."""
    path = folder / ".overstory" / "mail.db"
    path.parent.mkdir(parents=True)
    day = "2026-02-20T10:0"
    rows = [
        ("msg-1", "lead", "builder-1", "Build", "Please build.", "dispatch", "high", None, None, 1, f"{day}0:00.000Z"),
        ("msg-2", "builder-1", "lead", "Re: Build", "Done.", "done", "normal", "msg-1", "{}", 0, f"{day}5:00.000Z"),
        ("msg-3", "builder-1", "human", "Merge?", "May I?", "question", "normal", None, None, 0, f"{day}6:00.000Z"),
    ]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(
            "CREATE TABLE messages (id TEXT PRIMARY KEY, from_agent TEXT, to_agent TEXT, subject TEXT, body TEXT,"
            " type TEXT, priority TEXT, thread_id TEXT, payload TEXT, read INTEGER, created_at TEXT)"
        )
        connection.executemany(f"INSERT INTO messages VALUES ({', '.join('?' * 11)})", rows)
    return path


def hcom(folder: Path) -> Path:
    """Make an event log of which three events are messages, two of them of one labelled thread."""
    path = folder / "hcom.db"
    events: list[tuple[str, str, str, dict[str, Any]]] = [
        ("10:00", "message", "luna", {"from": "luna", "text": "Hi all", "delivered_to": ["nova", "kira"]}),
        ("10:01", "status", "nova", {"status": "active"}),
        ("10:02", "message", "nova", {"from": "nova", "text": "@luna hello", "delivered_to": ["luna"], "thread": "hi"}),
        ("10:03", "message", "kira", {"from": "kira", "text": "Me too", "delivered_to": ["luna"], "thread": "hi"}),
    ]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE events (id INTEGER PRIMARY KEY, timestamp, type, instance, data)")
        connection.execute("CREATE TABLE instances (name TEXT, status TEXT, status_context TEXT, status_time INTEGER)")
        connection.executemany(
            "INSERT INTO events (timestamp, type, instance, data) VALUES (?, ?, ?, ?)",
            [(f"2026-02-20T{at}:00+00:00", kind, who, json.dumps(data)) for at, kind, who, data in events],
        )
        connection.execute("INSERT INTO instances VALUES ('luna', 'active', 'reading mail', 1771581600)")
        connection.execute("INSERT INTO instances VALUES ('old', 'exited', '', 1771581000)")
    return path


def spool(folder: Path) -> Path:
    """Make a spool of two mailboxes with three messages; one is consumed."""
    for number, box in enumerate(("alpha/inbox", "alpha/consumed", "beta/processing"), 1):
        where = folder / "spool" / box
        where.mkdir(parents=True)
        times = {"ts": 1_771_581_600_000 + number * 1000, "expiresAt": 1_771_585_200_000 + number * 1000}
        record = {
            "msgId": f"m{number}",
            "to": box.partition("/")[0],
            "from": "gamma",
            **times,
            "text": f"No. {number}.",
        }
        (where / f"m{number}.json").write_text(json.dumps(record))
    return folder / "spool"


def write_lines(path: Path, records: Iterable[Any]) -> Path:
    """Write records as lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def mapped(folder: Path, mapping: str) -> Path:
    """Write a mapping file."""
    path = folder / "mapping.toml"
    path.write_text(mapping)
    return path


def read(path: Path) -> tuple[dict[str, Message], list[Event]]:
    """Return what a mapping gives: messages by id, and all events."""
    with open_store(path) as store:
        events = scanned(store)
    return {message.id: message for message in of(Message, events)}, events
