"""The contract that every kind of mailbox fulfils."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Generator, Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

import msgspec

from mailstore.errors import ContentGone, Unsupported
from mailstore.records.events import Event
from mailstore.records.message import Intervention, Message
from mailstore.records.roster import Agent

if TYPE_CHECKING:
    from mailstore.records.adopted import Adopted
    from mailstore.records.draft import Draft
    from mailstore.rules.archive_plan import ArchivePlan, ArchiveReport, IsCancelled, LateWriter, Tell

__all__ = ["Capabilities", "Capability", "Store"]


class Capability(StrEnum):
    """What a kind of store may or may not be able to do; the last ones, what a message that is sent may carry."""

    FOLLOW = "follow"
    SEND = "send"
    MARK_READ = "mark-read"
    UPDATE_ROSTER = "update-roster"
    RECORD = "record"
    ARCHIVE = "archive"
    SEVERAL = "address-several"
    SUBJECT = "give-a-subject"
    REPLY = "reply"
    TYPE = "give-a-type"
    TTL = "set-a-ttl"
    METADATA = "add-metadata"
    AUDIENCE = "record-the-audience"
    ADOPT = "take-over"


class Capabilities(msgspec.Struct, frozen=True):
    """What a store can do, and for what it can't the reason, in words for a person."""

    missing: dict[Capability, str] = {}

    def __contains__(self, capability: Capability) -> bool:
        return capability not in self.missing

    def why_not(self, capability: Capability) -> str:
        """Return why a capability is missing; empty where it is there."""
        return self.missing.get(capability, "")


