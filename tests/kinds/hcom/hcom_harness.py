"""hcom's database as its own program treats it, for the conformance suite."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

from mailstore.conformance import Feature
from mailstore.installed_kinds import InstalledKind, installed_kinds
from mailstore.kinds.hcom import sending
from mailstore.kinds.hcom.store import HcomStore
from mailstore.records.draft import Draft
from mailstore.records.events import Event
from mailstore.records.message import Delivery, Message, Receipt
from mailstore.store import Store
from tests.mailstore.folder_harness import FolderHarness
from tests.servers.hcom_program import HcomLog, send

NAMED = ("ann-00000001", "bob-00000001", "cyd-00000001")


class Numbered(HcomStore):
    """A log whose messages go by the names that the suite gives them: there they are numbered."""

    names: ClassVar[dict[str, str]] = {}
    naming: ClassVar[threading.Lock] = threading.Lock()
    """Held until a new message has its name; a concurrent read waits for it."""

    def _hand_out(self) -> list[Event]:
        found = super()._hand_out()
        with self.naming:
            return [self._named(event) for event in found]

    def _named(self, event: Event) -> Event:
        if isinstance(event, Message):
            thread = self._name(event.thread) if event.thread else None
            return msgspec.structs.replace(event, id=self._name(event.id), thread=thread)
        if isinstance(event, (Receipt, Delivery)):
            return msgspec.structs.replace(event, message_id=self._name(event.message_id))
        return event

    def _name(self, message_id: str) -> str:
        return self.names.get(message_id.partition("-")[0], message_id)

    def _number(self, name: str) -> str:
        return next((number for number, known in self.names.items() if known == name), name)

    def write_message(self, draft: Draft) -> Message:
        thread = self._number(draft.thread) if draft.thread else None
        sent = super().write_message(draft.model_copy(update={"thread": thread}))
        return msgspec.structs.replace(sent, thread=self._name(sent.thread) if sent.thread else None)

    def content(self, message: Message) -> str:
        return super().content(msgspec.structs.replace(message, id=self._number(message.id)))

    def raw(self, message: Message) -> bytes:
        return super().raw(msgspec.structs.replace(message, id=self._number(message.id)))


class HcomHarness(FolderHarness):
    """The folder of hcom, whose program is called directly."""

    store: ClassVar[type[Store]] = Numbered
    cannot: ClassVar[Mapping[Feature, str]] = {
        Feature.NO_ID: "messages are numbered",
        Feature.SAME_ID: "messages are numbered",
        Feature.NO_SUBJECT: "it has no subjects",
        Feature.SUBJECT: "it has no subjects",
        Feature.TEAR: "a transaction is there as a whole or not at all",
        Feature.LOCK: "nobody but its program writes",
        Feature.EXTRA: "its agents are not written",
        Feature.RECORDS: "what was read follows from positions",
        Feature.TAGS: "it has no channels",
        Feature.ROLES: "its agents hold no roles",
        Feature.FREEZE: "its agents are connected or not",
        Feature.TTL: "its messages do not expire",
        Feature.CONTROLS: "its program refuses a text with control characters",
        Feature.VERBATIM: "an event is several columns: its JSON is made for whoever looks",
    }

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self.log = HcomLog(self.path / "hcom.db")
        monkeypatch.setattr(sending, "why_not_sent", lambda: "")
        monkeypatch.setattr(sending, "_run", self._ran)
        monkeypatch.setattr(sending, "INTENTS", (*sending.INTENTS, "question"))
        monkeypatch.setattr(Numbered, "names", {})
        monkeypatch.setitem(installed_kinds(), "hcom", InstalledKind(f"{__name__}:Numbered"))

    writer = "user"

    @property
    def path(self) -> Path:
        return self._folder / ".hcom"

    def _ran(self, database: Path, words: list[str], content: str) -> int:
        done = send(database.parent, words, content)
        assert done.status == 0, done.err
        answer: dict[str, int] = msgspec.json.decode(done.out)
        return answer["event_id"]

    def make(self) -> None:
        self.log.make()
        for name in NAMED:
            self.log.start(name)

    def message(self, fields: Mapping[str, Any]) -> None:
        self._write(self.log, fields)

    def _write(self, log: HcomLog, fields: Mapping[str, Any]) -> None:
        known = dict(fields)
        recipient = known.pop("recipient")
        to = [
            "bigboss" if name == "user" else name for name in ([recipient] if isinstance(recipient, str) else recipient)
        ]
        numbers = {name: int(number) for number, name in Numbered.names.items()}
        named = known.pop("id")
        if known.get("thread"):
            known["reply_to_local"] = numbers[known.pop("thread")]
        known.pop("thread", None)
        if "type" in known:
            known["intent"] = known.pop("type")
        text, sender, at = known.pop("content"), known.pop("sender"), known.pop("timestamp", "no time")
        with Numbered.naming:
            Numbered.names[str(log.message(sender, to, text, timestamp=at, **known))] = named

    def agent(self, fields: Mapping[str, Any]) -> None:
        self.log.start(fields["session_id"])

    def damage(self) -> None:
        self.log.event("message", "ann-00000001", '{"from": "ann')

    def replace(self, *messages: Mapping[str, Any]) -> None:
        new = HcomLog(self._folder / "new" / "hcom.db")
        new.make()
        # numbers of its own: what was read is not what has the same number here
        new.do("INSERT INTO sqlite_sequence VALUES ('events', 999)")
        for message in messages:
            self._write(new, message)
        self.close()
        new.close()
        new.path.replace(self.log.path)

    def remove(self) -> None:
        self.close()
        super().remove()

    def close(self) -> None:
        """End the program."""
        self.log.close()

    def snapshot(self) -> Mapping[str, tuple[bytes, int]]:
        self.close()
        files = (path for path in self.path.rglob("*") if path.is_file())
        return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}
