"""MCP Agent Mail's database as its server treats it, for the conformance suite."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

from mailstore import registry
from mailstore.conformance import Feature, FileHarness
from mailstore.records.events import Event
from mailstore.records.message import Message, Receipt
from mailstore.store import Store
from mailstore.stores.agent_mail import AgentMailStore
from tests.mailstore.servers import Server

__all__ = ["AgentMailHarness"]


class Named(AgentMailStore):
    """A database whose messages go by the names that the suite gives them: there they are numbered."""

    names: ClassVar[dict[str, str]] = {}

    def _hand_out(self) -> list[Event]:
        return [self._named(event) for event in super()._hand_out()]

    def _named(self, event: Event) -> Event:
        if isinstance(event, Message):
            thread = self.names[event.thread] if event.thread else None
            return msgspec.structs.replace(event, id=self.names[event.id], thread=thread)
        if isinstance(event, Receipt):
            return msgspec.structs.replace(event, message_id=self.names[event.message_id])
        return event

    def _numbered(self, message: Message) -> Message:
        number = next(number for number, name in self.names.items() if name == message.id)
        return msgspec.structs.replace(message, id=number)

    def content(self, message: Message) -> str:
        return super().content(self._numbered(message))

    def raw(self, message: Message) -> bytes:
        return super().raw(self._numbered(message))


class AgentMailHarness(FileHarness):
    """A database in the folder of its server."""

    store: ClassVar[type[Store]] = Named
    cannot: ClassVar[Mapping[Feature, str]] = {
        Feature.NO_ID: "messages are numbered",
        Feature.NO_TIME: "the table demands a time",
        Feature.SAME_ID: "messages are numbered",
        Feature.DAMAGE: "every row of a table is a record",
        Feature.TEAR: "a transaction is there as a whole or not at all",
        Feature.LOCK: "nobody but its server writes",
        Feature.EXTRA: "its agents are not written",
        Feature.RECORDS: "deliveries are not told apart from recipients",
        Feature.TAGS: "it has no channels",
        Feature.ROLES: "its agents hold no roles",
        Feature.FREEZE: "its agents live or are retired",
        Feature.TYPE: "its messages have no type",
        Feature.TTL: "its messages do not expire",
        Feature.OTHER: "the table's columns are fixed",
        Feature.VERBATIM: "a row is no text: its JSON is made for whoever looks",
    }

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self.server = Server(self.path / "storage.sqlite3")
        monkeypatch.setattr(Named, "names", {})
        monkeypatch.setitem(registry._OURS, "agent-mail", f"{__name__}:Named")

    @property
    def path(self) -> Path:
        return self._folder / "server"

    def make(self) -> None:
        self.server.make()

    def message(self, fields: Mapping[str, Any]) -> None:
        self._write(self.server, fields)

    def _write(self, server: Server, fields: Mapping[str, Any]) -> None:
        numbers = {name: number for number, name in Named.names.items()}
        to = fields["recipient"]
        number = server.message(
            fields["sender"],
            [to] if isinstance(to, str) else to,
            subject=fields.get("subject") or "",
            body_md=fields["content"],
            thread_id=numbers[fields["thread"]] if fields.get("thread") else None,
            created_ts=fields["timestamp"].replace("T", " ").removesuffix("Z") + ".000000",
        )
        Named.names[str(number)] = fields["id"]

    def agent(self, fields: Mapping[str, Any]) -> None:
        self.server.agent(fields["session_id"])

    def replace(self, *messages: Mapping[str, Any]) -> None:
        new = Server(self._folder / "new.sqlite3")
        new.make()
        # numbers of its own: what was read is not what has the same number here
        new.do("INSERT INTO messages VALUES (999, 1, 1, NULL, NULL, '', '', '', 0, '', '[]')")
        for message in messages:
            self._write(new, message)
        new.do("DELETE FROM messages WHERE id = 999")
        self.close()
        new.close()
        new.path.replace(self.server.path)

    def remove(self) -> None:
        self.close()
        self.path.replace(self._folder / "away")

    def restore(self) -> None:
        (self._folder / "away").replace(self.path)

    def close(self) -> None:
        """End the server."""
        self.server.close()

    def snapshot(self) -> Mapping[str, tuple[bytes, int]]:
        self.close()
        files = (path for path in self.path.rglob("*") if path.is_file())
        return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}
