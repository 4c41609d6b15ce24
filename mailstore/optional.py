"""What some kinds of store offer beyond the contract: protocols, asked for with `isinstance`.

    if isinstance(store, SearchHints):
        store.keep_index(folder)

A kind implements the methods and need not name the protocol. A store that stands for others (several mailboxes, a
read-only one) implements all that concern reading and passes them on, and where the other store offers nothing, it
answers as documented here for "none". Copies and mirrors are made of the stores themselves.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, runtime_checkable

from mailstore.errors import ContentGone, Unsupported
from mailstore.records.extra_fields import extra_text

if TYPE_CHECKING:
    from mailstore.records.adopted import Adopted
    from mailstore.records.agent_fact import AgentFact
    from mailstore.records.attached_file import AttachedFile
    from mailstore.records.draft import Draft
    from mailstore.records.letter_way import LetterWay
    from mailstore.records.merged import Merged
    from mailstore.records.message import Message, Problem
    from mailstore.rules.archive_plan import LateWriter

__all__ = [
    "Acknowledgements",
    "ArchiveFiles",
    "CopiesFiles",
    "DescribesAgents",
    "FieldsInText",
    "KnownFields",
    "LateWriters",
    "LetterWays",
    "Merges",
    "MessageAttachments",
    "RawProblems",
    "SearchHints",
    "SearchableText",
    "WakesByText",
    "acknowledge",
    "archive_file",
    "attachments",
    "candidates",
    "delayed",
    "describe_agent",
    "is_for_named",
    "is_waiting",
    "late_writers",
    "open_attachment",
    "raw_problem",
    "search_text",
    "ways",
    "why_not_acknowledged",
    "would_wake",
]


@runtime_checkable
class SearchHints(Protocol):
    """Finds messages for a search faster than by reading each of them."""

    def candidates(self, words: Sequence[str]) -> Generator[list[str]] | None:
        """Return an iterator over the ids of all messages that may contain one of some words, in header or text.

        The search then checks each message: ids may come that contain none, or twice, or of messages that were never
        yielded; none may be left out that does. Those of the newest messages come early. Batches may be empty, so that
        the caller can stop soon. The iterator raises StoreError if it can't go on. None if there is no hint for these
        words.
        """

    def keep_index(self, folder: Path) -> None:
        """Keep an index for `candidates` in a folder and bring it up to date in the background; may block."""


@runtime_checkable
class SearchableText(Protocol):
    """Knows what a search looks at in a message besides its header."""

    def search_text(self, message: Message) -> str:
        """Return a message's body, and below it what its record says in fields unknown to us. Raises ContentGone."""


@runtime_checkable
class ArchiveFiles(Protocol):
    """Archives into files that have a name."""

    def archive_file(self, month: str) -> str:
        """Return the name, within the mailbox, of the archive file of a month (`YYYY-MM`)."""


@runtime_checkable
class LateWriters(Protocol):
    """Knows which programs hold the live mail open, whose writes during an archive run may come late."""

    def late_writers(self) -> Sequence[LateWriter]:
        """Return the programs that have a file of the live mail open, as far as the system tells; may block."""


@runtime_checkable
class WakesByText(Protocol):
    """A system whose agents react to their name in a text, regardless of its recipients."""

    def would_wake(self, draft: Draft, names: Iterable[str]) -> list[str]:
        """Return which of some agents a draft's text would wake by naming them, besides those it is addressed to."""

    def is_for_named(self, draft: Draft) -> bool:
        """Say whether a draft is only for those it names, and its channel only says where it is."""


@runtime_checkable
class Acknowledgements(Protocol):
    """A kind whose recipients can tell the sender, beyond having read a message, that they take note of it."""

    def why_not_acknowledged(self, message_id: str) -> str:
        """Return why a message can't be acknowledged here; empty if it can."""

    def acknowledge(self, reader: str, message_ids: Sequence[str]) -> int:
        """Record that a recipient acknowledges messages; return how many it had not yet. Blocks; raises StoreError."""


@runtime_checkable
class CopiesFiles(Protocol):
    """A kind whose mailbox can be copied file by file, with damage and unknown fields."""

    def copy_files(self, source: Any) -> None:
        """Make this new mailbox a copy of another of the same class. Raises StoreError."""


@runtime_checkable
class Merges(Protocol):
    """A kind that takes records of other mailboxes as they are while programs read and write it."""

    def merge(self, records: Sequence[Adopted]) -> Merged:
        """Append the records that this mailbox does not have yet, with their ids, senders and times.

        A message is there if its id is, a read or delivery if one of the same message and name is, a record of the
        journal if its id is, and a line of an agent if its last line says the same. That is checked and written under
        the kind's own locks, so that nothing is doubled whoever else merges; a message does not come before its
        deliveries. Raises StoreError if nothing more can be written: some may have been, and the same call again
        writes the rest. May block.
        """


@runtime_checkable
class KnownFields(Protocol):
    """A kind whose `raw` is a JSON object, so that a copy into another kind can carry fields unknown to us."""

    @property
    def known_fields(self) -> frozenset[str]:
        """Return the fields of a record, by dotted name, that a message's header and body show."""


@runtime_checkable
class RawProblems(Protocol):
    """A kind whose records are not in lines of files, such as the rows of a database."""

    def raw_problem(self, problem: Problem) -> bytes | None:
        """Return the record that a problem is about; None if it is about no single one. Raises ContentGone."""


@runtime_checkable
class FieldsInText(Protocol):
    """A kind whose `content` appends fields to the text proper."""

    @property
    def fields_in_text(self) -> frozenset[str]:
        """Return those of the known fields that `content` appends to the text."""


