"""What the harnesses share for kinds whose agents are sessions: names without ids, and messages by the suite's ids."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

from mailstore.conformance import Feature
from mailstore.kit.sessions.source import own_id
from mailstore.kit.sessions.store import SessionsStore
from mailstore.records.draft import Draft
from mailstore.records.events import Event
from mailstore.records.message import Message, Receipt
from mailstore.records.roster import Agent
from mailstore.state.mailbox import Mailbox
from tests.mailstore.folder_harness import FolderHarness

CAN_NOT: Mapping[Feature, str] = {
    Feature.NAME: "the suite gives its messages other ids",
    Feature.NO_ID: "each call of a tool has an id",
    Feature.NO_TIME: "the program dates every line",
    Feature.NO_SUBJECT: "its messages have a text only",
    Feature.SUBJECT: "its messages have a text only",
    Feature.REPLACE: "what was proved is kept in a journal",
    Feature.LOSE: "what was proved is kept in a journal",
    Feature.SAME_ID: "one call of a tool is one message",
    Feature.AGENT: "a session is known from its transcript",
    Feature.EXTRA: "a session is known from its transcript",
    Feature.RECORDS: "who reads a message is known from the recipient's transcript",
    Feature.TAGS: "it knows no tags",
    Feature.ROLES: "it knows no roles",
    Feature.FREEZE: "its sessions may always be resumed",
    Feature.SEVERAL: "each message has one recipient",
    Feature.THREAD: "its messages name no other message",
    Feature.TYPE: "its messages have no type of their own",
    Feature.TTL: "its messages do not expire",
    Feature.OTHER: "of a line only the message is shown",
    Feature.VERBATIM: "of a line only the message is shown",
    Feature.REMOVE: "sessions whose transcripts are gone are still shown",
    Feature.LOCK: "its transcripts are only read",
    Feature.CONTROLS: "a message is sent as an argument",
    Feature.BIG: "a message is sent as an argument",
}
NAMES = ("ann-00000001", "bob-00000001", "cyd-00000001")


def seen(store_class: type[SessionsStore], home: Path) -> list[tuple[str, str, str, str]]:
    """Return of each message its sender, recipient, text and state, in the order in which they were sent."""
    now = time.time()
    with store_class.open(home) as store:
        mailbox = Mailbox()
        for batch in store.scan():
            mailbox.fold(batch, now)
        return [
            (message.sender, name, store.content(message), state.value)
            for message in sorted(mailbox.newest(), key=lambda it: it.time)
            for name, state in mailbox.bare_states(message, now).items()
        ]


def bare(name: str) -> str:
    return name.partition("@")[0]


class NamedSessions(SessionsStore):
    """Sessions and messages that go by the names that the suite gives them."""

    ids: ClassVar[dict[str, str]] = {}

    def _hand_out(self) -> list[Event]:
        return [self._named(event) for event in super()._hand_out()]

    def _named(self, event: Event) -> Event:
        replace = msgspec.structs.replace
        match event:
            case Message():
                names = tuple(map(bare, event.recipients))
                return replace(event, id=self.ids.get(event.id, event.id), sender=bare(event.sender), recipients=names)
            case Agent():
                return replace(event, session_id=bare(event.session_id))
            case Receipt():
                return replace(event, reader=bare(event.reader), message_id=self.ids.get(event.message_id, ""))
        return event

    def _own(self, message: Message) -> Message:
        own = next((own for own, name in self.ids.items() if name == message.id), message.id)
        return msgspec.structs.replace(message, id=own)

    def write_message(self, draft: Draft) -> Message:
        named = self._named(super().write_message(draft))
        assert isinstance(named, Message)
        return named

    def content(self, message: Message) -> str:
        return super().content(self._own(message))

    def raw(self, message: Message) -> bytes:
        return super().raw(self._own(message))


class SessionsHarness(FolderHarness):
    """A transcript for each session, to which lines are appended."""

    cannot: ClassVar[Mapping[Feature, str]] = CAN_NOT
    place: ClassVar[str]
    """The program's folder."""
    broken: ClassVar[bytes]
    """A line that looks as if it proved something."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
        self._rest = b""
        self._torn = folder
        NamedSessions.ids = {}

    @property
    def path(self) -> Path:
        return self._folder / self.place

    def transcript(self, name: str) -> Path:
        """Return the transcript of a session, made if there is none yet."""
        raise NotImplementedError

    def lines(self, fields: Mapping[str, Any]) -> tuple[Path, bytes]:
        """Return the lines that prove a message, and the transcript that they belong into."""
        raise NotImplementedError

    def known(self, kind: str, session: str, fields: Mapping[str, Any], other: str) -> None:
        """Note the id that the store gives a message."""
        NamedSessions.ids[own_id(kind, session, fields["id"], other)] = fields["id"]

    def make(self) -> None:
        for name in NAMES:
            self.transcript(name)

    def message(self, fields: Mapping[str, Any]) -> None:
        path, data = self.lines(fields)
        with path.open("ab") as file:
            file.write(data)

    def tear(self, fields: Mapping[str, Any]) -> None:
        self._torn, data = self.lines(fields)
        self._rest = data[-20:]
        with self._torn.open("ab") as file:
            file.write(data[:-20])

    def repair(self) -> None:
        with self._torn.open("ab") as file:
            file.write(self._rest)

    def damage(self) -> None:
        with self.transcript(NAMES[0]).open("ab") as file:
            file.write(self.broken)

    def snapshot(self) -> Mapping[str, tuple[bytes, int]]:
        files = sorted(path for path in self.path.rglob("*") if path.is_file())
        return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}