class Store(ABC):
    """A mailbox where it lies: turns its files into events, and commands into its files.

    *Ordering.* `scan` yields batches of events: the roster first, then the newest messages, then the
    rest in any order. A fold must not depend on the order. `changes` yields, in the order of the files,
    everything that came after what `scan` handed out, each record once; where `scan` was not exhausted
    before `changes` starts, nothing is lost either. `Reset` means that all records handed out so far are
    void and everything follows anew; `Gone`, that the mailbox can't be reached for now.

    *Identity.* A message's id is never empty. Where a record has none, the store derives one that is
    the same at every reading. Records that claim the same id are all handed out: the fold decides.

    *Damage.* A line or file that is no record is handed out as a `Problem`; it is never dropped, never
    raised, and the records around it are all handed out. An unterminated record at the end of a file is
    held back until it is complete.

    *Looking changes nothing.* Opening, `scan`, `changes`, `content` and `raw` leave every byte and time
    of the mailbox's files as they were.

    *Threads.* `scan`, `content`, `raw`, `send`, `mark_read`, `update_agent`, `record` and `archive` block; they
    may be called from any thread, and several at a time. `changes` belongs to one event loop and never blocks
    it. A store has one consumer of `scan` and `changes`.

    *Errors.* Only `MailError`s come out on purpose: `MailboxMissing` when nothing lies there,
    `MailboxBusy` when the lock can't be had in time, `ContentGone` when a body is no longer where it
    was, `Unsupported` for what `capabilities` says is missing, `StoreError` for all else that the file
    system refuses. A command that raises has written nothing.
    """

    kind: ClassVar[str]
    """The URL's scheme."""

    summary: ClassVar[str]
    """One line for `signalbox stores`."""

    capabilities: ClassVar[Capabilities] = Capabilities()

    known_fields: ClassVar[frozenset[str]] = frozenset()
    """The fields of a record, by dotted name, that a message's header and body tell; none where `raw` is no JSON."""

    fields_in_text: ClassVar[frozenset[str]] = frozenset()
    """Those of them that `content` puts into the text beside the text proper."""

    def capabilities_for(self, name: str) -> Capabilities:
        """Return what can be done about a message or an agent, where that depends on which it is."""
        return self.capabilities

    @classmethod
    @abstractmethod
    def recognise(cls, path: Path) -> bool:
        """Say, by a cheap look, whether a mailbox of this kind lies at a path."""

    @classmethod
    def roots(cls, path: Path) -> dict[str, Path]:
        """Return the mailboxes of this kind that lie somewhere below a path, by what tells them apart: a cheap look."""
        return {}

    @classmethod
    @abstractmethod
    def open(cls, path: Path, *, poll: bool = False) -> Self:
        """Open the mailbox at a path, reading nothing yet; `poll` for file systems without events.

        Raises MailboxMissing when there is none.
        """

    @classmethod
    def create(cls, path: Path) -> Self:
        """Make an empty mailbox at a path and open it; an existing one is opened and left as it is."""
        raise Unsupported(f"{cls.called()} can't be made here", "use the system's own program")

    @classmethod
    def called(cls) -> str:
        """Return what a mailbox of this kind is called within a sentence."""
        return f"{'an' if cls.kind[0] in 'aeio' else 'a'} {cls.kind} mailbox"

    @property
    @abstractmethod
    def url(self) -> str:
        """Return `KIND:PATH`, absolute: what names this mailbox anywhere."""

    @property
    @abstractmethod
    def title(self) -> str:
        """Return the short path that a header shows."""

    @property
    def notice(self) -> str:
        """Return what whoever looks at this mailbox must know first; empty as a rule."""
        return ""

    @abstractmethod
    def scan(self) -> Iterator[list[Event]]:
        """Yield all there is, in batches."""

    @abstractmethod
    def changes(self) -> AsyncIterator[list[Event]]:
        """Yield what came since the last batch handed out, until the iterator is closed."""

    @abstractmethod
    def content(self, message: Message) -> str:
        """Return a message's body. Raises ContentGone."""

    def contents(self, messages: Iterable[Message]) -> Iterator[str | ContentGone]:
        """Yield the bodies of many messages, in the order given; for one that is gone, what `content` would raise."""
        for message in messages:
            try:
                yield self.content(message)
            except ContentGone as error:
                yield error

    @abstractmethod
    def raw(self, message: Message) -> bytes:
        """Return a message's record as it stands in the store. Raises ContentGone."""

    def candidates(self, words: Sequence[str]) -> Generator[list[str]] | None:
        """Return an iterator over the ids of all messages that may hold one of some words, in header or text.

        A hint for a search, which asks each message then: ids may come that don't hold any, or twice, or of messages
        that were never handed out; none may be left out that does. Those of the newest messages come early. Batches
        may be empty, so that whoever asks can stop soon. It raises StoreError where it can't go on. None where this
        kind of store, or these words, give no hint.
        """
        return None

    def keep_index(self, folder: Path) -> None:  # noqa: B027 - a kind that needs no index has nothing to keep
        """Keep an index for `candidates` in a folder, where this kind has one, and bring it up behind; may block."""

    def send(self, draft: Draft) -> Message:
        """Append a message, and its audience as deliveries; return it as it was written."""
        raise self._unsupported(Capability.SEND)

    def would_wake(self, draft: Draft, names: Iterable[str]) -> list[str]:
        """Return which of some agents a draft's text would wake by naming them, beside those it is addressed to."""
        return []

    def is_for_named(self, draft: Draft) -> bool:
        """Say whether a draft is for those alone that it names, and its channel tells only where it stands."""
        return False

    def mark_read(self, reader: str, message_ids: Sequence[str]) -> int:
        """Record that `reader` has read just these messages; return how many records were written."""
        raise self._unsupported(Capability.MARK_READ)

    def update_agent(self, agent: Agent) -> None:
        """Register an agent, or replace what the roster says of it; fields unknown to us stay."""
        raise self._unsupported(Capability.UPDATE_ROSTER)

    def record(self, intervention: Intervention) -> None:
        """Append what the person did to the oversight journal."""
        raise self._unsupported(Capability.RECORD)

    def archive(
        self, plan: ArchivePlan, *, progress: Tell | None = None, is_cancelled: IsCancelled | None = None
    ) -> ArchiveReport:
        """Move a plan's messages into the archive while others read and write; say what was done.

        Nothing is lost or doubled whatever ends it: what a sudden end leaves is finished or undone by the next
        command that writes, and until then every message is read all the same. A plan that was overtaken is kept
        to only as far as it still holds: a thread that got new mail stays. A cancelled one changes nothing.
        """
        raise self._unsupported(Capability.ARCHIVE)

    def copy_files(self, source: Self) -> bool:
        """Make this new mailbox a copy of another of its kind, file by file; say whether this kind can do so.

        Everything is carried: what is damaged, and fields that nobody knows. Raises StoreError.
        """
        return False

    def adopt(self, records: Iterable[Adopted]) -> None:
        """Write what another mailbox held, as it was: ids, senders and times, as far as this kind can hold them.

        The mailbox must be a new one, which no program has open yet: so a kind may take mail over that can't send any.
        Agents come first, then deliveries, receipts and interventions, then the messages, oldest first. What a kind
        has no place for is left out, a record that it can't hold at all too.
        """
        raise self._unsupported(Capability.ADOPT)

    def late_writers(self) -> Sequence[LateWriter]:
        """Return the programs that have a file of the live mail open, as far as the system tells; may block."""
        return ()

    def archive_file(self, month: str) -> str:
        """Return what the archive's file of a month (`YYYY-MM`) is called within the store."""
        return month

    def close(self) -> None:  # noqa: B027 - a store that holds nothing has nothing to let go of
        """Let go of everything held; may be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _check(self, draft: Draft) -> None:
        """Refuse a draft that carries what this kind of mailbox can't hold. Raises Unsupported."""
        carried = {
            Capability.SEVERAL: len(draft.recipients) > 1,
            Capability.SUBJECT: bool(draft.subject),
            Capability.REPLY: draft.thread is not None,
            Capability.TYPE: bool(draft.type),
            Capability.TTL: draft.ttl_hours is not None,
            Capability.METADATA: bool(draft.metadata),
        }
        for capability, is_carried in carried.items():
            if is_carried and capability not in self.capabilities:
                raise self._unsupported(capability)

    def _unsupported(self, capability: Capability) -> Unsupported:
        reason = self.capabilities.why_not(capability)
        return Unsupported(f"{self.called()} can't {capability.value.replace('-', ' ')}", reason)