@runtime_checkable
class MessageAttachments(Protocol):
    """A kind whose messages may have files that are kept apart from them."""

    def attachments(self, message: Message, places: Sequence[str] = ()) -> Sequence[AttachedFile]:
        """Return the files of a message, also those that are missing; `places` are the files of all its copies.

        Blocks. Empty if there are none.
        """

    def open_attachment(self, message: Message, name: str, places: Sequence[str] = ()) -> BinaryIO:
        """Open one of a message's files for reading. Blocks; raises ContentGone if it can't be read."""


@runtime_checkable
class DescribesAgents(Protocol):
    """A kind that knows more of an agent than the roster says."""

    def describe_agent(self, name: str) -> Sequence[AgentFact]:
        """Return what is known of an agent, by its name in this mailbox. Blocks; empty if nothing is."""


@runtime_checkable
class LetterWays(Protocol):
    """A kind whose letters are carried by transports, which are recorded."""

    def ways(self, message: Message, places: Sequence[str] = ()) -> Sequence[LetterWay]:
        """Return how a message went to its recipients and how its copies came, as far as it is recorded. Blocks."""

    def is_waiting(self, places: Sequence[str]) -> bool:
        """Return whether a message with copies in these files waits to be sent; looks at nothing but the names."""

    def delayed(self) -> Mapping[str, LetterWay]:
        """Return the letters that could not be sent yet, by message id, each with its last failure. Blocks."""


def candidates(store: object, words: Sequence[str]) -> Generator[list[str]] | None:
    """Return a store's hint for a search; None if it has none."""
    return store.candidates(words) if isinstance(store, SearchHints) else None


class ReadsMail(Protocol):
    """What every store does, as `search_text` needs it."""

    def content(self, message: Message) -> str: ...
    def raw(self, message: Message) -> bytes: ...


def search_text(store: ReadsMail, message: Message) -> str:
    """Return what a search looks at in a message besides its header. Blocks; raises ContentGone."""
    if isinstance(store, SearchableText):
        return store.search_text(message)
    body = store.content(message)
    if not isinstance(store, KnownFields):
        return body
    extra = extra_text(store.raw(message), store.known_fields)
    return f"{body}\n{extra}" if extra else body


def raw_problem(store: object, problem: Problem) -> bytes | None:
    """Return the record that a problem is about, of a store without lines. Blocks; raises ContentGone."""
    return store.raw_problem(problem) if isinstance(store, RawProblems) else None


def attachments(store: object, message: Message, places: Sequence[str] = ()) -> Sequence[AttachedFile]:
    """Return the files of a message, of a store that has such. Blocks."""
    return store.attachments(message, places) if isinstance(store, MessageAttachments) else ()


def open_attachment(store: object, message: Message, name: str, places: Sequence[str] = ()) -> BinaryIO:
    """Open one of a message's files for reading. Blocks; raises ContentGone."""
    if isinstance(store, MessageAttachments):
        return store.open_attachment(message, name, places)
    raise ContentGone("messages of this mailbox have no attached files", "look at the message's record")


def describe_agent(store: object, name: str) -> Sequence[AgentFact]:
    """Return what a store knows of an agent besides its entry in the roster. Blocks."""
    return store.describe_agent(name) if isinstance(store, DescribesAgents) else ()


def ways(store: object, message: Message, places: Sequence[str] = ()) -> Sequence[LetterWay]:
    """Return how a message went to its recipients and how its copies came. Blocks."""
    return store.ways(message, places) if isinstance(store, LetterWays) else ()


def is_waiting(store: object, places: Sequence[str]) -> bool:
    """Return whether a message with copies in these files waits to be sent."""
    return isinstance(store, LetterWays) and store.is_waiting(places)


def delayed(store: object) -> Mapping[str, LetterWay]:
    """Return the letters that could not be sent yet, by message id. Blocks."""
    return store.delayed() if isinstance(store, LetterWays) else {}


def why_not_acknowledged(store: object, message_id: str) -> str:
    """Return why a message can't be acknowledged in a store; empty if it can."""
    if isinstance(store, Acknowledgements):
        return store.why_not_acknowledged(message_id)
    return "its messages are not acknowledged: reply instead"


def acknowledge(store: object, reader: str, message_ids: Sequence[str]) -> int:
    """Acknowledge messages for a recipient; return how many it had not yet. Blocks; raises StoreError, Unsupported."""
    if not message_ids:
        return 0
    why_not = next(filter(None, (why_not_acknowledged(store, each) for each in message_ids)), "")
    if why_not or not isinstance(store, Acknowledgements):
        raise Unsupported("nothing was acknowledged", why_not)
    return store.acknowledge(reader, message_ids)


def archive_file(store: object, month: str) -> str:
    """Return what a store calls the archive of a month; the month itself if it has no name for it."""
    return store.archive_file(month) if isinstance(store, ArchiveFiles) else month


def late_writers(store: object) -> Sequence[LateWriter]:
    """Return the programs that hold a store's live mail open, as far as it knows; may block."""
    return store.late_writers() if isinstance(store, LateWriters) else ()


def would_wake(store: object, draft: Draft, names: Iterable[str]) -> list[str]:
    """Return which of some agents a draft's text would wake by naming them."""
    return store.would_wake(draft, names) if isinstance(store, WakesByText) else []


def is_for_named(store: object, draft: Draft) -> bool:
    """Say whether a draft is only for those it names."""
    return isinstance(store, WakesByText) and store.is_for_named(draft)
