"""A Memory Core's graph as its own program treats it, for the conformance suite."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import msgspec
import pytest

from mailstore.conformance import Feature
from mailstore.kinds.neo import writer
from mailstore.kinds.neo.store import NeoStore
from mailstore.kit import lock_files
from mailstore.records.draft import Draft
from mailstore.records.events import Event
from mailstore.records.message import Delivery, Message, Receipt
from mailstore.records.roster import Agent
from mailstore.store import Store
from tests.mailstore.folder_harness import FolderHarness
from tests.mailstore.graphs import Graph

BENCHED = {"frozen": "operator_benched", "living": "active"}


class Unsigned(NeoStore):
    """A graph whose identities go by their names without the sign, as the suite calls them."""

    def _hand_out(self) -> list[Event]:
        return [unsigned(event) for event in super()._hand_out()]

    def write_message(self, draft: Draft) -> Message:
        sent = unsigned(super().write_message(draft))
        assert isinstance(sent, Message)
        return sent


class NeoHarness(FolderHarness):
    """The graph of a repository, its writers one connection each."""

    store: ClassVar[type[Store]] = Unsigned
    cannot: ClassVar[Mapping[Feature, str]] = {
        Feature.NO_ID: "the id is the table's key",
        Feature.SAME_ID: "the id is the table's key",
        Feature.EXTRA: "its identities are not written",
        Feature.TAGS: "it has no channels",
        Feature.ROLES: "its identities hold no roles",
        Feature.TYPE: "its messages have no type",
        Feature.TTL: "its messages do not expire",
        Feature.MARK_OTHERS: "only the person's own mail is marked",
    }

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._monkeypatch = monkeypatch
        self.graph = Graph(self.path / ".neo-ai-data" / "sqlite" / "memory-core-graph.sqlite")
        self._missing = b""
        self._numbers = count()

    writer = reader = "olga"

    @property
    def path(self) -> Path:
        return self._folder / "repository"

    @property
    def log(self) -> Path:
        return self.path / ".neo-ai-data" / "memory-wal" / "messages"

    def make(self) -> None:
        self.graph.make()
        with self.graph.at_once():
            self.graph.node("AGENT:*", "BroadcastSentinel", accountType="sentinel")
            self.graph.human()
            self.graph.agent("@bob-00000001")

    def message(self, fields: Mapping[str, Any]) -> None:
        self._write(self.graph, fields)

    def _write(self, graph: Graph, fields: Mapping[str, Any]) -> None:
        known = dict(fields)
        recipients = known.pop("recipient")
        to = [recipients] if isinstance(recipients, str) else recipients
        thread = known.pop("thread", None)
        graph.message(
            known.pop("id"),
            signed(known.pop("sender")),
            *map(signed, to),
            sent=known.pop("timestamp", None),
            bodyText=known.pop("content"),
            inReplyTo=f"MESSAGE:{thread}" if thread else None,
            **known,
        )

    def agent(self, fields: Mapping[str, Any]) -> None:
        status = BENCHED[fields["status"]]
        self.graph.agent(signed(fields["session_id"]), participationStatus=status, since="2026-03-16T12:00:00Z")

    def read(self, fields: Mapping[str, Any]) -> None:
        self.graph.set(fields["message_id"], readAt=fields["timestamp"])

    def delivery(self, fields: Mapping[str, Any]) -> None:
        node, name = f"MESSAGE:{fields['message_id']}", signed(fields["recipient"])
        self.graph.edge(node, name, "DELIVERED_TO", deliveredAt=fields["timestamp"], readAt=None)

    def damage(self) -> None:
        node = f"MESSAGE:broken-{next(self._numbers)}"
        self.graph.do("INSERT INTO Nodes VALUES (?, NULL, ?)", (node, '{"id": "cut", "label": "MESS'))

    def tear(self, fields: Mapping[str, Any]) -> None:
        self.log.mkdir(parents=True, exist_ok=True)
        node = f"MESSAGE:{fields['id']}"
        known = {"subject": fields["subject"], "bodyText": fields["content"], "sentAt": fields["timestamp"]}
        routing = {"sentBy": signed(fields["sender"]), "to": signed(fields["recipient"])}
        record = {
            "id": node,
            "timestamp": 1_773_662_400_000,
            "graphProjectionVersion": 1,
            "message": {"id": node, "type": "MESSAGE", "properties": known},
            "routing": routing,
        }
        line = json.dumps(record).encode() + b"\n"
        self._append(line[:40])
        self._missing = line[40:]

    def repair(self) -> None:
        self._append(self._missing)

    def _append(self, data: bytes) -> None:
        with (self.log / "message-wal-2026-03-16.jsonl").open("ab") as file:
            file.write(data)

    def replace(self, *messages: Mapping[str, Any]) -> None:
        new = Graph(self._folder / "new.sqlite")
        new.make()
        for message in messages:
            self._write(new, message)
        self.close()
        new.close()
        new.path.replace(self.graph.path)

    def remove(self) -> None:
        self.close()
        super().remove()

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the database's lock, and those of every file of the log; a look at the clock ends all patience."""
        ticks = count(step=10).__next__
        clock = SimpleNamespace(monotonic=ticks, sleep=lambda _: None, time=lambda: 0.0, time_ns=lambda: 0)
        self._monkeypatch.setattr(writer, "time", clock)
        self._monkeypatch.setattr(lock_files, "time", clock)
        self._monkeypatch.setattr(writer, "WAIT_SECONDS", 0.0)
        locks = [path.with_name(f"{path.name}.lock") for path in self.log.glob("*.jsonl")]
        holder = json.dumps({"pid": 1, "startedAt": 0})
        with self.graph.at_once():
            for path in locks:
                path.write_text(holder)
            yield
            for path in locks:
                path.unlink()

    def close(self) -> None:
        """End the program that owns the graph."""
        self.graph.close()

    def snapshot(self) -> Mapping[str, tuple[bytes, int]]:
        self.close()
        files = (path for path in self.path.rglob("*") if path.is_file() and path.suffix != ".lock")
        return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def signed(name: str) -> str:
    """Return a name of the suite's as the graph has it."""
    return {"all": "AGENT:*", "user": "@olga"}.get(name, f"@{name}")


def bare(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.removeprefix("@") for name in names)


def unsigned(event: Event) -> Event:
    """Return an event with the names of the suite."""
    match event:
        case Message():
            [sender] = bare([event.sender])
            mentions = tuple(name.removeprefix("@") for name in event.mentions)
            return msgspec.structs.replace(event, sender=sender, recipients=bare(event.recipients), mentions=mentions)
        case Receipt():
            return msgspec.structs.replace(event, reader=event.reader.removeprefix("@"))
        case Delivery():
            return msgspec.structs.replace(event, recipient=event.recipient.removeprefix("@"))
        case Agent():
            return msgspec.structs.replace(event, session_id=event.session_id.removeprefix("@"))
        case _:
            return event
