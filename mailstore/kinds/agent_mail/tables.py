"""Queries for messages, threads and recipients in MCP Agent Mail's database (docs/formats/agent-mail.md#database)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from mailstore.kinds.agent_mail.decode import AgentMailRow, RecipientRow
from mailstore.kit.tables import columns, in_parts, text_of

COLUMNS = (
    *("id", "project_id", "sender_id", "thread_id", "topic"),
    *("subject", "body_md", "importance", "ack_required", "created_ts", "attachments"),
)
LONGEST_ID = 19
Thread = tuple[object, str]
"""A project, and the label of a thread in it."""


class Sums(NamedTuple):
    """Counts that change with every message or recipient, unless one replaces another."""

    messages: int = 0
    last: int = 0
    recipients: int = 0
    read: int = 0
    acknowledged: int = 0
    last_read: str = ""
    last_acknowledged: str = ""


def sums(mail: sqlite3.Connection) -> Sums:
    """Return the counts and newest times."""
    [(messages, last)] = mail.execute("SELECT count(*), max(id) FROM messages")
    [(count, read, acknowledged, last_read, last_acknowledged)] = mail.execute(
        "SELECT count(*), count(read_ts), count(ack_ts), max(read_ts), max(ack_ts) FROM message_recipients"
    )
    lasts = text_of(last_read), text_of(last_acknowledged)
    return Sums(messages, last or 0, count, read, acknowledged, *lasts)


def messages(mail: sqlite3.Connection, *, before: int, limit: int) -> list[AgentMailRow]:
    """Return up to `limit` messages with smaller numbers, newest first."""
    asked = mail.execute(
        f"SELECT {columns(mail, 'messages', *COLUMNS)} FROM messages WHERE id < ? ORDER BY id DESC LIMIT ?",  # noqa: S608
        (before, limit),
    )
    return [AgentMailRow(*row) for row in asked]


def some_messages(mail: sqlite3.Connection, ids: Iterable[int]) -> list[AgentMailRow]:
    wanted = columns(mail, "messages", *COLUMNS)
    return [
        AgentMailRow(*row)
        for marks, part in in_parts(ids)
        for row in mail.execute(f"SELECT {wanted} FROM messages WHERE id IN ({marks})", part)  # noqa: S608
    ]


def recipients(mail: sqlite3.Connection, ids: Iterable[int]) -> dict[int, list[RecipientRow]]:
    rows: dict[int, list[RecipientRow]] = {}
    for marks, part in in_parts(ids):
        asked = mail.execute(
            "SELECT message_id, agent_id, kind, read_ts, ack_ts FROM message_recipients "  # noqa: S608
            f"WHERE message_id IN ({marks}) ORDER BY rowid",
            part,
        )
        for message, *rest in asked:
            rows.setdefault(message, []).append(RecipientRow(*rest))
    return rows


def changed(mail: sqlite3.Connection, since: Sums, now: Sums) -> set[int]:
    """Return the messages that are new, and those that were read or acknowledged since."""
    new = {message for (message,) in mail.execute("SELECT id FROM messages WHERE id > ?", (since.last,))}
    if since[3:] == now[3:]:
        return new
    asked = mail.execute(
        "SELECT message_id FROM message_recipients WHERE message_id > ? OR read_ts >= ? OR ack_ts >= ?",
        (since.last, since.last_read, since.last_acknowledged),
    )
    return new.union(message for (message,) in asked)


def firsts(mail: sqlite3.Connection) -> dict[Thread, int]:
    """Return the first message of each thread: the one whose id the label is, else the oldest with it."""
    asked = mail.execute(
        "SELECT one.project_id, one.thread_id, coalesce(root.id, min(one.id)) FROM messages AS one "
        "LEFT JOIN messages AS root ON root.id = CAST(one.thread_id AS INTEGER) "
        "AND CAST(root.id AS TEXT) = one.thread_id AND root.project_id = one.project_id "
        "WHERE one.thread_id IS NOT NULL AND one.thread_id != '' GROUP BY one.project_id, one.thread_id"
    )
    return {(project, text_of(label)): first for project, label, first in asked}


def first(mail: sqlite3.Connection, project: object, label: str) -> int | None:
    """Return the first message of a thread, as `firsts` does."""
    if exists(mail, project, label):
        return int(label)
    asked = mail.execute("SELECT min(id) FROM messages WHERE project_id = ? AND thread_id = ?", (project, label))
    [(value,)] = asked
    return None if value is None else int(value)


def exists(mail: sqlite3.Connection, project: object, label: str) -> bool:
    """Say whether a label is the id of a message of the same project."""
    if not (len(label) < LONGEST_ID and label.isascii() and label.isdecimal() and label == str(int(label))):
        return False
    asked = mail.execute("SELECT 1 FROM messages WHERE id = ? AND project_id = ?", (int(label), project))
    return asked.fetchone() is not None


def time_before(mail: sqlite3.Connection, message: int) -> Iterator[str]:
    """Yield when the messages before one were written, the last first."""
    asked = mail.execute("SELECT created_ts FROM messages WHERE id < ? ORDER BY id DESC LIMIT 100", (message,))
    for (created,) in asked:
        yield text_of(created)
