"""A shared folder of channels as other programs treat it, for the conformance suite."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

from mailstore.conformance import Feature
from mailstore.kinds.channels.store import ChannelsStore
from mailstore.store import Store
from tests.mailstore.folder_harness import FolderHarness

CHANNEL = "ink-room"
START = "2026-03-16T12:00:00Z"


class ChannelsHarness(FolderHarness):
    """One channel to begin with; a message to a tag makes that of the tag's name."""

    store: ClassVar[type[Store]] = ChannelsStore
    cannot: ClassVar[Mapping[Feature, str]] = {
        Feature.NO_TIME: "a file's name tells the time",
        Feature.SUBJECT: "its messages have no subject",
        Feature.SEVERAL: "a message is for one agent, or for all in its channel",
        Feature.TTL: "its messages do not expire",
        Feature.RECORDS: "it keeps no such records",
        Feature.LOCK: "its writers take no lock",
    }

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0
        self._torn = (Path(), b"")

    @property
    def path(self) -> Path:
        return self._folder / "collab"

    def make(self) -> None:
        for name in (f"channels/{CHANNEL}", "signals/presence", "registry/agents", "sessions"):
            (self.path / name).mkdir(parents=True)

    def _file(self, fields: Mapping[str, Any]) -> tuple[Path, bytes]:
        """Return where a message belongs and what its file holds."""
        stamp = fields.get("timestamp", START)
        sender, to = str(fields["sender"]), fields["recipient"]
        is_tag = to.startswith("project:")
        channel = to.removeprefix("project:") if is_tag else CHANNEL
        self._count += 1
        name = f"msg-{datetime.fromisoformat(stamp):%Y%m%d-%H%M%S}-{sender}-{self._count:04x}.json"
        known = {"id", "sender", "recipient", "timestamp", "content", "subject", "thread", "type"}
        record = {
            "id": fields.get("id"),
            "timestamp": stamp,
            "session_id": channel,
            "from": sender,
            "to": "all" if is_tag else to,
            "type": fields.get("type", "chat"),
            "content": {"text": fields["content"], "code": None, "artifacts": []},
            "metadata": {"mode": "chat", "turn": sender, "in_reply_to": fields.get("thread")},
            **{name: value for name, value in fields.items() if name not in known},
        }
        data = json.dumps({name: value for name, value in record.items() if value is not None}, indent=2)
        return self.path / "channels" / channel / name, data.encode()

    def _put(self, path: Path, data: bytes) -> None:
        path.parent.mkdir(exist_ok=True)
        hidden = path.with_name(f".{path.name}.tmp")
        hidden.write_bytes(data)
        hidden.rename(path)

    def message(self, fields: Mapping[str, Any]) -> None:
        self._put(*self._file(fields))

    def agent(self, fields: Mapping[str, Any]) -> None:
        name = fields["session_id"]
        known = {"session_id", "status", "role", "tags", "name", "activity"}
        extra = {key: value for key, value in fields.items() if key not in known}
        entry = {"id": name, "status": "available", "role": fields["role"], **extra}
        self._put(self.path / "registry/agents" / f"{name}.json", json.dumps(entry).encode())
        state = "OFFLINE" if fields["status"] == "frozen" else "AWAKE"
        presence = {"agent_id": name, "state": state, "substate": "IDLE", "timestamp": START}
        self._put(self.path / "signals/presence" / f"{name}.json", json.dumps(presence).encode())
        for tag in fields["tags"]:
            channel = tag.removeprefix("project:")
            session = {"id": channel, "mode": "chat", "agents": ["human", name], "turn": None}
            self._put(self.path / "sessions" / f"{channel}.json", json.dumps(session).encode())

    def agent_fields(self, session_id: str) -> Mapping[str, Any]:
        fields: Mapping[str, Any] = json.loads((self.path / "registry/agents" / f"{session_id}.json").read_bytes())
        return fields

    def damage(self) -> None:
        path, _ = self._file({"sender": "bob", "recipient": "all", "content": ""})
        self._put(path, b'{"id": no JSON}')

    def tear(self, fields: Mapping[str, Any]) -> None:
        path, data = self._file(fields)
        path.write_bytes(data[:40])
        self._torn = (path, data[40:])

    def repair(self) -> None:
        path, missing = self._torn
        with path.open("ab") as file:
            file.write(missing)

    def replace(self, *messages: Mapping[str, Any]) -> None:
        channels = self.path / "channels"
        channels.rename(self._folder / "old")
        new = self._folder / "new"
        (new / CHANNEL).mkdir(parents=True)
        for fields in messages:
            path, data = self._file(fields)
            (new / path.relative_to(channels)).write_bytes(data)
        new.rename(channels)

    def snapshot(self) -> Mapping[str, tuple[bytes, int]]:
        found = {}
        for folder, _, names in os.walk(self.path):
            for path in (Path(folder), *(Path(folder) / name for name in names)):
                found[str(path)] = (path.read_bytes() if path.is_file() else b"", path.stat().st_mtime_ns)
        return found
