"""The read-only store for MCP Agent Mail (docs/formats/agent-mail.md)."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Self

import msgspec

from mailstore.errors import ContentGone
from mailstore.files.database import Unreadable
from mailstore.kit.locating import found_at, is_found, read_located
from mailstore.kit.part_reader import PartReader
from mailstore.kit.record_reader import RecordReader
from mailstore.kit.watched_store import EventReader, WatchedStore
from mailstore.location import path_of
from mailstore.records.message import Message
from mailstore.store import Capabilities, Capability
from mailstore.stores.agent_mail import tables as ask
from mailstore.stores.agent_mail.archive import ArchiveSource
from mailstore.stores.agent_mail.columns import text_of
from mailstore.stores.agent_mail.feed import DatabaseFeed
from mailstore.stores.agent_mail.letter import InvalidArchivedFile, id_of, letter_of
from mailstore.stores.agent_mail.places import DATABASE, PROJECTS, AgentMailPlaces, find
from mailstore.stores.agent_mail.roster import names_of

__all__ = ["AgentMailStore"]

SERVER = "only its server writes there, to keep database and archive in step"
MISSING = {
    Capability.SEND: SERVER,
    Capability.MARK_READ: SERVER,
    Capability.UPDATE_ROSTER: SERVER,
    Capability.ARCHIVE: SERVER,
    Capability.RECORD: "it has no journal",
    Capability.SEVERAL: SERVER,
    Capability.SUBJECT: SERVER,
    Capability.REPLY: SERVER,
    Capability.TYPE: "its messages have no type",
    Capability.TTL: "its messages do not expire",
    Capability.METADATA: "its messages have no further fields",
    Capability.AUDIENCE: SERVER,
    Capability.ADOPT: "only its server creates one",
}


class AgentMailStore(WatchedStore):
    """The messages of all projects of a server, their recipients, and the agents with their reservations."""

    kind: ClassVar[str] = "agent-mail"
    summary: ClassVar[str] = "MCP Agent Mail: storage.sqlite3, or its archive alone (read-only)"
    declared: ClassVar[Capabilities] = Capabilities(MISSING)
    known_fields: ClassVar[frozenset[str]] = frozenset(
        {"id", "subject", "body_md", "created_ts", "thread_id", "sender", "recipients"}
    )

    def __init__(self, places: AgentMailPlaces, *, poll: bool = False) -> None:
        self._places = places
        self._archive = ArchiveSource(places.archive) if places.archive else None
        reader: EventReader
        if self._archive:
            reader = PartReader(self._archive)
        else:
            assert places.database is not None
            reader = RecordReader(DatabaseFeed(places.database))
        super().__init__(reader, places.folder, poll=poll)

    @classmethod
    def recognise(cls, path: Path) -> bool:
        """Return whether there is a database or an archive at a path."""
        return is_found(find, path)

    @classmethod
    def open(cls, location: str | Path, *, poll: bool = False) -> Self:
        """Open the database at a path or in a folder, else the archive there; raises MailboxMissing and StoreError."""
        path = path_of(location)
        places = found_at(
            find, path, f"there is no {DATABASE} at {path}, and no archive with {PROJECTS}", "name the server's folder"
        )
        return cls(places, poll=poll)

    @property
    def url(self) -> str:
        """Return the URL of this mailbox."""
        return f"{self.kind}:{(self._places.database or self._places.folder).resolve()}"

    @property
    def title(self) -> str:
        """Return the names of the folder and the database."""
        database = self._places.database
        return f"{database.parent.name[:20]}/{database.name}"[-40:] if database else self._places.folder.name[:40]

    def below(self) -> Sequence[str]:
        return self._archive.folders() if self._archive else ()

    def content(self, message: Message) -> str:
        """Return a message's body. Raises ContentGone."""
        if self._archive:
            try:
                return letter_of(self._file(message)).body
            except InvalidArchivedFile as error:
                raise ContentGone(f"message {message.id} can no longer be read", str(error)) from error
        return text_of(self._row(message)["body_md"])

    def raw(self, message: Message) -> bytes:
        """Return the bytes of the message's file, or its row and those of its recipients as JSON."""
        return self._file(message) if self._archive else msgspec.json.encode(self._row(message))

    def _file(self, message: Message) -> bytes:
        data = read_located(self._places.folder, message)
        assert message.location is not None
        file = message.location.file
        try:
            found = id_of(letter_of(data), file)
        except InvalidArchivedFile as error:
            raise ContentGone(f"{file} can't be read", "was it moved?") from error
        if found != message.id:
            raise ContentGone(f"{file} no longer has this message", "it was replaced")
        return data

    def _row(self, message: Message) -> dict[str, object]:
        def look(mail: sqlite3.Connection) -> dict[str, object] | None:
            return _row(mail, message.id)

        assert self._places.database is not None
        try:
            found = ask.look(self._places.database, look)
        except (OSError, Unreadable) as error:
            raise ContentGone(f"{self._places.database.name} can't be read", str(error)) from error
        if found is None:
            raise ContentGone(
                f"message {message.id} is no longer in {self._places.database.name}", "check whether it was deleted"
            )
        return found


def _row(mail: sqlite3.Connection, message_id: str) -> dict[str, object] | None:
    """Return all columns of a message and of its recipients."""
    asked = mail.execute("SELECT * FROM messages WHERE id = ?", (message_id,))
    row = asked.fetchone()
    if row is None:
        return None
    found: dict[str, object] = dict(zip((each[0] for each in asked.description), row, strict=True))
    names = names_of(mail)
    asked = mail.execute("SELECT * FROM message_recipients WHERE message_id = ?", (message_id,))
    columns = [each[0] for each in asked.description]
    to = [dict(zip(columns, row, strict=True)) for row in asked]
    found["sender"] = names.of(found["sender_id"])
    found["recipients"] = [{"name": names.of(each["agent_id"]), **each} for each in to]
    return found
