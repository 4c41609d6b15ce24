"""Transcripts made for tests, line by line as the program writes them."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any

ID = "0123abcd-0000-4000-8000-000000000001"


def block(sender: str, text: str, more: str = "") -> str:
    return f'<teammate-message teammate_id="{sender}"{more}>\n{text}\n</teammate-message>'


class Session:
    """A lead's session with one teammate, `ann`, of the team `session-0123abcd`."""

    def __init__(self, claude: Path) -> None:
        self.team = claude / "teams" / "session-0123abcd"
        self.main = claude / "projects" / "-home-ann" / f"{ID}.jsonl"
        self.ann = self.main.with_suffix("") / "subagents" / "agent-aann-1.jsonl"
        self.ann.parent.mkdir(parents=True)
        meta = {"agentType": "ann", "name": "ann", "spawnDepth": 0, "teamName": "session-0123abcd"}
        self.ann.with_suffix(".meta.json").write_text(json.dumps(meta))
        self._numbers = count(1)
        self.spawned()

    def line(self, path: Path, kind: str, **more: Any) -> str:
        """Append a line; return it."""
        number = next(self._numbers)
        head = {"parentUuid": None, "isSidechain": path == self.ann, "type": kind, "uuid": f"u-{number}"}
        time = {"timestamp": f"2026-03-16T12:{number // 60:02}:{number % 60:02}.000Z", "sessionId": ID}
        text = json.dumps({**head, **more, **time}, separators=(",", ":")) + "\n"
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
        return text

    def spawned(self) -> None:
        result = {"status": "teammate_spawned", "prompt": "Begin.", "name": "ann", "agent_type": "worker"}
        self.result(self.main, {**result, "team_name": "session-0123abcd"})

    def result(self, path: Path, result: Any, text: str = "done") -> str:
        content = [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": text}]}]
        return self.line(path, "user", message={"role": "user", "content": content}, toolUseResult=result)

    def sent(self, path: Path, sender: str, to: str, text: str, **more: Any) -> str:
        routing = {"sender": sender, "target": f"@{to}", "summary": text[:20], "content": text}
        return self.result(
            path, {"success": True, "message": f"Message sent to {to}'s inbox", "routing": routing, **more}
        )

    def turn(self, path: Path, content: Any, **more: Any) -> str:
        return self.line(path, "user", message={"role": "user", "content": content}, **more)

    def answer(self, path: Path, *content: Any, **more: Any) -> str:
        return self.line(path, "assistant", message={"role": "assistant", "content": list(content)}, **more)
