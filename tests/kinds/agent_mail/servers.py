"""MCP Agent Mail's database as its server writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tests.mailstore.owners import Database

SCHEMA = """
PRAGMA journal_mode = wal;
CREATE TABLE projects (id INTEGER NOT NULL PRIMARY KEY, slug VARCHAR(255) NOT NULL, human_key VARCHAR(255) NOT NULL,
    created_at DATETIME NOT NULL, archived_at DATETIME);
CREATE TABLE agents (id INTEGER NOT NULL PRIMARY KEY, project_id INTEGER NOT NULL, name VARCHAR(128) NOT NULL,
    program VARCHAR(128) NOT NULL, model VARCHAR(128) NOT NULL, task_description VARCHAR(2048) NOT NULL,
    inception_ts DATETIME NOT NULL, last_active_ts DATETIME NOT NULL, contact_policy VARCHAR(16) NOT NULL,
    retired_at DATETIME, UNIQUE (project_id, name));
CREATE TABLE messages (id INTEGER NOT NULL PRIMARY KEY, project_id INTEGER NOT NULL, sender_id INTEGER NOT NULL,
    thread_id VARCHAR(128), topic VARCHAR(64), subject VARCHAR(512) NOT NULL, body_md VARCHAR NOT NULL,
    importance VARCHAR(16) NOT NULL, ack_required BOOLEAN NOT NULL, created_ts DATETIME NOT NULL,
    attachments JSON DEFAULT '[]' NOT NULL);
CREATE TABLE message_recipients (message_id INTEGER NOT NULL, agent_id INTEGER NOT NULL, kind VARCHAR(8) NOT NULL,
    read_ts DATETIME, ack_ts DATETIME, PRIMARY KEY (message_id, agent_id));
CREATE TABLE file_reservations (id INTEGER NOT NULL PRIMARY KEY, project_id INTEGER NOT NULL, agent_id INTEGER NOT NULL,
    path_pattern VARCHAR(512) NOT NULL, "exclusive" BOOLEAN NOT NULL, reason VARCHAR(512) NOT NULL,
    created_ts DATETIME NOT NULL, expires_ts DATETIME NOT NULL, released_ts DATETIME);
CREATE INDEX ix_messages_thread_id ON messages (thread_id);
"""
AT = "2026-03-16 12:00:00.000000"


class Server(Database):
    """Writes to a database; each deed is a transaction of its own, unless several are done `at_once`."""

    schema: ClassVar[str] = SCHEMA

    def _add(self, table: str, values: Mapping[str, Any]) -> int:
        names, marks = ", ".join(f'"{name}"' for name in values), ", ".join("?" * len(values))
        return self.do(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(values.values()))

    def project(self, slug: str = "backend") -> int:
        """Return a project's number; it is made where it is missing."""
        return self._found("projects", "slug = ?", (slug,)) or self._add(
            "projects", {"slug": slug, "human_key": f"/srv/{slug}", "created_at": AT}
        )

    def agent(self, name: str, project: str = "backend", **more: Any) -> int:
        """Return an agent's number; it is made where it is missing, and changed where more is said of it."""
        place = self.project(project)
        agent = self._found("agents", "name = ? AND project_id = ?", (name, place)) or self._add(
            "agents",
            {
                "project_id": place,
                "name": name,
                "program": "codex",
                "model": "gpt",
                "task_description": "",
                "inception_ts": AT,
                "last_active_ts": AT,
                "contact_policy": "open",
            },
        )
        for column, value in more.items():
            self.do(f"UPDATE agents SET {column} = ? WHERE id = ?", (value, agent))
        return agent

    def _found(self, table: str, condition: str, values: Sequence[Any]) -> int:
        with self.at_once() as connection:
            row = connection.execute(f"SELECT id FROM {table} WHERE {condition}", values).fetchone()
        return row[0] if row else 0

    def message(
        self, sender: str, to: Sequence[str], *, project: str = "backend", cc: Sequence[str] = (), **more: Any
    ) -> int:
        """Write a message and a row for each of its recipients; return its number."""
        with self.at_once():
            message = self._add(
                "messages",
                {
                    "project_id": self.project(project),
                    "sender_id": self.agent(sender, project),
                    "subject": "",
                    "body_md": "",
                    "importance": "normal",
                    "ack_required": 0,
                    "created_ts": AT,
                    **more,
                },
            )
            for kind, names in (("to", to), ("cc", cc)):
                for name in names:
                    agent = self.agent(name, project)
                    self._add("message_recipients", {"message_id": message, "agent_id": agent, "kind": kind})
        return message

    def mark(self, message: int, name: str, *, read: str | None = None, acknowledged: str | None = None) -> None:
        """Record that an agent has read a message, or acknowledged it."""
        for column, at in (("read_ts", read), ("ack_ts", acknowledged)):
            if at is not None:
                self.do(
                    f"UPDATE message_recipients SET {column} = ? WHERE message_id = ? AND agent_id = ?",
                    (at, message, self.agent(name)),
                )

    def reserve(self, name: str, pattern: str, until: str, released: str | None = None) -> None:
        """Let an agent reserve files."""
        place = {"project_id": self.project(), "agent_id": self.agent(name), "path_pattern": pattern, "exclusive": 1}
        times = {"created_ts": AT, "expires_ts": until, "released_ts": released}
        self._add("file_reservations", {**place, "reason": "", **times})
