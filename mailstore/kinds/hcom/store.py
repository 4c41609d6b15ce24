"""The store for hcom: read from its database, written to by its own program (docs/formats/hcom.md)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import msgspec

from mailstore.errors import ContentGone
from mailstore.kinds.hcom import tables as ask
from mailstore.kinds.hcom.decode import UnreadableEvent, data_of, message_of, not_utf8, number_in
from mailstore.kinds.hcom.feed import EventFeed
from mailstore.kinds.hcom.places import DATABASE, FOLDER, find, is_archived
from mailstore.kinds.hcom.tables import EventRow
from mailstore.kit.record_reader import RecordReader
from mailstore.kit.tables import look_or_gone
from mailstore.kit.watched_store import WatchedStore
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
Content = TypeVar("Content")
PUT_AWAY = "hcom reset has put this conversation away"
RENAMED = f"hcom itself must write, and opens only a database named {DATABASE}"


class HcomStore(WatchedStore):
    """The messages, agents and positions in hcom's log of events."""

    kind: ClassVar[str] = "hcom"
    summary: ClassVar[str] = "hcom: the log in ~/.hcom/hcom.db; written only by the program hcom"
    missing: ClassVar[tuple[str, str]] = (f"there is no {DATABASE} at {{path}}", "name hcom's folder, ~/.hcom")
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
    def find(cls, path: Path) -> Path | None:
        return find(path)

    def watched(self) -> WatchedPaths:
        """Return the database and its log, which hold everything."""
        return super().watched()._replace(is_exact=True)

    @property
    def url(self) -> str:
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
        from mailstore.kinds.hcom.sending import send

        return send(self._database, draft)

    def content(self, message: Message) -> str:
        return self._read(message, lambda mail, row: message_of(row).text)

    def raw(self, message: Message) -> bytes:
        """Return the message's event, and that of its bundle, as JSON. Raises ContentGone."""

        def with_bundle(mail: sqlite3.Connection, row: EventRow) -> dict[str, Any]:
            value = {**row._asdict(), "data": data_of(row.data)}
            label = message_of(row).bundle
            bundle = ask.bundle(mail, label, row.id) if label else None
            return value if bundle is None else {**value, "bundle": data_of(bundle)}

        return msgspec.json.encode(self._read(message, with_bundle))

    def _read(self, message: Message, read: Callable[[sqlite3.Connection, EventRow], Content]) -> Content:
        """Return what `read` makes of a message's event, if it is one of this conversation. Raises ContentGone."""
        number, mark = number_in(message.id)

        def query(mail: sqlite3.Connection) -> list[Content]:
            rows = ask.some_messages(mail, [number]) if mark in ("", ask.mark(mail)) else []
            return [read(mail, row) for row in rows]

        try:
            contents = look_or_gone(self._database, query)
        except UnreadableEvent as error:
            raise ContentGone(f"message {message.id} can no longer be read", str(error), "E306") from error
        if not contents:
            raise ContentGone(f"message {message.id} is no longer in {self._database.name}", "was it reset?", "E305")
        return contents[0]

    def raw_problem(self, problem: Problem) -> bytes | None:
        rows = look_or_gone(self._database, lambda mail: ask.some_messages(mail, [problem.line]))
        return rows[0].data if rows and problem.reason in _reasons(rows[0]) else None


def _reasons(row: EventRow) -> list[str]:
    """Return what may be told of an event."""
    try:
        message_of(row)
    except UnreadableEvent as error:
        return [str(error)]
    return [not_utf8(row)]
