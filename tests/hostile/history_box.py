"""A mailbox of a random history, in files, in memory or on a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from mailstore.errors import MailError
from mailstore.haak import HaakStore
from mailstore.kinds.nats.store import NatsStore
from mailstore.memory import MemoryStore
from mailstore.memory.store import Records
from mailstore.records.roster import Agent
from mailstore.store import Store
from mailstore.transfer.compare import Contents
from mailstore.transfer.messages import adopted_message


class HistoryBox:
    """A mailbox as programs write to it."""

    def __init__(self, name: str, folder: Path, kind: str, skew: float) -> None:
        self.name, self.kind, self.skew = name, kind, skew
        self.folder = folder / name / "data"
        self.records = Records()
        self.messages: dict[str, str] = {}
        self.is_cut_off = False
        self.agents: list[dict[str, Any]] = []
        if kind.startswith("nats"):
            NatsStore.create(kind.removeprefix("nats:")).close()
        elif kind != "memory":
            self.folder.mkdir(parents=True)
            (self.folder / "agent-mailbox.jsonl").touch()
            self._roster.write_text("" if kind == "haak" else "[]")

    @property
    def _roster(self) -> Path:
        return self.folder / ("agent-roster.jsonl" if self.kind == "haak" else "agent-roster.json")

    @property
    def url(self) -> str:
        if self.kind.startswith("nats"):
            return self.kind
        return f"memory:/{self.name}" if self.kind == "memory" else f"haak:{self.folder}/agent-mailbox.jsonl"

    def open(self) -> Store:
        if self.is_cut_off:
            raise MailError("cut off", "wait")
        if self.kind.startswith("nats"):
            return NatsStore.open(self.kind.removeprefix("nats:"))
        return MemoryStore(records=self.records) if self.kind == "memory" else HaakStore.open(self.folder)

    def _put(self, name: str, line: str) -> None:
        with (self.folder / name).open("a") as file:
            file.write(line + "\n")

    def message(self, fields: dict[str, Any]) -> None:
        self.messages[fields["id"]] = fields["content"]
        if self.kind == "memory":
            MemoryStore(records=self.records).append(fields)
        elif self.kind.startswith("nats"):
            one = MemoryStore()
            one.append(fields)
            (message,) = Contents(one).messages.values()
            mail_item = adopted_message(message, fields["content"], fields, HaakStore.known_fields)
            with NatsStore.open(self.kind.removeprefix("nats:")) as store:
                store.merge([mail_item])
        else:
            self._put("agent-mailbox.jsonl", json.dumps(fields))

    def read(self, message_id: str, reader: str) -> None:
        with self.open() as store:
            store.mark_read(reader, [message_id])

    def agent(self, **fields: Any) -> None:
        with self.open() as store:
            kept = next((each for each in Contents(store).lines[::-1] if each.session_id == fields["session_id"]), None)
        agent = Agent(**fields) if kept is None else replace(kept, **fields)
        with self.open() as store:
            store.update_agent(agent)

    def damage(self) -> None:
        if self.kind == "memory":
            MemoryStore(records=self.records).append("{torn")
        elif self.kind == "haak" or self.kind == "document":
            self._put("agent-mailbox.jsonl", '{"id": "torn", "sender": "x"')

    def contents(self) -> tuple[Contents, dict[str, str]]:
        with self.open() as store:
            found = Contents(store)
            return found, {name: store.content(message) for name, message in found.messages.items()}
