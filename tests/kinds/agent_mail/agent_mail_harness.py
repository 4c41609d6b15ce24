"""MCP Agent Mail's database as its server treats it, for the conformance suite."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

from mailstore.conformance import Feature
from mailstore.installed_kinds import InstalledKind, installed_kinds
from mailstore.kinds.agent_mail.server import sending
from mailstore.kinds.agent_mail.server.access import NO_SERVER
from mailstore.kinds.agent_mail.store import BY_SERVER, AgentMailStore
from mailstore.records.draft import Draft
from mailstore.records.events import Event
from mailstore.records.message import Message, Receipt
from mailstore.store import Capabilities, Store
from tests.kinds.agent_mail.servers import Server
from tests.mailstore.folder_harness import FolderHarness
from tests.servers.agent_mail_tools import DirectTools, ServedMail


class Named(AgentMailStore):
    """A database whose messages go by the names that the suite gives them: there they are numbered."""

    names: ClassVar[dict[str, str]] = {}
    naming: ClassVar[threading.Lock] = threading.Lock()
    """Held until a new message has its name; a concurrent read waits for it."""

    def _hand_out(self) -> list[Event]:
        found = super()._hand_out()
        with self.naming:
            return [self._named(event) for event in found]

    def _named(self, event: Event) -> Event:
        if isinstance(event, Message):
            thread = self.names[event.thread] if event.thread else None
            return msgspec.structs.replace(event, id=self.names[event.id], thread=thread)
        if isinstance(event, Receipt):
            return msgspec.structs.replace(event, message_id=self.names[event.message_id])
        return event

    def _number(self, name: str) -> str:
        return next((number for number, known in self.names.items() if known == name), name)

    def _numbered(self, message: Message) -> Message:
        return msgspec.structs.replace(message, id=self._number(message.id))

    def write_message(self, draft: Draft) -> Message:
        thread = self._number(draft.thread) if draft.thread else None
        sent = super().write_message(draft.model_copy(update={"thread": thread}))
        self.names.setdefault(sent.id, sent.id)
        return msgspec.structs.replace(sent, thread=self.names[sent.thread] if sent.thread else None)

    def write_reads(self, reader: str, message_ids: Sequence[str]) -> int:
        return super().write_reads(reader, list(map(self._number, message_ids)))

    def content(self, message: Message) -> str:
        return super().content(self._numbered(message))

    def raw(self, message: Message) -> bytes:
        return super().raw(self._numbered(message))


class AgentMailHarness(FolderHarness):
    """A database in the folder of its server, which takes what is sent where it `is_served`."""

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
        Feature.MARK_OTHERS: "a message to all has a row for each recipient",
        Feature.VERBATIM: "a row is no text: its JSON is made for whoever looks",
    }

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, *, is_served: bool = False) -> None:
        self._folder = folder
        self._is_served = is_served
        self._served = ServedMail(self.path / "storage.sqlite3")
        if is_served:
            monkeypatch.setenv("SIGNALBOX_AGENT_MAIL_URL", "http://127.0.0.1:1/mcp/")
            monkeypatch.setattr(sending, "with_tools", DirectTools(self._served).call)
        self.server = Server(self.path / "storage.sqlite3")
        monkeypatch.setattr(Named, "names", {})
        monkeypatch.setitem(installed_kinds(), "agent-mail", InstalledKind(f"{__name__}:Named"))

    @property
    def path(self) -> Path:
        return self._folder / "server"

    @property
    def capabilities(self) -> Capabilities:
        """Without a server nothing can be sent."""
        known = self.store.declared
        return known if self._is_served else known.without(NO_SERVER, *BY_SERVER)

    def make(self) -> None:
        self.server.make()
        if self._is_served:
            for name in ("ann-00000001", "bob-00000001", "cyd-00000001", "HumanOverseer"):
                self.server.agent(name)

    def message(self, fields: Mapping[str, Any]) -> None:
        self._write(self.server, fields)

    def _write(self, server: Server, fields: Mapping[str, Any]) -> None:
        numbers = {name: number for number, name in Named.names.items()}
        to = fields["recipient"]
        with Named.naming:
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
        super().remove()

    def close(self) -> None:
        """End the server."""
        self.server.close()
        self._served.database.close()

    def snapshot(self) -> Mapping[str, tuple[bytes, int]]:
        self.close()
        files = (path for path in self.path.rglob("*") if path.is_file())
        return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}
