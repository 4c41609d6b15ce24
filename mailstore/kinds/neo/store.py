"""The store for a Memory Core's graph (docs/formats/neo.md)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from mailstore.errors import ContentGone, reason_of
from mailstore.kinds.neo import graph as ask
from mailstore.kinds.neo.decode import MESSAGE
from mailstore.kinds.neo.feed import GraphFeed
from mailstore.kinds.neo.places import DATABASE, NeoPlaces, find
from mailstore.kinds.neo.queue import WriteAheadQueue
from mailstore.kinds.neo.records import InvalidNode, node_of, queued_of, text_of
from mailstore.kit.record_reader import RecordReader
from mailstore.kit.tables import look_or_gone
from mailstore.kit.watched_store import WatchedStore
from mailstore.records.message import Message, Problem
from mailstore.store import Capabilities, Capability, WatchedPaths

if TYPE_CHECKING:
    from mailstore.records.draft import Draft

MISSING = {
    Capability.UPDATE_ROSTER: "the Memory Core creates its identities itself",
    Capability.RECORD: "the graph has no journal",
    Capability.ARCHIVE: "each recipient archives its own mail with the Memory Core's tools",
    Capability.ADOPT: "only the Memory Core creates a graph",
    Capability.SEVERAL: "a message goes to one identity, or to all",
    Capability.TYPE: "its messages have no type",
    Capability.TTL: "its messages do not expire",
    Capability.METADATA: "its messages have no further fields",
    Capability.AUDIENCE: "the audience of a broadcast is the Memory Core's own list of agents",
}
ALONE = "the graph is not in a .neo-ai-data folder with a log that the Memory Core reads"
OWN_MARKS = "each recipient marks its own mail with the Memory Core's tools"
SENDING = (Capability.SEND, Capability.SUBJECT, Capability.REPLY)


class NeoStore(WatchedStore):
    """The messages and identities of a graph, and queued messages in its log."""

    kind: ClassVar[str] = "neo"
    summary: ClassVar[str] = "neo.mjs' Memory Core: a graph in .neo-ai-data/sqlite/memory-core-graph.sqlite"
    missing: ClassVar[tuple[str, str]] = (
        f"there is no {DATABASE} at {{path}}",
        "name the repository, or the file itself",
    )
    declared: ClassVar[Capabilities] = Capabilities(MISSING)
    known_fields: ClassVar[frozenset[str]] = frozenset(
        {"id", "label"}
        | {f"properties.{name}" for name in ("subject", "bodyText", "sentAt", "readAt", "archivedAt", "from", "to")}
        | {f"properties.{name}" for name in ("inReplyTo", "partOfThread", "taggedConcepts", "relatedTickets")}
    )

    def __init__(self, places: NeoPlaces, *, poll: bool = False) -> None:
        super().__init__(RecordReader(GraphFeed(places)), places.folder, poll=poll)
        self._places = places

    @property
    def capabilities(self) -> Capabilities:
        """Return what can be done here: without the log nothing can be sent."""
        return self.declared if self._places.log else self.declared.without(ALONE, *SENDING)

    def capabilities_for(self, name: str) -> Capabilities:
        """Return what can be done with a message or an identity: only the user's mail can be marked."""
        capabilities = self.capabilities
        return capabilities.without(OWN_MARKS, Capability.MARK_READ) if name.startswith("@") else capabilities

    @classmethod
    def find(cls, path: Path) -> NeoPlaces | None:
        return find(path)

    def watched(self) -> WatchedPaths:
        """Return the database and its log, which hold everything."""
        return super().watched()._replace(is_exact=True)

    @property
    def url(self) -> str:
        return f"{self.kind}:{self._places.database.resolve()}"

    @property
    def title(self) -> str:
        data = self._places.data
        return data.parent.name[:30] or data.name if data else self._places.database.name[-40:]

    def below(self) -> Sequence[str]:
        return ("sqlite", "memory-wal/messages") if self._places.data else ()

    def content(self, message: Message) -> str:
        data, is_queued = self._record(message)
        try:
            known = queued_of(data).message.properties if is_queued else node_of(data).properties
        except InvalidNode as error:
            raise ContentGone(f"message {message.id} can no longer be read", str(error), "E306") from error
        return text_of(known.bodyText)

    def raw(self, message: Message) -> bytes:
        """Return the JSON of a message's node, or its line in the log while it is queued. Raises ContentGone."""
        return self._record(message)[0]

    def raw_problem(self, problem: Problem) -> bytes | None:
        row = look_or_gone(self._places.database, lambda graph: ask.row_at(graph, problem.line))
        is_about = row is not None and problem.reason.startswith((row.id[:80], f"Nodes, row {row.place}:"))
        return row.data if row is not None and is_about else None

    def _record(self, message: Message) -> tuple[bytes, bool]:
        """Return a message's node, or its line in the log, and whether it is that. Raises ContentGone."""
        node_id, database = f"{MESSAGE}{message.id}", self._places.database
        if rows := look_or_gone(database, lambda graph: ask.rows(graph, [node_id])):
            return rows[0].data, False
        try:
            waiting = WriteAheadQueue(self._places.log).look().get(node_id) if self._places.log else None
        except OSError as error:
            raise ContentGone(f"{database.name} can't be read", reason_of(error), "E444") from error
        if waiting is None:
            raise ContentGone(f"message {message.id} is no longer in the graph", "check whether it was deleted", "E316")
        return waiting.line.data, True

    def write_message(self, draft: Draft) -> Message:
        """Append a message to the log from which the Memory Core fills its graph."""
        from mailstore.kinds.neo.writer import write_message

        return write_message(self._places, draft)

    def write_reads(self, reader: str, message_ids: Sequence[str]) -> int:
        """Record that the user has read their own mail; return how many messages were unread."""
        from mailstore.kinds.neo.writer import write_reads

        return write_reads(self._places, reader, message_ids)
