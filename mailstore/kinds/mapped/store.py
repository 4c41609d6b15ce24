"""The read-only store for mailboxes described by a mapping file (docs/formats/mapped.md)."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from mailstore.errors import ContentGone, MailboxMissing, reason_of
from mailstore.files.database import Unreadable
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.mapped.decode import body_of
from mailstore.kinds.mapped.origins import MappedRecord
from mailstore.kinds.mapped.rows import MappedDatabase
from mailstore.kinds.mapped.source import MappedSource
from mailstore.kit.locating import unreadable
from mailstore.kit.part_reader import PartReader
from mailstore.kit.watched_store import WatchedStore
from mailstore.location import path_of
from mailstore.records.message import Message, Problem
from mailstore.store import Capabilities, Capability, WatchedPaths

if TYPE_CHECKING:
    from mailstore.kinds.mapped.mapping import Mapping

LARGEST = 1 << 20
READ_ONLY = "a mapping says how to read records, not what else the system's own program would write"


class MappedStore(WatchedStore):
    """A system's own files or rows; the mapping file says where they are and where each field is."""

    kind: ClassVar[str] = "mapped"
    summary: ClassVar[str] = "any JSONL, JSON files or SQLite rows, by a mapping file; signalbox map guess proposes one"
    declared: ClassVar[Capabilities] = Capabilities(
        {capability: READ_ONLY for capability in Capability if capability is not Capability.FOLLOW}
    )

    def __init__(self, path: Path, mapping: Mapping, *, poll: bool = False) -> None:
        self._path = path
        self._source = MappedSource(mapping, path.parent)
        super().__init__(PartReader(self._source), self._source.origin.folder, poll=poll)

    @classmethod
    def recognise(cls, path: Path) -> bool:
        try:
            if path.suffix != ".toml" or not path.is_file():
                return False
            document = tomllib.loads(read_whole(path.resolve(), LARGEST).decode())
        except (OSError, NotAFile, ValueError, RecursionError):
            return False
        return isinstance(document.get("source"), dict) and isinstance(document.get("message"), dict)

    @classmethod
    def open(cls, location: str | Path, *, poll: bool = False) -> Self:
        """Open what a mapping file names; raises MailboxMissing, and StoreError for a mapping that is wrong."""
        path = path_of(location)
        from mailstore.kinds.mapped.mapping import load

        try:
            path = path.absolute()
            if not path.is_file():
                raise MailboxMissing(f"no mapping at {path}", "create one with signalbox map guess", "E524")
            store = cls(path, load(path.resolve()), poll=poll)
            if not store._source.origin.folder.is_dir():
                raise MailboxMissing(
                    f"{store._source.origin.folder} is not there", f"fix the source in {path.name}", "E288"
                )
        except OSError as error:
            raise unreadable(path, error) from error
        return store

    def watched(self) -> WatchedPaths:
        """Return nothing: the source may be anywhere, and may be a pattern."""
        return WatchedPaths()

    @property
    def url(self) -> str:
        return f"{self.kind}:{self._path.parent.resolve() / self._path.name}"

    @property
    def title(self) -> str:
        return f"{self._path.parent.name}/{self._path.name}"

    def below(self) -> Sequence[str]:
        people = self._source.people
        besides = [str(people.folder), *(str(people.folder / name) for name in people.below())] if people else []
        return [*self._source.origin.below(), *besides]

    def content(self, message: Message) -> str:
        return body_of(self._source.mapping, self._found(message))

    def raw(self, message: Message) -> bytes:
        """Return a message's record: its bytes, or its row as JSON. Raises ContentGone."""
        return self._found(message).raw

    def raw_problem(self, problem: Problem) -> bytes | None:
        origin = self._source.origin
        if not isinstance(origin, MappedDatabase):
            return None
        try:
            return origin.raw_row(problem)
        except (OSError, Unreadable) as error:
            raise ContentGone(f"{origin.path.name} can't be read", reason_of(error), "E444") from error

    def _found(self, message: Message) -> MappedRecord:
        try:
            return self._source.find(message)
        except (OSError, Unreadable) as error:
            raise ContentGone(
                f"message {message.id} can't be read", "check whether it was moved or deleted", "E314"
            ) from error
