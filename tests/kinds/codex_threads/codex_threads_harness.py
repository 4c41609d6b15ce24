"""Codex's folder as its threads treat it, for the conformance suite."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

from mailstore.conformance import Feature
from mailstore.kinds.codex_threads.source import _own_id
from mailstore.kinds.codex_threads.store import CodexStore
from mailstore.records.events import Event
from mailstore.records.message import Message, Receipt
from mailstore.records.roster import Agent
from mailstore.store import Store
from tests.mailstore.folder_harness import FolderHarness


def thread_id(name: str) -> str:
    number = int.from_bytes(name.encode()[:6].ljust(6, b"x"), "big")
    return f"01a20000-0000-7000-8000-{number:012x}"


class Named(CodexStore):
    """Threads and messages that go by the names that the suite gives them."""

    ids: ClassVar[dict[str, str]] = {}

    def _hand_out(self) -> list[Event]:
        return [self._named(event) for event in super()._hand_out()]

    def _named(self, event: Event) -> Event:
        replace = msgspec.structs.replace
        match event:
            case Message():
                names = tuple(map(_bare, event.recipients))
                return replace(event, id=self.ids.get(event.id, event.id), sender=_bare(event.sender), recipients=names)
            case Agent():
                return replace(event, session_id=_bare(event.session_id))
            case Receipt():
                return replace(event, reader=_bare(event.reader), message_id=self.ids.get(event.message_id, ""))
        return event

    def _own(self, message: Message) -> Message:
        own = next((own for own, name in self.ids.items() if name == message.id), message.id)
        return msgspec.structs.replace(message, id=own)

    def content(self, message: Message) -> str:
        return super().content(self._own(message))

    def raw(self, message: Message) -> bytes:
        return super().raw(self._own(message))


def _bare(name: str) -> str:
    return name.partition("@")[0]


class CodexHarness(FolderHarness):
    """Each sender has a rollout, to which what it tells a subagent is appended."""

    store: ClassVar[type[Store]] = Named
    cannot: ClassVar[Mapping[Feature, str]] = {
        Feature.NAME: "the suite gives its messages other ids",
        Feature.NO_ID: "each call of a tool has an id",
        Feature.NO_TIME: "the program dates every line",
        Feature.NO_SUBJECT: "its messages have a text only",
        Feature.SUBJECT: "its messages have a text only",
        Feature.REPLACE: "what a rollout proved is kept in a journal",
        Feature.LOSE: "what a rollout proved is kept in a journal",
        Feature.SAME_ID: "one call of a tool is one message",
        Feature.AGENT: "a thread is known from its rollout",
        Feature.EXTRA: "a thread is known from its rollout",
        Feature.RECORDS: "who reads a message is known from the recipient's rollout",
        Feature.TAGS: "it knows no tags",
        Feature.ROLES: "it knows no roles",
        Feature.FREEZE: "its threads may always be resumed",
        Feature.SEVERAL: "each message has one recipient",
        Feature.THREAD: "its messages name no other message",
        Feature.TYPE: "its messages have no type of their own",
        Feature.TTL: "its messages do not expire",
        Feature.OTHER: "of a line only the message is shown",
        Feature.VERBATIM: "of a line only the message is shown",
        Feature.REMOVE: "threads whose rollouts are gone are still shown",
    }

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
        self._rest = b""
        self._torn = folder
        Named.ids = {}

    @property
    def path(self) -> Path:
        return self._folder / ".codex"

    def make(self) -> None:
        for name in ("ann-00000001", "bob-00000001", "cyd-00000001"):
            self._rollout(name)

    def _rollout(self, name: str) -> Path:
        path = self.path / "sessions" / "2026" / "03" / "16" / f"rollout-2026-03-16T14-00-00-{thread_id(name)}.jsonl"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            meta = {"id": thread_id(name), "agent_nickname": name, "timestamp": "2026-03-16T14:00:00Z", "cwd": "/srv"}
            path.write_bytes(line("session_meta", "2026-03-16T14:00:00Z", meta))
        return path

    def _line(self, fields: Mapping[str, Any]) -> bytes:
        sender, to = thread_id(fields["sender"]), thread_id(fields.get("recipient", "ann-00000001"))
        Named.ids[_own_id("told", sender, fields["id"], to)] = fields["id"]
        item = {"type": "CollabAgentToolCall", "tool": "send_input", "id": fields["id"], "prompt": fields["content"]}
        item |= {"sender_thread_id": sender, "receiver_thread_ids": [to]}
        return line("event_msg", fields["timestamp"], {"type": "item_completed", "item": item})

    def message(self, fields: Mapping[str, Any]) -> None:
        with self._rollout(fields["sender"]).open("ab") as file:
            file.write(self._line(fields))

    def tear(self, fields: Mapping[str, Any]) -> None:
        data = self._line(fields)
        self._torn, self._rest = self._rollout(fields["sender"]), data[-20:]
        with self._torn.open("ab") as file:
            file.write(data[:-20])

    def mend(self) -> None:
        with self._torn.open("ab") as file:
            file.write(self._rest)

    def damage(self) -> None:
        with self._rollout("ann-00000001").open("ab") as file:
            file.write(b'{"type":"event_msg","payload":{ "UserMessage" broken\n')

    def snapshot(self) -> Mapping[str, tuple[bytes, int]]:
        files = sorted(path for path in self.path.rglob("*") if path.is_file())
        return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def line(kind: str, timestamp: str, payload: Mapping[str, Any]) -> bytes:
    """Return a line of a rollout."""
    value = {"timestamp": timestamp, "type": kind, "payload": payload}
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass") + b"\n"
