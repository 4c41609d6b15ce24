"""What the program hcom does to its database, as far as the tests need it: called directly, or run as a program."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

SCHEMA = """
PRAGMA journal_mode = wal;
CREATE TABLE events (id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp TEXT NOT NULL, type TEXT NOT NULL,
    instance TEXT NOT NULL, data TEXT NOT NULL);
CREATE TABLE instances (name TEXT PRIMARY KEY, session_id TEXT UNIQUE, parent_name TEXT, tag TEXT,
    last_event_id INTEGER DEFAULT 0, status TEXT DEFAULT 'active', status_time INTEGER DEFAULT 0,
    last_seen INTEGER DEFAULT 0, status_context TEXT DEFAULT '', status_detail TEXT DEFAULT '',
    last_stop INTEGER DEFAULT 0, directory TEXT, created_at REAL NOT NULL, origin_device_id TEXT DEFAULT '',
    tool TEXT DEFAULT 'claude');
CREATE TABLE kv (key TEXT PRIMARY KEY, value TEXT);
CREATE INDEX idx_type ON events(type);
"""
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x80-\x9f]")
LATE = 1_771_581_600.0


class Answer(NamedTuple):
    """How the program ended, and what it said."""

    status: int
    out: str = ""
    err: str = ""


class HcomLog:
    """Writes to the database; the connection is held as the program's daemon holds it."""

    schema: ClassVar[str] = SCHEMA

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None

    def make(self) -> None:
        """Make an empty database."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._opened().executescript(self.schema)

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = sqlite3.connect(self.path, timeout=30, check_same_thread=False, isolation_level=None)
            self._connection.execute("PRAGMA synchronous = OFF")
        return self._connection

    def close(self) -> None:
        """End the program."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def do(self, statement: str, *values: Any) -> int:
        """Run a statement; return the number of the row that it inserted."""
        return self._opened().execute(statement, values).lastrowid or 0

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return what a query finds."""
        return self._opened().execute(statement, values).fetchall()

    def event(self, kind: str, instance: str, data: Mapping[str, Any] | str, timestamp: str = "") -> int:
        """Append an event; return its number."""
        written = timestamp or datetime.now(UTC).isoformat()
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, sort_keys=True)
        words = "INSERT INTO events (timestamp, type, instance, data) VALUES (?, ?, ?, ?)"
        return self.do(words, written, kind, instance, text)

    def start(self, name: str, tag: str | None = None, **more: Any) -> None:
        """Connect an agent; one that is connected is changed."""
        [(last,)] = self.rows("SELECT coalesce(max(id), 0) FROM events")
        if not self.rows("SELECT 1 FROM instances WHERE name = ?", name):
            words = (
                "INSERT INTO instances (name, tag, last_event_id, created_at, status_context) VALUES (?, ?, ?, ?, ?)"
            )
            self.do(words, name, tag, last, LATE, "new")
            self.event("life", name, {"action": "created", "by": "unknown"})
        for column, value in more.items():
            self.do(f"UPDATE instances SET {column} = ? WHERE name = ?", value, name)

    def message(self, sender: str, to: Sequence[str], text: str, *, timestamp: str = "", **more: Any) -> int:
        """Append a message; `to` are the names that it is delivered to, or `all`."""
        if list(to) == ["all"]:
            names = [name for (name,) in self.rows("SELECT name FROM instances WHERE name <> ?", sender)]
            route: dict[str, Any] = {"scope": "broadcast", "delivered_to": names}
        else:
            reached = [name for name in to if name != "bigboss"]
            route = {"scope": "mentions", "delivered_to": reached, "mentions": list(to)}
        is_external = sender in ("bigboss", "ci")
        kind, instance = ("external", f"ext_{sender}") if is_external else ("instance", sender)
        given = {"from": sender, "text": text, "sender_kind": kind, **route, **more}
        return self.event("message", instance, given, timestamp)

    def listen(self, name: str, position: int | None = None) -> None:
        """Move an agent to the end of the log, or to a position, as when it has read what was there."""
        if position is None:
            [(position,)] = self.rows("SELECT max(id) FROM events WHERE type = 'message'")
        self.do("UPDATE instances SET last_event_id = ? WHERE name = ?", position, name)
        self.event("status", name, {"context": "message received", "position": position, "status": "inactive"})

    def stop(self, name: str) -> None:
        """Disconnect an agent."""
        [(last, tag)] = self.rows("SELECT last_event_id, tag FROM instances WHERE name = ?", name)
        snapshot = {"name": name, "tag": tag, "last_event_id": last, "created_at": LATE, "tool": "claude"}
        self.do("DELETE FROM instances WHERE name = ?", name)
        self.event("life", name, {"action": "stopped", "by": "cli", "reason": "external", "snapshot": snapshot})


def send(folder: Path, words: Sequence[str], text: str) -> Answer:
    """Do what `hcom send` does with a text as its input."""
    rest = list(words)
    assert rest[:3] == ["send", "-b", "--json"], rest
    del rest[:3]
    to = [rest.pop(0).removeprefix("@") for word in list(rest) if word.startswith("@")]
    options = dict(zip(rest[::2], rest[1::2], strict=True))
    if not text.strip():
        return Answer(1, err="Error: No input received on stdin\n")
    if CONTROLS.search(text):
        return Answer(1, err="Error: Message contains control characters\n")
    log = HcomLog(folder / "hcom.db")
    known = {name for (name,) in log.rows("SELECT name FROM instances")}
    if strangers := [name for name in to if name not in known]:
        log.close()
        return Answer(1, err=f"Error: No active agent for @{strangers[0]}\nAvailable: {', '.join(known)}\n")
    more: dict[str, Any] = {}
    if intent := options.pop("--intent", None):
        more["intent"] = intent
    if answered := options.pop("--reply-to", None):
        more |= {"reply_to": answered, "reply_to_local": int(answered)}
    if label := options.pop("--thread", None):
        more["thread"] = label
    assert not options, options
    number = log.message("bigboss", to, text, **more)
    log.close()
    return Answer(0, f'{{"delivered_to":{json.dumps(to)},"event_id":{number}}}\n')


def install(folder: Path) -> None:
    """Put a program `hcom` into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "hcom"
    root = Path(__file__).parents[2]
    start = f"import sys\nsys.path.insert(0, {str(root)!r})\nfrom tests.servers.hcom_program import main\nmain()\n"
    program.write_text(f"#!{sys.executable}\n{start}")
    program.chmod(0o755)


def main() -> None:
    """Run as the program."""
    leaked = sorted(name for name in os.environ if name.startswith("HCOM_") and name != "HCOM_DIR")
    if leaked:
        done = Answer(1, err=f"Error: taken for an agent by {leaked}\n")
    else:
        done = send(Path(os.environ["HCOM_DIR"]), sys.argv[1:], sys.stdin.buffer.read().decode())
    sys.stdout.write(done.out)
    sys.stderr.write(done.err)
    sys.exit(done.status)


if __name__ == "__main__":
    with closing(sys.stdout):
        main()
