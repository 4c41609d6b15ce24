"""The store for hcom: read from its database, written to by its own program (docs/formats/hcom.md)."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import msgspec

from mailstore.errors import ContentGone
from mailstore.files.database import Unreadable
from mailstore.kinds.hcom import tables as ask
from mailstore.kinds.hcom.decode import HcomLetter, UnreadableEvent, data_of, letter_of, not_utf8, number_in
from mailstore.kinds.hcom.feed import EventFeed
from mailstore.kinds.hcom.places import DATABASE, FOLDER, find, is_archived
from mailstore.kinds.hcom.tables import EventRow
from mailstore.kit.locating import found_at, is_found
from mailstore.kit.record_reader import RecordReader
from mailstore.kit.watched_store import WatchedStore
from mailstore.location import path_of
from mailstore.records.message import Message, Problem
from mailstore.store import Capabilities, Capability, WatchedPaths

if TYPE_CHECKING:
    from mailstore.records.draft import Draft

BY_PROGRAM = (Capability.SEND, Capability.SEVERAL, Capability.REPLY, Capability.TYPE)
MISSING = {
    Capability.MARK_READ: "an agent's position in the log is what it has read: moving it would skip mail",
    Capability.UPDATE_ROSTER: "its agents join with hcom start",
    Capability.ARCHIVE: "hcom reset puts the whole conversation away",
    Capability.RECORD: "its log has no place for a journal",
    Capability.SUBJECT: "its messages have a text only",
    Capability.TTL: "its messages do not expire",
    Capability.METADATA: "its messages have no further fields",
    Capability.AUDIENCE: "hcom itself records whom it delivers a message to",
    Capability.ADOPT: "only hcom writes its database",
}
PUT_AWAY = "hcom reset has put this conversation away"
RENAMED = f"hcom itself must write, and opens only a database named {DATABASE}"


class HcomStore(WatchedStore):
    """The messages, agents and positions in hcom's log of events."""

    kind: ClassVar[str] = "hcom"
    summary: ClassVar[str] = "hcom: the log in ~/.hcom/hcom.db; written only by the program hcom"
    declared: ClassVar[Capabilities] = Capabilities(MISSING)
    known_fields: ClassVar[frozenset[str]] = frozenset(
        {"id", "timestamp", "type", "instance"}
        | {f"data.{name}" for name in ("from", "text", "delivered_to", "mentions", "scope", "sender_kind")}
        | {f"data.{name}" for name in ("intent", "thread", "reply_to", "reply_to_local", "bundle_id")}
    )

    def __init__(self, database: Path, *, poll: bool = False) -> None:
        self._database = database
        self._why_not: str | None = None
        super().__init__(RecordReader(EventFeed(database)), database.parent, poll=poll)

    @classmethod
    def recognise(cls, path: Path) -> bool:
        """Return whether there is hcom's database at a path."""
        return is_found(find, path)

    @classmethod
    def open(cls, location: str | Path, *, poll: bool = False) -> Self:
        """Open the database at a path or in a folder; raises MailboxMissing and StoreError."""
        path = path_of(location)
        return cls(found_at(find, path, f"there is no {DATABASE} at {path}", "name hcom's folder, ~/.hcom"), poll=poll)

    def watched(self) -> WatchedPaths:
        """Return the database and its log, which hold everything."""
        return super().watched()._replace(is_exact=True)

    @property
    def url(self) -> str:
        """Return the URL of this mailbox."""
        return f"{self.kind}:{self._database.resolve()}"

    @property
    def title(self) -> str:
        """Return the name of hcom's folder, with the one above; for an archived conversation, that of its folder."""
        folder = self._database.parent
        name = f"{folder.parent.name[:20]}/{folder.name}" if folder.name == FOLDER else folder.name
        return name[:40] if self._database.name == DATABASE else self._database.name[-40:]

    @property
    def capabilities(self) -> Capabilities:
        """Return what can be done here: only the program itself writes."""
        if self._why_not is None:
            from mailstore.kinds.hcom.sending import why_not_sent

            is_live = self._database.name == DATABASE
            self._why_not = PUT_AWAY if is_archived(self._database) else why_not_sent() if is_live else RENAMED
        return self.declared.without(self._why_not, *BY_PROGRAM) if self._why_not else self.declared

    def write_message(self, draft: Draft) -> Message:
        """Send a message with hcom; return it as its log says."""
        from mailstore.kinds.hcom.sending import send

        return send(self._database, draft)

    def content(self, message: Message) -> str:
        """Return a message's body. Raises ContentGone."""
        return self._letter(message).text

    def raw(self, message: Message) -> bytes:
        """Return the message's event, and that of its bundle, as JSON. Raises ContentGone."""
        found: dict[str, Any] = {}

        def look(mail: sqlite3.Connection) -> bool:
            rows = _rows(mail, message)
            if not rows:
                return False
            row, letter = rows[0], letter_of(rows[0])
            found.update(id=row.id, timestamp=row.timestamp, type=row.type, instance=row.instance)
            found["data"] = data_of(row.data)
            bundle = ask.bundle(mail, letter.bundle, row.id) if letter.bundle else None
            if bundle is not None:
                found["bundle"] = data_of(bundle)
            return True

        self._asked(message, look)
        return msgspec.json.encode(found)

    def raw_problem(self, problem: Problem) -> bytes | None:
        """Return the data of the event that a problem is about. Raises ContentGone."""
        try:
            rows = ask.look(self._database, lambda mail: ask.some_messages(mail, [problem.line]))
        except (OSError, Unreadable) as error:
            raise ContentGone(f"{self._database.name} can't be read", str(error)) from error
        return rows[0].data if rows and problem.reason in _reasons(rows[0]) else None

    def _letter(self, message: Message) -> HcomLetter:
        found: list[EventRow] = []

        def look(mail: sqlite3.Connection) -> bool:
            found[:] = _rows(mail, message)
            return bool(found)

        self._asked(message, look)
        try:
            return letter_of(found[0])
        except UnreadableEvent as error:
            raise ContentGone(f"message {message.id} can no longer be read", str(error)) from error

    def _asked(self, message: Message, look: Any) -> None:
        try:
            is_there = ask.look(self._database, look)
        except (OSError, Unreadable, UnreadableEvent) as error:
            raise ContentGone(f"{self._database.name} can't be read", str(error)) from error
        if not is_there:
            raise ContentGone(f"message {message.id} is no longer in {self._database.name}", "was it reset?")


def _reasons(row: EventRow) -> list[str]:
    """Return what may be told of an event."""
    try:
        letter_of(row)
    except UnreadableEvent as error:
        return [str(error)]
    return [not_utf8(row)]


def _rows(mail: sqlite3.Connection, message: Message) -> list[EventRow]:
    """Return the event of a message, if it is one of this conversation."""
    number, mark = number_in(message.id)
    return ask.some_messages(mail, [number]) if mark in ("", ask.mark(mail)) else []
