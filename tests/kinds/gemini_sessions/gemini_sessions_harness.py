"""Gemini's folder as its sessions treat it, for the conformance suite."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from mailstore.kinds.gemini_sessions.store import GeminiStore
from mailstore.store import Store
from tests.kinds.sessions_harness import NAMES, NamedSessions, SessionsHarness


class NamedChats(NamedSessions, GeminiStore):
    """Sessions and messages that go by the names that the suite gives them."""


class GeminiHarness(SessionsHarness):
    """Each recipient has a chat, to which what a subagent answered is appended."""

    store: ClassVar[type[Store]] = NamedChats
    place = ".gemini"
    broken = b'{"id":"7","type":"gemini","toolCalls":[ "agentId" broken\n'

    def transcript(self, name: str) -> Path:
        path = self.path / "tmp" / name / "chats" / f"{name}.jsonl"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(entry(sessionId=name, startTime="2026-03-16T14:00:00Z", directories=[f"/srv/{name}"]))
        return path

    def lines(self, fields: Mapping[str, Any]) -> tuple[Path, bytes]:
        sender, to = fields["sender"], fields.get("recipient", NAMES[0])
        self.transcript(sender)
        self.known("answered", to, fields, sender)
        result = [{"functionResponse": {"response": {"output": fields["content"]}}}]
        call = {"id": fields["id"], "timestamp": fields["timestamp"], "agentId": sender, "result": result}
        return self.transcript(to), entry(id="x", type="gemini", timestamp=fields["timestamp"], toolCalls=[call])


def entry(**fields: object) -> bytes:
    """Return a line of a chat."""
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass") + b"\n"
