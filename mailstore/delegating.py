"""Stores that stand for others: what is asked of a message or an agent goes to the store that holds it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncGenerator, Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, ClassVar, NamedTuple, Self, TypeVar

from msgspec.structs import replace

from mailstore.errors import ContentGone, MailError, Unsupported
from mailstore.records.scope import Scope
from mailstore.store import Capabilities, Capability, Store, WatchedPaths

if TYPE_CHECKING:
    from mailstore.records.details import (
        AgentFact,
        AgentNote,
        AgentUsage,
        AttachedFile,
        MessageWay,
        SessionTurn,
        TranscriptPlace,
    )
    from mailstore.records.events import Event
    from mailstore.records.message import Message, Problem
    from mailstore.rules.archive_plan import LateWriter

COMMANDS = tuple(capability for capability in Capability if capability is not Capability.FOLLOW)
T = TypeVar("T")


class StoreBehind(NamedTuple):
    """A store behind another, and what its names are called there."""

    store: Store
    scope: Scope


class Delegating(Store):
    """A store that passes on what concerns reading; where no store can answer, it says that there is nothing."""

    is_carried: ClassVar[bool] = True

    @abstractmethod
    def _holders(self) -> Iterable[StoreBehind]:
        """Return the stores behind this one that can be read."""

    @abstractmethod
    def _holder(self, name: str) -> StoreBehind | None:
        """Return the store that holds a message, an agent or a file, unless it can't be read."""

    def _at(self, message: Message, look: Callable[[Store, Message], T]) -> T:
        """Ask the store that holds a message. Raises ContentGone."""
        if (held := self._holder(message.id)) is None:
            raise ContentGone(f"the mailbox of {message.id} can't be read", "try again when it can be reached", "E317")
        try:
            return look(held.store, held.scope.bare_message(message))
        except ContentGone:
            raise
        except MailError as error:
            raise ContentGone(error.problem, error.remedy) from error

    def content(self, message: Message) -> str:
        return self._at(message, lambda store, bare: store.content(bare))

    def raw(self, message: Message) -> bytes:
        return self._at(message, lambda store, bare: store.raw(bare))

    def search_text(self, message: Message) -> str:
        return self._at(message, lambda store, bare: store.search_text(bare))

    def keep_index(self, folder: Path) -> None:
        for held in self._holders():
            held.store.keep_index(folder)

    def watched(self) -> WatchedPaths:
        paths = [held.store.watched() for held in self._holders()]
        if not all(watched_paths.mail for watched_paths in paths):
            return WatchedPaths()
        mail = tuple(path for watched_paths in paths for path in watched_paths.mail)
        other = tuple(path for watched_paths in paths for path in watched_paths.other)
        return WatchedPaths(mail, other, all(watched_paths.is_exact for watched_paths in paths))

    def raw_problem(self, problem: Problem) -> bytes | None:
        held = self._holder(problem.file)
        return held.store.raw_problem(replace(problem, file=held.scope.bare(problem.file))) if held else None

    def attachments(self, message: Message, places: Sequence[str] = ()) -> Sequence[AttachedFile]:
        held = self._holder(message.id)
        return held.store.attachments(held.scope.bare_message(message), _bare(held, places)) if held else ()

    def open_attachment(self, message: Message, name: str, places: Sequence[str] = ()) -> BinaryIO:
        held = self._holder(message.id)
        bare = _bare(held, places) if held else ()
        return self._at(message, lambda store, message: store.open_attachment(message, name, bare))

    def describe_agent(self, name: str) -> Sequence[AgentFact]:
        held = self._holder(name)
        return held.store.describe_agent(held.scope.bare(name)) if held else ()

    def usage(self) -> Mapping[str, AgentUsage]:
        return {scope.name(name): usage for store, scope in self._holders() for name, usage in store.usage().items()}

    def session_usage(self, sessions: Collection[str]) -> Mapping[str, AgentUsage]:
        return {name: usage for store, _ in self._holders() for name, usage in store.session_usage(sessions).items()}

    def agent_notes(self) -> Iterator[AgentNote]:
        for store, scope in self._holders():
            for note in store.agent_notes():
                yield replace(note, agent=scope.name(note.agent), source=scope.id(note.source))

    def ways(self, message: Message, places: Sequence[str] = ()) -> Sequence[MessageWay]:
        held = self._holder(message.id)
        return held.store.ways(held.scope.bare_message(message), _bare(held, places)) if held else ()

    def transcripts(self, message: Message) -> Sequence[TranscriptPlace]:
        held = self._holder(message.id)
        if held is None:
            return ()
        places = held.store.transcripts(held.scope.bare_message(message))
        return [replace(place, agent=held.scope.name(place.agent), file=held.scope.id(place.file)) for place in places]

    def turns(self, place: TranscriptPlace) -> Sequence[SessionTurn]:
        held = self._holder(place.file)
        return held.store.turns(replace(place, file=held.scope.bare(place.file))) if held else ()

    def proof(self, message: Message) -> str:
        return self._at(message, lambda store, held: store.proof(held))

    def is_waiting(self, places: Sequence[str]) -> bool:
        held = self._holder(places[0]) if places else None
        return held is not None and held.store.is_waiting(_bare(held, places))

    def delayed(self) -> Mapping[str, MessageWay]:
        return {
            scope.id(message_id): replace(way, recipient=scope.name(way.recipient))
            for store, scope in self._holders()
            for message_id, way in store.delayed().items()
        }

    def late_writers(self) -> list[LateWriter]:
        return [
            replace(writer, file=scope.id(writer.file))
            for store, scope in self._holders()
            for writer in store.late_writers()
        ]


def _bare(held: StoreBehind, places: Sequence[str]) -> list[str]:
    return [held.scope.bare(place) for place in places]


class ReadOnly(Delegating):
    """Yields everything that another store does, and refuses every command with a reason."""

    kind: ClassVar[str] = "read-only"
    summary: ClassVar[str] = "another store, read-only"
    declared: ClassVar[Capabilities] = Capabilities().without("it is read-only", *COMMANDS)

    def __init__(self, store: Store, reason: str) -> None:
        self._store = store
        self._held = StoreBehind(store, Scope(""))
        self._reason = reason

    @classmethod
    def open(cls, location: str, *, poll: bool = False) -> Self:
        """Refuse: it needs another store. Raises Unsupported."""
        raise Unsupported("a read-only store is made of another one", "open that one", "E303")

    def _holders(self) -> list[StoreBehind]:
        return [self._held]

    def _holder(self, name: str) -> StoreBehind:
        return self._held

    @property
    def url(self) -> str:
        return self._store.url

    @property
    def title(self) -> str:
        return self._store.title

    @property
    def capabilities(self) -> Capabilities:
        """Return the other store's, less all commands."""
        return self._store.capabilities.without(self._reason, *COMMANDS)

    def scan(self) -> Iterator[list[Event]]:
        return self._store.scan()

    def changes(self) -> AsyncGenerator[list[Event], None]:
        return self._store.changes()

    def contents(self, messages: Iterable[Message]) -> Iterator[str | ContentGone]:
        return self._store.contents(messages)

    def candidates(self, words: Sequence[str]) -> Generator[list[str]] | None:
        return self._store.candidates(words)

    def archive_file(self, month: str) -> str:
        return self._store.archive_file(month)

    def unsupported(self, capability: Capability) -> Unsupported:
        """Return the error for a command: its reason is the same for all."""
        return Unsupported(f"can't {capability.value.replace('-', ' ')}", self._reason, "E340")

    def why_not_acknowledged(self, message_id: str) -> str:
        return self._reason
