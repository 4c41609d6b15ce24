"""The contract that every kind of mailbox fulfils."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, NamedTuple, Self, final

import msgspec

from mailstore.errors import ContentGone, MailError, Unsupported
from mailstore.records.events import Event
from mailstore.records.message import Intervention, Message, Problem
from mailstore.records.roster import Agent

if TYPE_CHECKING:
    from mailstore.records.adopted import Adopted, Merged
    from mailstore.records.details import (
        AgentFact,
        AgentNote,
        AgentUsage,
        AttachedFile,
        MessageWay,
        SessionTurn,
        TranscriptPlace,
    )
    from mailstore.records.draft import Draft
    from mailstore.rules.archive_plan import ArchivePlan, ArchiveReport, IsCancelled, LateWriter, Tell
TEMPLATES = {
    "send": "write_message",
    "mark_read": "write_reads",
    "update_agent": "write_agent",
    "record": "write_intervention",
    "archive": "write_archive",
    "adopt": "write_adopted",
    "acknowledge": "write_acknowledgements",
}
"""The final commands, and the hook that a kind implements for each."""


class Capability(StrEnum):
    """Something that a mailbox may or may not support: following, a command, or a field of a message that is sent."""

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


COMMANDS = (
    Capability.SEND,
    Capability.MARK_READ,
    Capability.UPDATE_ROSTER,
    Capability.RECORD,
    Capability.ARCHIVE,
    Capability.ADOPT,
)
"""The capabilities that stand for a command of `Store`."""
CARRIED = (
    Capability.SEVERAL,
    Capability.SUBJECT,
    Capability.REPLY,
    Capability.TYPE,
    Capability.TTL,
    Capability.METADATA,
    Capability.AUDIENCE,
)
"""The capabilities that stand for what a sent message can carry."""


class Capabilities(msgspec.Struct, frozen=True):
    """The capabilities a store lacks, each with the reason in words for a user; it has all the others."""

    missing: dict[Capability, str] = {}

    def __contains__(self, capability: Capability) -> bool:
        return capability not in self.missing

    def why_not(self, capability: Capability) -> str:
        """Return why a capability is missing; empty if it is there."""
        return self.missing.get(capability, "")

    def without(self, reason: str, *capabilities: Capability) -> Capabilities:
        """Return these capabilities less some, for one reason."""
        return Capabilities({**self.missing, **dict.fromkeys(capabilities, reason)})


class WatchedPaths(NamedTuple):
    """The files and folders of a mailbox of which one changes its stats when unread mail comes; none if that is not so.

    `other` are those that change only with other records. If `is_exact`, no record comes without a change of either.
    """

    mail: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    is_exact: bool = False


class Store(ABC):
    """A mailbox: its records as events, and commands that write to it.

    A kind of store sets `kind`, `summary` and `declared`, and implements `open`, `url`, `title`, `scan`, `changes`,
    `content` and `raw`. For each command that it offers it implements the hook: `write_message` for `send`,
    `write_reads` for `mark_read`, `write_agent` for `update_agent`, `write_intervention` for `record`,
    `write_archive` for `archive`, `write_adopted` for `adopt`. The commands themselves are final: they check the
    capabilities, then call the hook. What only some kinds offer has a default that says "none"; a store that stands for
    others (`mailstore.delegating`) passes on what concerns reading.

    *Location.* A mailbox is named by a URL, `KIND:LOCATION`. The location goes to `open` as it was typed: a path, a
    server's `//HOST/NAME`, or whatever the kind defines. It may contain secrets (`//USER:PASSWORD@HOST`, `?token=…`).
    They must not appear in `url`, `title`, `notice`, an error or an event: `mailstore.location.without_secrets` removes
    them. `url` is the key under which the user's own state and caches are kept, so it is the same for every user name
    and password. Within the process that was given the secrets, `open_store(store.url)` supplies them again.

    *Batches.* `scan` and `changes` yield lists of events. Some hundred to some thousand events are a good size: the
    first screen can't show the newest messages before their batch is complete. No batch of `changes` is empty.

    *Order.* `scan` yields the roster first, then the newest messages, then everything else in any order; `Progress`
    may follow at any point. The batch with the first `Progress` ends what the first screen waits for: it comes right
    after the newest messages, or with the last batch if the scan is short. A scan without any `Progress` is waited for
    a tenth of a second. A fold must not depend on the order.

    *Following.* `changes` yields, in the order of the store, everything that came after what `scan` yielded, each
    record once. If `scan` was not exhausted when `changes` starts, what is left of it comes first. `changes` is an
    asynchronous generator that runs until it is closed (`aclose`); what it had read but not yielded comes again
    from the next `changes`. `Reset` means that all earlier records are void and everything follows from the start;
    `Gone`, that the mailbox can't be reached for now. When it can be reached again, `Back` follows if the store knows
    that all earlier records still hold, else `Reset` and everything.

    *Identity.* A message's id is never empty. Where a record has none, the store derives one that is the same at
    every reading. Records that claim the same id are all yielded, with different `position`s: a store in which that can
    happen gives every message a `Location`. The fold decides which one counts.

    *Locations of records.* `Message.location` and `Problem` say where a record is, in terms of the store: for files, a
    name relative to the mailbox, a byte offset and a length; for a server, the name of a stream or table, a sequence
    number and a length (0 if unknown). They order records of one time, and `content` and `raw` find a record by them.

    *Headers.* Where a record has no subject, `subject` is the first non-empty line of its body, at most 80 characters;
    `mentions` are the `@names` in the body. `first_line` and `mentions` of the kit return both.

    *Damage.* A line, file or entry that is not a valid record is yielded as a `Problem`: it is never dropped, never
    raised, and the records around it are all yielded. An unterminated record at the end of a file is held back until it
    is complete.

    *Reading changes nothing.* `open`, `scan`, `changes`, `content` and `raw` leave every byte and time stamp of the
    mailbox as they were; on a server they acknowledge, delete and create nothing.

    *Threads.* `scan`, `content`, `raw` and the commands block; they may be called from any thread, several at a time.
    `changes` belongs to one event loop and never blocks it. A store has one consumer of `scan` and `changes`.

    *Errors.* Only `MailError`s are raised on purpose: `MailboxMissing` if there is no such mailbox, `MailboxBusy` if a
    lock can't be had in time, `ContentGone` if a body is no longer where it was, `Unsupported` for what `capabilities`
    says is missing, `StoreError` for everything else that the file system or server refuses. A command that raises
    has written nothing.
    """

    kind: ClassVar[str]
    """The URL's scheme: lower-case letters, digits, `-` and `+`."""

    summary: ClassVar[str]
    """One line for `signalbox stores`."""

    declared: ClassVar[Capabilities] = Capabilities()
    """What a mailbox of this kind can do at most."""

    sends_files: ClassVar[bool] = False
    """Whether `write_message` sends a draft's `attachments` too."""

    is_carried: ClassVar[bool] = False
    """Whether messages are carried by transports, so that one may wait: `ways`, `is_waiting` and `delayed` tell."""

    can_merge: ClassVar[bool] = False
    """Whether it takes records of other mailboxes as they are, by `merge`, while programs read and write it."""

    copies_files: ClassVar[bool] = False
    """Whether a new mailbox can be made a copy of another of its class file by file, by `copy_files`."""

    most_replicas: ClassVar[int] = 0
    """Of how many servers each may keep a new mailbox, as `?replicas=N` in its location says; 0: it has no replicas."""

    known_fields: ClassVar[frozenset[str] | None] = None
    """The fields of a record, by dotted name, that a header and body show; None unless `raw` is a JSON object."""

    fields_in_text: ClassVar[frozenset[str]] = frozenset()
    """Those of the known fields that `content` appends to the text proper."""

    def __init_subclass__(cls, **arguments: Any) -> None:
        """Refuse a class that replaces one of the final commands: its checks would be lost. Raises TypeError."""
        super().__init_subclass__(**arguments)
        for command, hook in TEMPLATES.items():
            if command in cls.__dict__:
                raise TypeError(f"{cls.__name__}.{command} replaces a final method: implement {hook}")

    # The kind

    @classmethod
    def recognise(cls, path: Path) -> bool:
        """Say, by a quick check, whether a path holds a mailbox of this kind; never for a kind that is not on files."""
        return False

    @classmethod
    def roots(cls, path: Path) -> dict[str, Path]:
        """Return the mailboxes of this kind below a path, each by a name that distinguishes it: a quick check."""
        return {}

    @classmethod
    @abstractmethod
    def open(cls, location: str, *, poll: bool = False) -> Self:
        """Open the mailbox at a location, reading nothing yet; `poll` is for file systems without change events.

        Raises MailboxMissing if there is none, and StoreError for a location that is not valid.
        """

    @classmethod
    def create(cls, location: str) -> Self:
        """Create an empty mailbox at a location and open it; an existing one is opened and left as it is."""
        raise Unsupported(f"{cls.called()} can't be made here", "use the system's own program", "E287")

    @classmethod
    def called(cls) -> str:
        """Return what a mailbox of this kind is called within a sentence."""
        return f"{'an' if cls.kind[0] in 'aeio' else 'a'} {cls.kind} mailbox"

    # The mailbox

    @property
    @abstractmethod
    def url(self) -> str:
        """Return `KIND:LOCATION` without secrets, and with an absolute path: what names this mailbox anywhere."""

    @property
    @abstractmethod
    def title(self) -> str:
        """Return a short name for headers, without secrets."""

    @property
    def notice(self) -> str:
        """Return what a reader of this mailbox must know first; empty as a rule."""
        return ""

    @property
    def capabilities(self) -> Capabilities:
        """Return what can be done in this mailbox: what is declared, or less."""
        return self.declared

    def capabilities_for(self, name: str) -> Capabilities:
        """Return what can be done with a message or an agent, where that depends on which it is."""
        return self.capabilities

    @abstractmethod
    def scan(self) -> Iterator[list[Event]]:
        """Yield all records, in batches; what was yielded is not repeated by another scan."""

    @abstractmethod
    def changes(self) -> AsyncGenerator[list[Event], None]:
        """Yield what came since the last batch, until the generator is closed."""

    @abstractmethod
    def content(self, message: Message) -> str:
        """Return a message's body. Raises ContentGone."""

    def contents(self, messages: Iterable[Message]) -> Iterator[str | ContentGone]:
        """Yield the bodies of many messages, in the order given; for a missing one, the error that `content` raises."""
        for message in messages:
            try:
                yield self.content(message)
            except ContentGone as error:
                yield error

    @abstractmethod
    def raw(self, message: Message) -> bytes:
        """Return a message's record as the store has it. Raises ContentGone."""

    # What some kinds offer: each method says "none" unless a kind replaces it. These may block, if nothing else is said

    def search_text(self, message: Message) -> str:
        """Return a message's body, and below it what its record says in fields unknown to us. Raises ContentGone."""
        from mailstore.records.extra_fields import extra_text  # the first frame needs none of it

        body = self.content(message)
        extra = "" if self.known_fields is None else extra_text(self.raw(message), self.known_fields)
        return f"{body}\n{extra}" if extra else body

    def candidates(self, words: Sequence[str]) -> Generator[list[str]] | None:
        """Return an iterator over the ids of all messages that may contain one of some words, in header or text.

        The search then checks each message: ids may come that contain none, or twice, or of messages that were never
        yielded; none may be left out that does. Those of the newest messages come early. Batches may be empty, so that
        the caller can stop soon. The iterator raises StoreError if it can't go on. None if there is no hint for these
        words.
        """
        return None

    def keep_index(self, folder: Path) -> None:  # noqa: B027 - most have no index
        """Keep an index for `candidates` in a folder and bring it up to date in the background."""

    def raw_problem(self, problem: Problem) -> bytes | None:
        """Return the record that a problem is about, where records are not lines of files. Raises ContentGone."""
        return None

    def attachments(self, message: Message, places: Sequence[str] = ()) -> Sequence[AttachedFile]:
        """Return the files of a message, also those that are missing; `places` are the files of all its copies."""
        return ()

    def open_attachment(self, message: Message, name: str, places: Sequence[str] = ()) -> BinaryIO:
        """Open one of a message's files for reading. Raises ContentGone."""
        raise ContentGone("messages of this mailbox have no attached files", "look at the message's record", "E332")

    def describe_agent(self, name: str) -> Sequence[AgentFact]:
        """Return what is known of an agent, by its name in this mailbox, besides its entry in the roster."""
        return ()

    def usage(self) -> Mapping[str, AgentUsage]:
        """Return what the agents that were at work in the last 24 hours have used, by name; blocks."""
        return {}

    def session_usage(self, sessions: Collection[str]) -> Mapping[str, AgentUsage]:
        """Return what some sessions of a program have used, by its own ids, of those that are here; blocks."""
        return {}

    def agent_notes(self) -> Iterable[AgentNote]:
        """Yield the texts that agents keep beside their mail."""
        return ()

    def ways(self, message: Message, places: Sequence[str] = ()) -> Sequence[MessageWay]:
        """Return how a message went to its recipients and how its copies came, as far as it is recorded."""
        return ()

    def transcripts(self, message: Message) -> Sequence[TranscriptPlace]:
        """Return where the transcripts of its sender and its readers have a message, as far as they are here."""
        return ()

    def turns(self, place: TranscriptPlace) -> Sequence[SessionTurn]:
        """Return the turns of a session around a place in its transcript. Raises ContentGone."""
        raise ContentGone("messages of this mailbox are in no transcripts", "look at the message's record", "E475")

    def is_waiting(self, places: Sequence[str]) -> bool:
        """Return whether a message with copies in these files waits to be sent; never blocks."""
        return False

    def watched(self) -> WatchedPaths:
        """Return the paths whose stats change when unread mail comes; without any, each look reads the mailbox."""
        return WatchedPaths()

    def delayed(self) -> Mapping[str, MessageWay]:
        """Return the messages that could not be sent yet, by id, each with its last failure."""
        return {}

    def send_waiting(self, name: str, tell: Callable[[str], None]) -> Sequence[MailError]:
        """Send what an agent has written and what waits, where another program does that; return what went wrong.

        `tell` gets a line for whatever a user should know meanwhile.
        """
        return ()

    def would_wake(self, draft: Draft, names: Iterable[str]) -> list[str]:
        """Return which of some agents a draft's text would wake by naming them, besides those it is addressed to."""
        return []

    def proof(self, message: Message) -> str:
        """Return according to what in the mailbox the user wrote a message; empty if nothing proves it."""
        return ""

    def is_for_named(self, draft: Draft) -> bool:
        """Say whether a draft is only for those it names, and its channel only says where it is."""
        return False

    def archive_file(self, month: str) -> str:
        """Return the name, within the mailbox, of the archive file of a month (`YYYY-MM`); the month if it has none."""
        return month

    def late_writers(self) -> Sequence[LateWriter]:
        """Return the programs that have a file of the live mail open, as far as the system tells."""
        return ()

    def why_not_acknowledged(self, message_id: str) -> str:
        """Return why a recipient can't tell the sender that they take note of a message; empty if they can."""
        return "its messages are not acknowledged: reply instead"

    def copy_files(self, source: Self) -> None:
        """Make this new mailbox a copy of another, with damage and unknown fields. Raises StoreError."""
        raise NotImplementedError

    def merge(self, records: Sequence[Adopted]) -> Merged:
        """Append the records that this mailbox does not have yet, with their ids, senders and times.

        A message is there if its id is, a read or delivery if one of the same message and name is, a record of the
        journal if its id is, and a line of an agent if its last line says the same. That is checked and written under
        the kind's own locks, so that nothing is doubled whoever else merges; a message does not come before its
        deliveries. Raises StoreError if nothing more can be written: some may have been, and the same call again
        writes the rest.
        """
        raise NotImplementedError

    def close(self) -> None:  # noqa: B027 - a store that holds nothing open has nothing to release
        """Release everything held open; may be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    # Commands

    @final
    def send(self, draft: Draft) -> Message:
        """Append a message, and its audience as deliveries; return it as it was written.

        Raises Unsupported for a draft with fields that this mailbox can't hold.
        """
        self.require(Capability.SEND)
        self.check_draft(draft)
        return self.write_message(draft)

    @final
    def mark_read(self, reader: str, message_ids: Sequence[str]) -> int:
        """Record that `reader` has read exactly these messages; return how many records were written."""
        self.require(Capability.MARK_READ)
        return self.write_reads(reader, message_ids) if message_ids else 0

    @final
    def acknowledge(self, reader: str, message_ids: Sequence[str]) -> int:
        """Record that a recipient takes note of messages; return how many were new. Raises StoreError, Unsupported."""
        if why_not := next(filter(None, map(self.why_not_acknowledged, message_ids)), ""):
            raise Unsupported("nothing was acknowledged", why_not, "E339")
        return self.write_acknowledgements(reader, message_ids) if message_ids else 0

    @final
    def update_agent(self, agent: Agent) -> None:
        """Register an agent, or replace its entry in the roster; fields unknown to us are kept."""
        self.require(Capability.UPDATE_ROSTER)
        self.write_agent(agent)

    @final
    def record(self, intervention: Intervention) -> None:
        """Append an action of the user to the oversight journal."""
        self.require(Capability.RECORD)
        self.write_intervention(intervention)

    @final
    def archive(
        self, plan: ArchivePlan, *, progress: Tell | None = None, is_cancelled: IsCancelled | None = None
    ) -> ArchiveReport:
        """Move a plan's messages into the archive while others read and write; return what was done.

        Nothing is lost or duplicated whatever ends it: what a sudden end leaves is finished or undone by the next
        command that writes, and until then every message can be read all the same. A plan is followed only as far as it
        still holds: a thread that got new mail stays. A cancelled run changes nothing.
        """
        self.require(Capability.ARCHIVE)
        return self.write_archive(plan, progress=progress, is_cancelled=is_cancelled)

    @final
    def adopt(self, records: Iterable[Adopted]) -> None:
        """Write records of another mailbox as they are: ids, senders and times, as far as this kind can hold them.

        The mailbox must be new and open in no other program: so even a kind that can't send may adopt. Agents come
        first, then deliveries, receipts and interventions, then the messages, oldest first. Fields that this kind has
        no place for are left out, and so are records that it can't hold at all.
        """
        self.require(Capability.ADOPT)
        self.write_adopted(records)

    # Checks

    @final
    def require(self, capability: Capability) -> None:
        """Raise Unsupported, with the reason, if a capability is missing."""
        if capability not in self.capabilities:
            raise self.unsupported(capability)

    def check_draft(self, draft: Draft) -> None:
        """Refuse a draft with fields that this mailbox can't hold. Raises Unsupported."""
        if len(draft.recipients) > 1:
            self.require(Capability.SEVERAL)
        if draft.subject:
            self.require(Capability.SUBJECT)
        if draft.thread is not None:
            self.require(Capability.REPLY)
        if draft.type:
            self.require(Capability.TYPE)
        if draft.ttl_hours is not None:
            self.require(Capability.TTL)
        if draft.metadata:
            self.require(Capability.METADATA)
        if draft.attachments and not self.sends_files:
            raise Unsupported(f"{self.called()} can't send files", "name the path of the file in the text", "E335")

    def unsupported(self, capability: Capability) -> Unsupported:
        """Return the error for a missing capability."""
        reason = self.capabilities.why_not(capability)
        return Unsupported(f"{self.called()} can't {capability.value.replace('-', ' ')}", reason, "E345")

    # Hooks: implemented by kinds, called only by the commands above

    def write_message(self, draft: Draft) -> Message:
        """Append a checked draft, and its audience as deliveries; return the message as a scan would yield it."""
        raise NotImplementedError

    def write_reads(self, reader: str, message_ids: Sequence[str]) -> int:
        """Record that a reader has read some messages, at least one; return how many records were written."""
        raise NotImplementedError

    def write_acknowledgements(self, reader: str, message_ids: Sequence[str]) -> int:
        """Record that a recipient acknowledges messages, at least one; return how many it had not yet."""
        raise NotImplementedError

    def write_agent(self, agent: Agent) -> None:
        """Register an agent, or replace its entry."""
        raise NotImplementedError

    def write_intervention(self, intervention: Intervention) -> None:
        """Append to the oversight journal."""
        raise NotImplementedError

    def write_archive(
        self, plan: ArchivePlan, *, progress: Tell | None, is_cancelled: IsCancelled | None
    ) -> ArchiveReport:
        """Carry out an archive plan; `progress` and `is_cancelled` may be None."""
        raise NotImplementedError

    def write_adopted(self, records: Iterable[Adopted]) -> None:
        """Write records of another mailbox into this new one."""
        raise NotImplementedError
