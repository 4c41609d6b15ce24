"""Codex's folder as its threads treat it, for the conformance suite."""

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

from mailstore.kinds.codex_threads import sending
from mailstore.kinds.codex_threads.source import ThreadsSource
from mailstore.kinds.codex_threads.store import CodexStore
from mailstore.store import Store
from tests.kinds.sessions_harness import NamedSessions, SessionsHarness

QUEUE = """CREATE TABLE IF NOT EXISTS queued_items (
    id TEXT PRIMARY KEY NOT NULL, thread_id TEXT NOT NULL, payload_json TEXT NOT NULL, queue_order INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL, updated_at_ms INTEGER NOT NULL)"""


def thread_id(name: str) -> str:
    number = int.from_bytes(name.encode()[:6].ljust(6, b"x"), "big")
    return f"01a20000-0000-7000-8000-{number:012x}"


class NamedThreads(NamedSessions, CodexStore):
    """Threads and messages that go by the names that the suite gives them."""


class CodexHarness(SessionsHarness):
    """Each sender has a rollout, to which what it tells a subagent is appended; the queue is the program's."""

    store: ClassVar[type[Store]] = NamedThreads
    place = ".codex"
    broken = b'{"type":"event_msg","payload":{ "UserMessage" broken\n'

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(folder, monkeypatch)
        monkeypatch.setattr(sending, "why_not_sent", lambda: "")
        monkeypatch.setattr(sending, "_run", queue)
        monkeypatch.setattr(ThreadsSource, "session_of", lambda self, label: thread_id(label))

    def transcript(self, name: str) -> Path:
        path = self.path / "sessions" / "2026" / "03" / "16" / f"rollout-2026-03-16T14-00-00-{thread_id(name)}.jsonl"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            meta = {"id": thread_id(name), "agent_nickname": name, "timestamp": "2026-03-16T14:00:00Z", "cwd": "/srv"}
            path.write_bytes(line("session_meta", "2026-03-16T14:00:00Z", meta))
        return path

    def lines(self, fields: Mapping[str, Any]) -> tuple[Path, bytes]:
        sender, to = thread_id(fields["sender"]), thread_id(fields.get("recipient", "ann-00000001"))
        self.known("told", sender, fields, to)
        item = {"type": "CollabAgentToolCall", "tool": "send_input", "id": fields["id"], "prompt": fields["content"]}
        item |= {"sender_thread_id": sender, "receiver_thread_ids": [to]}
        data = line("event_msg", fields["timestamp"], {"type": "item_completed", "item": item})
        return self.transcript(fields["sender"]), data


def queue(home: Path, thread: str, text: str) -> str:
    """Queue a text as the program does; return the id of the row."""
    number = uuid4()
    content = [{"type": "text", "text": text, "text_elements": []}]
    payload = json.dumps({"UserInput": {"content": content, "client_id": f"client-{number}"}})
    now = int(time.time() * 1000)
    with closing(sqlite3.connect(home / "queue_1.sqlite")) as database, database:
        database.execute(QUEUE)
        database.execute("INSERT INTO queued_items VALUES (?, ?, ?, 0, ?, ?)", (f"{number}", thread, payload, now, now))
    return f"{number}"


def line(kind: str, timestamp: str, payload: Mapping[str, Any]) -> bytes:
    """Return a line of a rollout."""
    value = {"timestamp": timestamp, "type": kind, "payload": payload}
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass") + b"\n"
