"""A store that is looked at and never written to, whatever it could do."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Self

from mailstore.errors import ContentGone, Unsupported
from mailstore.records.events import Event
from mailstore.records.message import Message
from mailstore.rules.archive_plan import LateWriter
from mailstore.store import Capabilities, Capability, Store

__all__ = ["ReadOnly"]


class ReadOnly(Store):
    """Hands everything out that another store does, and refuses every command with a reason."""

    kind: ClassVar[str] = "read-only"
    summary: ClassVar[str] = "another store, looked at only"

    def __init__(self, store: Store, reason: str) -> None:
        self._store = store
        self._reason = reason
        missing: dict[Capability, str] = dict(store.capabilities.missing)
        missing.update((each, reason) for each in Capability if each is not Capability.FOLLOW)
        self.capabilities = Capabilities(missing)  # type: ignore[misc]

    @classmethod
    def recognise(cls, path: Path) -> bool:
        """Say no: it stands before another store."""
        return False

    @classmethod
    def open(cls, path: Path, *, poll: bool = False) -> Self:
        """Refuse: it stands before another store."""
        raise Unsupported("a read-only store is made of another one", "open that one")

    @property
    def url(self) -> str:
        """Return the other store's name."""
        return self._store.url

    @property
    def title(self) -> str:
        """Return the other store's title."""
        return self._store.title

    def scan(self) -> Iterator[list[Event]]:
        """Yield all there is."""
        return self._store.scan()

    def changes(self) -> AsyncIterator[list[Event]]:
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

    def candidates(self, words: Sequence[str]) -> Generator[list[str]] | None:
        """Return the other store's hint for a search."""
        return self._store.candidates(words)

    def keep_index(self, folder: Path) -> None:
        """Keep the other store's index."""
        self._store.keep_index(folder)

    def late_writers(self) -> Sequence[LateWriter]:
        """Return who has a file of the other store open."""
        return self._store.late_writers()

    def archive_file(self, month: str) -> str:
        """Return what the other store calls a file of its archive."""
        return self._store.archive_file(month)

    def _unsupported(self, capability: Capability) -> Unsupported:
        return Unsupported(f"can't {capability.value.replace('-', ' ')}", self._reason)
