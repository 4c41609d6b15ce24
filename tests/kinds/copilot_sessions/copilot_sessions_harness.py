"""Copilot's folder as its sessions treat it, for the conformance suite."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from mailstore.kinds.copilot_sessions.store import CopilotStore
from mailstore.store import Store
from tests.kinds.sessions_harness import NAMES, NamedSessions, SessionsHarness


class NamedCopilot(NamedSessions, CopilotStore):
    """Sessions and messages that go by the names that the suite gives them."""


class CopilotHarness(SessionsHarness):
    """Each sender has its events, to which what it writes to another agent is appended."""

    store: ClassVar[type[Store]] = NamedCopilot
    place = ".copilot"
    broken = b'{"type":"tool.execution_start","data":{ "write_agent" broken\n'

    def transcript(self, name: str) -> Path:
        path = self.path / "session-state" / name / "events.jsonl"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(event("session.start", "2026-03-16T14:00:00Z", {"context": {"cwd": f"/srv/{name}"}}))
        return path

    def lines(self, fields: Mapping[str, Any]) -> tuple[Path, bytes]:
        sender, to, call = fields["sender"], fields.get("recipient", NAMES[0]), {"toolCallId": fields["id"]}
        self.known("told", sender, fields, to)
        given = {"agent_id": to, "message": fields["content"]}
        start = {**call, "toolName": "write_agent", "arguments": given}
        began = event("tool.execution_start", fields["timestamp"], start)
        telemetry = {"properties": {"agent_id": to}}
        done = event(
            "tool.execution_complete", fields["timestamp"], {**call, "success": True, "toolTelemetry": telemetry}
        )
        return self.transcript(sender), began + done


def event(kind: str, timestamp: str, data: Mapping[str, Any], agent: str = "") -> bytes:
    """Return a line of a session's events, of itself or of one of its agents."""
    value = {"type": kind, "data": data, **({"agentId": agent} if agent else {}), "timestamp": timestamp}
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass") + b"\n"
