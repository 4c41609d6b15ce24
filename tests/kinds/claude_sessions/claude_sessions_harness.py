"""A folder of projects as sessions of the program treat it, for the conformance suite."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

from mailstore.conformance import Feature
from mailstore.kinds.claude_sessions.store import ClaudeSessionsStore
from mailstore.records.events import Event, Undelivered
from mailstore.records.message import Delivery, Message, Receipt
from mailstore.records.roster import Agent
from mailstore.store import Store
from tests.kinds.claude_sessions.transcripts import PROJECT, session_id
from tests.mailstore.folder_harness import FolderHarness


class Named(ClaudeSessionsStore):
    """Sessions that go by the names that the suite gives them: the program's have something behind."""

    def _hand_out(self) -> list[Event]:
        return [self._named(event) for event in super()._hand_out()]

    def _named(self, event: Event) -> Event:
        replace = msgspec.structs.replace
        match event:
            case Message():
                return replace(event, sender=_bare(event.sender), recipients=tuple(map(_bare, event.recipients)))
            case Agent():
                return replace(event, session_id=_bare(event.session_id))
            case Receipt():
                return replace(event, reader=_bare(event.reader))
            case Delivery() | Undelivered():
                return replace(event, recipient=_bare(event.recipient))
        return event


def _bare(name: str) -> str:
    return name.partition("@")[0]


class ClaudeSessionsHarness(FolderHarness):
    """Each sender has a transcript, to which the call of the tool and its result are appended."""

    store: ClassVar[type[Store]] = Named
    cannot: ClassVar[Mapping[Feature, str]] = {
        Feature.NO_TIME: "the program dates every line",
        Feature.REPLACE: "what a transcript proved is kept in a journal",
        Feature.LOSE: "what a transcript proved is kept in a journal",
        Feature.SAME_ID: "lines with one id are about one message",
        Feature.AGENT: "a session is known from its transcript",
        Feature.EXTRA: "a session is known from its transcript",
        Feature.RECORDS: "who reads a message is known from the recipient's transcript",
        Feature.TAGS: "it knows no tags",
        Feature.ROLES: "it knows no roles",
        Feature.FREEZE: "its agents are not frozen",
        Feature.SEVERAL: "each message has one recipient",
        Feature.THREAD: "its messages name no other message",
        Feature.TYPE: "its messages have no type",
        Feature.TTL: "its messages do not expire by themselves",
        Feature.OTHER: "of a line only the message is shown",
        Feature.VERBATIM: "of a line only the message is shown",
        Feature.REMOVE: "sessions whose transcripts are gone are still shown",
    }

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
        self._count = 0
        self._rest = b""

    @property
    def path(self) -> Path:
        return self._folder / ".claude" / "projects"

    def make(self) -> None:
        for name in ("ann-00000001", "bob-00000001", "cyd-00000001"):
            self._transcript(name)

    def _transcript(self, name: str) -> Path:
        path = self.path / PROJECT / f"{session_id(name)}.jsonl"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_encoded({"type": "agent-name", "agentName": name, "sessionId": session_id(name)}))
        return path

    def _lines(self, fields: Mapping[str, Any]) -> bytes:
        self._count += 1
        number = f"{self._count}"
        given = {"to": fields.get("recipient", "ann-00000001"), "message": fields["content"]}
        if "subject" in fields:
            given["summary"] = fields["subject"]
        call = [{"type": "tool_use", "id": number, "name": "SendMessage", "input": given}]
        result = [{"type": "tool_result", "tool_use_id": number, "content": "sent"}]
        where = {"timestamp": fields["timestamp"], "sessionId": session_id(fields["sender"])}
        done = {"success": True, "msg_id": fields.get("id", f"id-{number}")}
        return _encoded({"type": "assistant", "uuid": f"c{number}", **where, "message": {"content": call}}) + _encoded(
            {"type": "user", "uuid": f"r{number}", **where, "message": {"content": result}, "toolUseResult": done}
        )

    def message(self, fields: Mapping[str, Any]) -> None:
        with self._transcript(fields["sender"]).open("ab") as file:
            file.write(self._lines(fields))

    def tear(self, fields: Mapping[str, Any]) -> None:
        lines = self._lines(fields)
        self._torn = self._transcript(fields["sender"])
        with self._torn.open("ab") as file:
            file.write(lines[:-20])
        self._rest = lines[-20:]

    def repair(self) -> None:
        with self._torn.open("ab") as file:
            file.write(self._rest)

    def damage(self) -> None:
        with self._transcript("ann-00000001").open("ab") as file:
            file.write(b'{"type":"user","msg_id":"{ broken\n')

    def snapshot(self) -> Mapping[str, tuple[bytes, int]]:
        files = sorted(path for path in self.path.rglob("*") if path.is_file())
        return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def _encoded(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass") + b"\n"
