"""What an author of a store provides for the suite: doing to a mailbox what other programs do to it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar

import pytest

from mailstore.records.draft import Draft, draft
from mailstore.store import Capabilities, Capability, Store

Snapshot = Mapping[str, tuple[bytes, int]]
"""Every file of a mailbox by name: its bytes, and its modification time in nanoseconds."""


class Feature(StrEnum):
    """Something that a harness may be unable to do, because the kind of store has no such thing."""

    MISS = "show a location without a mailbox"
    NAME = "open a mailbox by its URL"
    NO_ID = "write a message without an id"
    NO_TIME = "write a message without a time"
    NO_SUBJECT = "write a message without a subject"
    SAME_ID = "write two messages with one id"
    DAMAGE = "write something that is not a record"
    TEAR = "write part of a record now, the rest later"
    REPLACE = "put another mailbox in the place of this one"
    REMOVE = "take a mailbox away, and bring it back"
    LOSE = "lose the bodies of a mailbox that is taken away"
    LOCK = "hold the lock that writers take"
    MARK_OTHERS = "mark mail read for any reader"
    SNAPSHOT = "return the bytes and times of files"
    AGENT = "write an agent"
    EXTRA = "write unknown fields of an agent"
    RECORDS = "write reads, deliveries and interventions"
    TAGS = "give an agent tags, or write to one"
    ROLES = "give an agent a role"
    FREEZE = "freeze an agent"
    SEVERAL = "write to several recipients"
    THREAD = "write an answer"
    SUBJECT = "write a subject"
    TYPE = "write a type"
    TTL = "write a ttl"
    ANY_NAME = "name senders and recipients freely"
    OTHER = "write unknown fields of a message"
    VERBATIM = "find a record's bytes in the files"
    CONTROLS = "write control characters"
    BIG = "write a long text"
    DISCONNECT = "lose the connection to the mailbox"


class Harness(ABC):
    """One mailbox of one kind, for one test, at a location of its own; at first there is none.

    Fields have the names of `docs/semantics.md` (`id`, `sender`, `recipient`, `timestamp`, `content`, `session_id`,
    `message_id`, …); times are ISO 8601. What a harness can't do is in `cannot` with the reason, in words for a
    person, and the method is left as it is here.
    """

    store: ClassVar[type[Store]]
    cannot: ClassVar[Mapping[Feature, str]] = {}

    secrets: ClassVar[Sequence[str]] = ()
    """The secrets in `location`, which the store must never show."""

    def need(self, *needed: Feature | Capability) -> None:
        """Skip the running test if the store or this harness lacks something."""
        for one in needed:
            why = self.capabilities.why_not(one) if isinstance(one, Capability) else self.why_not(one)
            if why:
                pytest.skip(f"{self.store.called()} can't {one.value}: {why}")

    def why_not(self, feature: Feature) -> str:
        """Return why this harness lacks a feature; empty if it has it."""
        return self.cannot.get(feature, "")

    @property
    def capabilities(self) -> Capabilities:
        """Return what an opened mailbox can do: as a rule, all that its kind declares."""
        return self.store.declared

    @property
    def writer(self) -> str:
        """Return the sender of drafts: `user` in a system that takes messages from the user only."""
        return "ann-00000001"

    @property
    def reader(self) -> str:
        """Return whose mail is marked read: `user` where only the user may do that, for their own mail."""
        return "ann-00000001"

    def draft(self, **fields: Any) -> Draft:
        """Return a draft of this writer's."""
        return draft(sender=self.writer, **fields)

    @property
    @abstractmethod
    def location(self) -> str:
        """Return where the mailbox is, or will be: what `Store.open` takes."""

    @abstractmethod
    def make(self) -> None:
        """Make an empty mailbox, as the system's own program does."""

    def open(self, *, poll: bool = False) -> Store:
        """Open the mailbox; may be done several times."""
        return self.store.open(self.location, poll=poll)

    def create(self) -> Store:
        """Create the mailbox by `Store.create`, and open it."""
        return self.store.create(self.location)

    @abstractmethod
    def message(self, fields: Mapping[str, Any]) -> None:
        """Append a message as another program would."""

    def agent(self, fields: Mapping[str, Any]) -> None:
        """Append an agent to the roster, or replace it there."""
        raise NotImplementedError

    def agent_fields(self, session_id: str) -> Mapping[str, Any]:
        """Return all fields of an agent's entry in the roster (Feature.EXTRA)."""
        raise NotImplementedError

    def read(self, fields: Mapping[str, Any]) -> None:
        """Append a read record: `message_id`, `reader`, `timestamp` (Feature.RECORDS)."""
        raise NotImplementedError

    def delivery(self, fields: Mapping[str, Any]) -> None:
        """Append a delivery record: `message_id`, `recipient`, `timestamp` (Feature.RECORDS)."""
        raise NotImplementedError

    def damage(self) -> None:
        """Append one line or file that is not a valid record."""
        raise NotImplementedError

    def tear(self, fields: Mapping[str, Any]) -> None:
        """Append the first part of a message's record."""
        raise NotImplementedError

    def repair(self) -> None:
        """Append the rest of the record that `tear` began."""
        raise NotImplementedError

    def replace(self, *messages: Mapping[str, Any]) -> None:
        """Replace the mailbox by one with exactly these messages."""
        raise NotImplementedError

    def remove(self) -> None:
        """Take the mailbox away, so that there is none at the location."""
        raise NotImplementedError

    def restore(self) -> None:
        """Bring back the mailbox that `remove` took away."""
        raise NotImplementedError

    def disconnect(self) -> None:
        """Cut the connection to the mailbox, which keeps its records (Feature.DISCONNECT)."""
        raise NotImplementedError

    def reconnect(self) -> None:
        """Restore the connection that `disconnect` cut."""
        raise NotImplementedError

    def lock(self) -> AbstractContextManager[object]:
        """Hold the lock that every writer takes, and let writers time out at once."""
        raise NotImplementedError

    def snapshot(self) -> Snapshot:
        """Return every file of the mailbox as it is now."""
        raise NotImplementedError


class FileHarness(Harness):
    """A mailbox at a path."""

    @property
    @abstractmethod
    def path(self) -> Path:
        """Return the path of the mailbox."""

    @property
    def location(self) -> str:
        """Return the path as text."""
        return str(self.path)

    def why_not(self, feature: Feature) -> str:
        """Return why this harness lacks a feature: files have no connection to lose."""
        return "it is on files" if feature is Feature.DISCONNECT else super().why_not(feature)


def on_files(harness: Harness) -> FileHarness:
    """Return the harness of a kind on files; skip the running test if it is another one."""
    if not isinstance(harness, FileHarness):
        pytest.skip("it is not on files")
    return harness
