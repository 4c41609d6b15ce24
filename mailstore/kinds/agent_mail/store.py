"""The store for MCP Agent Mail: read from its files, written to through its server (docs/formats/agent-mail.md)."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, ClassVar

import msgspec

from mailstore.errors import ContentGone
from mailstore.kinds.agent_mail.archive import ArchiveSource
from mailstore.kinds.agent_mail.attached import AttachedImage, attached_files, listed, open_attached
from mailstore.kinds.agent_mail.feed import DatabaseFeed, message_at
from mailstore.kinds.agent_mail.message import InvalidArchivedFile, archived_file_of, id_of
from mailstore.kinds.agent_mail.places import DATABASE, PROJECTS, AgentMailPlaces, find
from mailstore.kinds.agent_mail.roster import names_of
from mailstore.kit.locating import read_located
from mailstore.kit.part_reader import PartReader
from mailstore.kit.record_reader import RecordReader
from mailstore.kit.tables import look_or_gone, rows_of, text_of
from mailstore.kit.watched_store import EventReader, WatchedStore
from mailstore.records.details import AttachedFile
from mailstore.records.message import Message
from mailstore.store import Capabilities, Capability

if TYPE_CHECKING:
    from mailstore.kinds.agent_mail.server.access import Access, ServerAccess
    from mailstore.kinds.agent_mail.server.lookup import ServedDatabase
    from mailstore.records.draft import Draft

SERVER = "only its server writes there, to keep database and archive in step"
ALONE = "the archive alone can't be written to: open the database of its server"
BY_SERVER = (
    Capability.SEND,
    Capability.MARK_READ,
    Capability.SEVERAL,
    Capability.SUBJECT,
    Capability.REPLY,
)
"""What can be done where the settings say where the server is."""
PROJECT = "SELECT slug FROM projects WHERE id = ?"
MISSING = {
    Capability.UPDATE_ROSTER: "its agents register with the server themselves",
    Capability.ARCHIVE: SERVER,
    Capability.RECORD: "it has no journal",
    Capability.TYPE: "its messages have no type",
    Capability.TTL: "its messages do not expire",
    Capability.METADATA: "its messages have no further fields",
    Capability.AUDIENCE: "a broadcast has a recipient row for each agent",
    Capability.ADOPT: "only its server creates one",
}


class AgentMailStore(WatchedStore):
    """The messages of all projects of a server, their recipients, and the agents with their reservations."""

    kind: ClassVar[str] = "agent-mail"
    summary: ClassVar[str] = "MCP Agent Mail: storage.sqlite3, or its archive alone; written only through its server"
    missing: ClassVar[tuple[str, str]] = (
        f"there is no {DATABASE} at {{path}}, and no archive with {PROJECTS}",
        "name the server's folder",
    )
    declared: ClassVar[Capabilities] = Capabilities(MISSING)
    sends_files: ClassVar[bool] = True
    known_fields: ClassVar[frozenset[str]] = frozenset(
        {"id", "subject", "body_md", "created_ts", "thread_id", "sender", "recipients", "attachments"}
    )

    def __init__(self, places: AgentMailPlaces, *, poll: bool = False) -> None:
        self._places = places
        self._archive = ArchiveSource(places.archive) if places.archive else None
        self._access: Access | None = None
        reader: EventReader
        if self._archive:
            reader = PartReader(self._archive)
        else:
            assert places.database is not None
            reader = RecordReader(DatabaseFeed(places.database))
        super().__init__(reader, places.folder, poll=poll)

    @classmethod
    def find(cls, path: Path) -> AgentMailPlaces | None:
        return find(path)

    @property
    def url(self) -> str:
        return f"{self.kind}:{(self._places.database or self._places.folder).resolve()}"

    @property
    def title(self) -> str:
        database = self._places.database
        return f"{database.parent.name[:20]}/{database.name}"[-40:] if database else self._places.folder.name[:40]

    @property
    def capabilities(self) -> Capabilities:
        """Return what can be done here: without its server, mail can only be read."""
        why_not = self._reached().why_not
        return self.declared.without(why_not, *BY_SERVER) if why_not else self.declared

    def _reached(self) -> Access:
        """Return how the server is reached, as the settings say the first time that it is asked."""
        if self._access is None:
            from mailstore.kinds.agent_mail.server.access import Access, server_access

            self._access = Access(None, ALONE) if self._archive else server_access()
        return self._access

    def _served(self) -> tuple[ServedDatabase, ServerAccess]:
        """Return the database, and how its server is reached. Raises Unsupported."""
        from mailstore.kinds.agent_mail.server.lookup import ServedDatabase

        server = self._reached().server
        if server is None or self._places.database is None:
            raise self.unsupported(Capability.SEND)
        return ServedDatabase(self._places.database), server

    def write_message(self, draft: Draft) -> Message:
        """Send a message through the server's tools; return it as its row in the database says."""
        from mailstore.kinds.agent_mail.server.sending import MessageSender

        mail, access = self._served()
        number = MessageSender(mail, access).send(draft)
        return mail.look(lambda database: message_at(database, number, mail.name))

    def write_reads(self, reader: str, message_ids: Sequence[str]) -> int:
        from mailstore.kinds.agent_mail.server.sending import READ, mark

        return mark(*self._served(), READ, reader, message_ids)

    def why_not_acknowledged(self, message_id: str) -> str:
        return self._reached().why_not

    def write_acknowledgements(self, reader: str, message_ids: Sequence[str]) -> int:
        """Acknowledge messages through the server's tools; return how many were not yet. Raises StoreError."""
        from mailstore.kinds.agent_mail.server.sending import ACKNOWLEDGE, mark

        return mark(*self._served(), ACKNOWLEDGE, reader, message_ids)

    def below(self) -> Sequence[str]:
        return self._archive.folders() if self._archive else ()

    def content(self, message: Message) -> str:
        if self._archive:
            try:
                return archived_file_of(self._file(message)).body
            except InvalidArchivedFile as error:
                raise ContentGone(f"message {message.id} can no longer be read", str(error), "E306") from error
        return text_of(self._row(message)["body_md"])

    def raw(self, message: Message) -> bytes:
        """Return the bytes of the message's file, or its row and those of its recipients as JSON."""
        return self._file(message) if self._archive else msgspec.json.encode(self._row(message))

    def attachments(self, message: Message, places: Sequence[str] = ()) -> list[AttachedFile]:
        """Return the images of a message; none of one that is no longer there."""
        try:
            return attached_files(*self._attached(message))
        except ContentGone:
            return []

    def open_attachment(self, message: Message, name: str, places: Sequence[str] = ()) -> BinaryIO:
        return open_attached(*self._attached(message), name)

    def _attached(self, message: Message) -> tuple[list[AttachedImage], Path | None]:
        """Return a message's images, and its project's folder in the archive, if that is here. Raises ContentGone."""
        if self._archive:
            try:
                head = archived_file_of(self._file(message)).head
            except InvalidArchivedFile as error:
                raise ContentGone(f"message {message.id} can no longer be read", str(error), "E306") from error
            assert message.location is not None
            return listed(head.get("attachments")), self._places.project(message.location.file.split("/")[1])
        row = self._row(message)
        return listed(row.get("attachments")), self._places.project(text_of(row["project"]))

    def _file(self, message: Message) -> bytes:
        data = read_located(self._places.folder, message)
        assert message.location is not None
        file = message.location.file
        try:
            message_id = id_of(archived_file_of(data), file)
        except InvalidArchivedFile as error:
            raise ContentGone(f"{file} can't be read", "check whether it was moved", "E275") from error
        if message_id != message.id:
            raise ContentGone(
                f"{file} no longer has this message",
                "it was replaced; signalbox doctor checks what is there now",
                "E304",
            )
        return data

    def _row(self, message: Message) -> dict[str, object]:
        database = self._places.database
        assert database is not None
        row = look_or_gone(database, lambda mail: _row(mail, message.id), is_text=True)
        if row is None:
            raise ContentGone(
                f"message {message.id} is no longer in {database.name}", "check whether it was deleted", "E305"
            )
        return row


def _row(mail: sqlite3.Connection, message_id: str) -> dict[str, object] | None:
    """Return all columns of a message and of its recipients."""
    message = next(rows_of(mail.execute("SELECT * FROM messages WHERE id = ?", (message_id,))), None)
    if message is None:
        return None
    names = names_of(mail)
    to = rows_of(mail.execute("SELECT * FROM message_recipients WHERE message_id = ?", (message_id,)))
    return {
        **message,
        "sender": names.of(message["sender_id"]),
        "project": next((slug for (slug,) in mail.execute(PROJECT, (message["project_id"],))), ""),
        "recipients": [{"name": names.of(recipient["agent_id"]), **recipient} for recipient in to],
    }
