"""The mailbox of an Agenties project as its owner treats it, for the conformance suite."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from mailstore.conformance import Feature
from mailstore.kinds.agenties.store import AgentiesStore
from mailstore.store import Store
from tests.mailstore.folder_harness import FolderHarness

NAMES = {"sender": "from", "recipient": "to", "timestamp": "createdAt", "content": "body"}


def spoken(name: str) -> str:
    """Return an address as the system writes it."""
    if name == "all":
        return "broadcast"
    return f"agent:{name}" if name.endswith("-00000001") else name if name == "user" else f"role:{name}"


class AgentiesHarness(FolderHarness):
    """A project with its log, and a team beside it."""

    store: ClassVar[type[Store]] = AgentiesStore
    cannot: ClassVar[Mapping[Feature, str]] = {
        Feature.SAME_ID: "lines of one id are one message, of which the last line holds",
        Feature.RECORDS: "who has read a message is a flag of it",
        Feature.TAGS: "it has no channels",
        Feature.FREEZE: "nothing tells that an agent is frozen",
        Feature.SEVERAL: "a message has one recipient",
        Feature.THREAD: "its messages do not say what they answer",
        Feature.TTL: "its messages do not expire",
    }

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._missing = b""
        self._members: dict[str, dict[str, Any]] = {}

    @property
    def path(self) -> Path:
        return self._folder / "project"

    @property
    def mailbox(self) -> Path:
        return self.path / ".agenties" / "mailbox.jsonl"

    def make(self) -> None:
        (self.path / ".agenties/shared").mkdir(parents=True)
        self.mailbox.touch()

    def _line(self, fields: Mapping[str, Any]) -> bytes:
        record = {NAMES.get(name, name): value for name, value in fields.items()}
        record = {"type": "custom", "read": False, **record, "to": spoken(record["to"]), "from": spoken(record["from"])}
        return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

    def _append(self, data: bytes) -> None:
        with self.mailbox.open("ab") as file:
            file.write(data)

    def message(self, fields: Mapping[str, Any]) -> None:
        self._append(self._line(fields))

    def agent(self, fields: Mapping[str, Any]) -> None:
        name = fields["session_id"]
        self._members[name] = {"id": name, "name": name, "role": fields["role"]}
        new = self.path / ".agenties/shared/new"
        new.write_text(json.dumps({"members": list(self._members.values())}))
        new.replace(self.path / ".agenties/shared/team.json")

    def damage(self) -> None:
        self._append(b'{"id": "cut", "from": "agent:bob\n')

    def tear(self, fields: Mapping[str, Any]) -> None:
        line = self._line(fields)
        self._append(line[:40])
        self._missing = line[40:]

    def repair(self) -> None:
        self._append(self._missing)

    def replace(self, *messages: Mapping[str, Any]) -> None:
        new = self.mailbox.with_name("new")
        new.write_bytes(b"".join(map(self._line, messages)))
        new.replace(self.mailbox)

    def snapshot(self) -> Mapping[str, tuple[bytes, int]]:
        return {
            str(path): (path.read_bytes() if path.is_file() else b"", path.stat().st_mtime_ns)
            for path in (self.path, *self.path.rglob("*"))
        }
