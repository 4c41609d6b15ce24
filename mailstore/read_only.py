"""A store that can be read and not written to, whatever the store behind it supports."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, ClassVar, Self

from mailstore.capabilities import Capabilities, Capability
from mailstore.errors import ContentGone, Unsupported
from mailstore.optional import (
    SearchHints,
    archive_file,
    attachments,
    candidates,
    delayed,
    describe_agent,
    is_waiting,
    late_writers,
    open_attachment,
    raw_problem,
    search_text,
    ways,
)
from mailstore.records.agent_fact import AgentFact
from mailstore.records.attached_file import AttachedFile
from mailstore.records.events import Event
from mailstore.records.letter_way import LetterWay
from mailstore.records.message import Message, Problem
from mailstore.rules.archive_plan import LateWriter
from mailstore.store import Store

__all__ = ["ReadOnly"]

COMMANDS = tuple(each for each in Capability if each is not Capability.FOLLOW)


class ReadOnly(Store):
    """Yields everything that another store does, and refuses every command with a reason."""

    kind: ClassVar[str] = "read-only"
    summary: ClassVar[str] = "another store, read-only"
    declared: ClassVar[Capabilities] = Capabilities().without("it is read-only", *COMMANDS)

    def __init__(self, store: Store, reason: str) -> None:
        self._store = store
        self._reason = reason

    @classmethod
    def open(cls, location: str, *, poll: bool = False) -> Self:
        """Refuse: it needs another store. Raises Unsupported."""
        raise Unsupported("a read-only store is made of another one", "open that one")

    @property
    def url(self) -> str:
        """Return the other store's URL."""
        return self._store.url

    @property
    def title(self) -> str:
        """Return the other store's title."""
        return self._store.title

    @property
    def capabilities(self) -> Capabilities:
        """Return the other store's, less all commands."""
        return self._store.capabilities.without(self._reason, *COMMANDS)

    def scan(self) -> Iterator[list[Event]]:
        """Yield all records."""
        return self._store.scan()

    def changes(self) -> AsyncGenerator[list[Event], None]:
        """Yield what comes."""
        return self._store.changes()

    def content(self, message: Message) -> str:
        """Return a message's body. Raises ContentGone."""
        return self._store.content(message)

    def contents(self, messages: Iterable[Message]) -> Iterator[str | ContentGone]:
        """Yield the bodies of many messages."""
        return self._store.contents(messages)

    def raw(self, message: Message) -> bytes:
        """Return a message's record. Raises ContentGone."""
        return self._store.raw(message)

    def search_text(self, message: Message) -> str:
        """Return what a search looks at in a message of the other store. Raises ContentGone."""
        return search_text(self._store, message)

    def candidates(self, words: Sequence[str]) -> Generator[list[str]] | None:
        """Return the other store's hint for a search."""
        return candidates(self._store, words)

    def attachments(self, message: Message, places: Sequence[str] = ()) -> Sequence[AttachedFile]:
        """Return the files of a message of the other store."""
        return attachments(self._store, message, places)

    def open_attachment(self, message: Message, name: str, places: Sequence[str] = ()) -> BinaryIO:
        """Open one of a message's files for reading. Raises ContentGone."""
        return open_attachment(self._store, message, name, places)

    def describe_agent(self, name: str) -> Sequence[AgentFact]:
        """Return what the other store knows of an agent."""
        return describe_agent(self._store, name)

    def ways(self, message: Message, places: Sequence[str] = ()) -> Sequence[LetterWay]:
        """Return how a message of the other store went."""
        return ways(self._store, message, places)

    def is_waiting(self, places: Sequence[str]) -> bool:
        """Return whether a message of the other store waits to be sent."""
        return is_waiting(self._store, places)

    def delayed(self) -> Mapping[str, LetterWay]:
        """Return the letters of the other store that could not be sent yet."""
        return delayed(self._store)

    def keep_index(self, folder: Path) -> None:
        """Keep the other store's index."""
        if isinstance(self._store, SearchHints):
            self._store.keep_index(folder)

    def late_writers(self) -> Sequence[LateWriter]:
        """Return the programs that have a file of the other store open."""
        return late_writers(self._store)

    def archive_file(self, month: str) -> str:
        """Return the other store's name for a file of its archive."""
        return archive_file(self._store, month)

    def unsupported(self, capability: Capability) -> Unsupported:
        """Return the error for a command: its reason is the same for all."""
        return Unsupported(f"can't {capability.value.replace('-', ' ')}", self._reason)

    def why_not_acknowledged(self, message_id: str) -> str:
        """Return why nothing can be acknowledged."""
        return self._reason

    def acknowledge(self, reader: str, message_ids: Sequence[str]) -> int:
        """Refuse. Raises Unsupported."""
        raise Unsupported("nothing can be acknowledged", self._reason)

    def raw_problem(self, problem: Problem) -> bytes | None:
        """Return the record that a problem of the other store is about. Raises ContentGone."""
        return raw_problem(self._store, problem)
