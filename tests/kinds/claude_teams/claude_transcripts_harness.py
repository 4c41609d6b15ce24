"""A team whose messages are in the transcripts of its sessions only, for the conformance suite."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

import pytest

from mailstore.conformance import Feature
from tests.kinds.claude_teams.claude_teams_harness import MEMBERS, ClaudeTeamsHarness

LEAD = "0123abcd-0000-4000-8000-000000000001"


class ClaudeTranscriptsHarness(ClaudeTeamsHarness):
    """What its program put into inboxes was delivered at once; its tools' results in the lead's transcript are left."""

    cannot: ClassVar[Mapping[Feature, str]] = {
        **{name: why for name, why in ClaudeTeamsHarness.cannot.items() if name is not Feature.TEAR},
        Feature.TYPE: "a tool's result does not say the type of the entry",
        Feature.OTHER: "of a line only the message is shown",
        Feature.VERBATIM: "of a line only the message is shown",
        Feature.REMOVE: "what transcripts tell of agents comes after the roster when they are read for the first time",
    }

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(folder, monkeypatch)
        self._numbers = count(1)
        self._rest = b""

    @property
    def transcript(self) -> Path:
        return self._folder / "projects" / "-home-ann" / f"{LEAD}.jsonl"

    def make(self) -> None:
        super().make()
        self.transcript.parent.mkdir(parents=True)
        config = json.loads((self.path / "config.json").read_text())
        self._write_config({**config, "leadSessionId": LEAD})

    def _line(self, fields: Mapping[str, Any]) -> bytes:
        to = fields.get("recipient", MEMBERS[0])
        content, summary = fields["content"], fields.get("subject", "")
        routing = {"sender": fields["sender"], "target": "@team", "summary": summary, "content": content}
        done = {"success": True, "routing": routing, "recipients": [to] if isinstance(to, str) else list(to)}
        given = {"role": "user", "content": [{"type": "tool_result", "content": "sent"}]}
        known = {"id", "sender", "recipient", "timestamp", "content", "subject", "type"}
        line = {
            "type": "user",
            "uuid": f"{next(self._numbers)}",
            "timestamp": fields["timestamp"],
            "message": given,
            "toolUseResult": {**done, **({"msg_id": fields["id"]} if "id" in fields else {})},
            **{name: value for name, value in fields.items() if name not in known},
        }
        return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

    def message(self, fields: Mapping[str, Any]) -> None:
        with self.transcript.open("ab") as file:
            file.write(self._line(fields))

    def tear(self, fields: Mapping[str, Any]) -> None:
        line = self._line(fields)
        self._rest = line[len(line) // 2 :]
        with self.transcript.open("ab") as file:
            file.write(line[: len(line) // 2])

    def repair(self) -> None:
        with self.transcript.open("ab") as file:
            file.write(self._rest)

    def damage(self) -> None:
        with self.transcript.open("ab") as file:
            file.write(b'{"type":"user","routing":{ teammate\n')

    def snapshot(self) -> Mapping[str, tuple[bytes, int]]:
        own = (path for path in (self._folder / "projects").rglob("*") if path.is_file())
        return {
            **super().snapshot(),
            **{str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in own},
        }
