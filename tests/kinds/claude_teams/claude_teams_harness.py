"""A team's folder as its own program treats it, for the conformance suite."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from mailstore.conformance import Feature
from mailstore.kinds.claude_teams import writer
from mailstore.kinds.claude_teams.store import ClaudeTeamsStore
from mailstore.kit import lock_files
from mailstore.store import Store
from tests.mailstore.folder_harness import FolderHarness

MEMBERS = ("ann-00000001", "bob-00000001", "cyd-00000001")
NAMES = {"sender": "from", "content": "text", "id": "msg_id", "subject": "summary"}


class ClaudeTeamsHarness(FolderHarness):
    """One team with three members; its mail is written at the end of an array, the rest of which stays."""

    store: ClassVar[type[Store]] = ClaudeTeamsStore
    cannot: ClassVar[Mapping[Feature, str]] = {
        Feature.NO_TIME: "its program deletes an entry without a time",
        Feature.TEAR: "its program puts an inbox in place whole",
        Feature.REPLACE: "what leaves an inbox was delivered: it stays in what was seen",
        Feature.LOSE: "what was seen is kept in a journal",
        Feature.EXTRA: "its own program alone writes the roster",
        Feature.RECORDS: "it records neither reads nor what a person did",
        Feature.TAGS: "it knows no tags",
        Feature.FREEZE: "its agents are not frozen",
        Feature.THREAD: "its messages name no other message",
        Feature.TTL: "its mail does not expire",
    }

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._monkeypatch = monkeypatch
        monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))

    @property
    def writer(self) -> str:
        return "user"

    @property
    def path(self) -> Path:
        return self._folder / "teams" / "ink"

    @property
    def inboxes(self) -> Path:
        return self.path / "inboxes"

    def make(self) -> None:
        self.inboxes.mkdir(parents=True)
        members = [{"agentId": f"{name}@ink", "name": name, "agentType": "general-purpose"} for name in MEMBERS]
        self._write_config({"name": "ink", "leadAgentId": f"{MEMBERS[0]}@ink", "members": members})

    def _write_config(self, value: Mapping[str, Any]) -> None:
        new = self.path / "config.json.new"
        new.write_text(json.dumps(value, indent=2))
        new.replace(self.path / "config.json")

    def message(self, fields: Mapping[str, Any]) -> None:
        recipient = fields.get("recipient", MEMBERS[0])
        entry = {NAMES.get(name, name): value for name, value in fields.items() if name != "recipient"}
        for name in [recipient] if isinstance(recipient, str) else recipient:
            self.append(name, json.dumps({**entry, "read": False}, indent=2, ensure_ascii=False))

    def append(self, name: str, entry: str) -> None:
        """Write an element at the end of an inbox."""
        path = self.inboxes / f"{name}.json"
        data = entry.replace("\n", "\n  ").encode() + b"\n]"
        if not path.exists():
            path.write_bytes(b"[\n  " + data)
            return
        with path.open("r+b") as file:
            file.seek(-2, 2)
            file.write(b",\n  " + data)

    def agent(self, fields: Mapping[str, Any]) -> None:
        config = json.loads((self.path / "config.json").read_text())
        others = [each for each in config["members"] if each["name"] != fields["session_id"]]
        named = {"name": fields["session_id"], "agentType": fields.get("role") or "general-purpose"}
        self._write_config({**config, "members": [*others, named]})

    def damage(self) -> None:
        self.append(MEMBERS[0], '{"text": "from nobody"}')

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold every inbox's lock; a clock of which each look takes a second ends all patience."""
        ticks = count()
        clock = SimpleNamespace(monotonic=ticks.__next__, sleep=lambda _: None, time=lambda: 0.0)
        self._monkeypatch.setattr(writer, "time", clock)
        self._monkeypatch.setattr(lock_files, "time", clock)
        held = [path.with_name(f"{path.name}.lock") for path in self.inboxes.glob("*.json")]
        for path in held:
            path.mkdir()
        try:
            yield
        finally:
            for path in held:
                path.rmdir()

    def snapshot(self) -> Mapping[str, tuple[bytes, int]]:
        files = (path for path in self.path.rglob("*") if path.is_file())
        return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}
