"""The store for AgentAZAll mailboxes (docs/formats/agentazall.md)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, ClassVar, Self

from mailstore.errors import ContentGone, DraftRefused, MailError, StoreError, reason_of
from mailstore.files.append import refusal
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.agentazall.attached import attached_files, open_attached
from mailstore.kinds.agentazall.block import unwrapped
from mailstore.kinds.agentazall.decode import Copy, id_of, split, who
from mailstore.kinds.agentazall.ledger import delayed_in, is_in_outbox, ways_in
from mailstore.kinds.agentazall.message_file import InvalidSignedFile, SignedFile, parse
from mailstore.kinds.agentazall.names import HUMAN, USER, address_of
from mailstore.kinds.agentazall.pins import Pins
from mailstore.kinds.agentazall.places import BOXES, MAILBOXES, find, is_mailbox, roots_below, trees_of
from mailstore.kinds.agentazall.source import AgentAZAllSource
from mailstore.kinds.agentazall.tree import AgentFolders
from mailstore.kit.part_reader import PartReader
from mailstore.kit.watched_store import WatchedStore
from mailstore.location import path_of
from mailstore.records.details import AgentFact, AgentNote, AttachedFile, MessageWay
from mailstore.records.message import Location, Message
from mailstore.store import Capabilities, Capability

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mailstore.records.adopted import Adopted
    from mailstore.records.draft import Draft

PROVING = frozenset({"signature:valid", "fingerprint:matches", "key:pinned"})
OUTSIDE = "!text-outside-signature"
OWN_MARKS = "a message is marked in an agent's own inbox; the status of yours is your program's to write"


class AgentAZAllStore(WatchedStore):
    """All agents' folders below one folder of mailboxes; a message may have several copies."""

    kind: ClassVar[str] = "agentazall"
    summary: ClassVar[str] = "AgentAZAll: a folder for each agent in data/mailboxes, signed text files in its boxes"
    is_carried: ClassVar[bool] = True
    missing: ClassVar[tuple[str, str]] = (
        "there are no AgentAZAll mailboxes at {path}",
        "name the folder of mailboxes, or a config.json",
    )
    declared: ClassVar[Capabilities] = Capabilities(
        {
            Capability.UPDATE_ROSTER: "an agent is a folder that AgentAZAll creates",
            Capability.RECORD: "an AgentAZAll mailbox has no oversight journal",
            Capability.ARCHIVE: "an AgentAZAll mailbox has a folder for each day, and no archive",
            Capability.TYPE: "an AgentAZAll message has no type",
            Capability.TTL: "AgentAZAll mail does not expire",
            Capability.METADATA: "an AgentAZAll message has no further fields",
            Capability.AUDIENCE: "the copies in the inboxes show whom a message reached",
        }
    )

    def __init__(self, root: Path, *, poll: bool = False) -> None:
        root = root.resolve()
        self._pins = Pins(str(root))
        self._source = AgentAZAllSource(root, self._pins)
        super().__init__(PartReader(self._source), root, poll=poll)
        self._watched = AgentFolders(root)

    @classmethod
    def find(cls, path: Path) -> Path | None:
        return find(path)

    @classmethod
    def is_likely(cls, place: Path) -> bool:
        return is_mailbox(place)

    @classmethod
    def roots(cls, path: Path) -> dict[str, Path]:
        """Return the mailboxes of agents with a root each, in a folder or one level deeper."""
        try:
            return roots_below(path.resolve())
        except OSError:
            return {}

    @classmethod
    def create(cls, location: str | Path) -> Self:
        """Create an empty folder of mailboxes at a path; existing files stay as they are. Raises StoreError."""
        path = path_of(location)
        path = path.absolute()
        try:
            root = find(path)
            if root is None:
                is_root = (path.parent.name, path.name) == ("data", MAILBOXES)
                root = path if is_root else path / "data" / MAILBOXES
                root.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            raise refusal(path, error if isinstance(error, OSError) else OSError(str(error))) from error
        return cls(root)

    sends_files: ClassVar[bool] = True

    def capabilities_for(self, name: str) -> Capabilities:
        """Return what can be done with a message or an agent: not all mail can be marked, and the user's never."""
        capabilities = self.capabilities
        return capabilities.without(OWN_MARKS, Capability.MARK_READ) if name in ("", USER) else capabilities

    @property
    def title(self) -> str:
        return os.path.join(self.folder.parent.name, self.folder.name)  # noqa: PTH118 - a name to show, no path

    def below(self) -> list[str]:
        try:
            self._watched.look_at_folders()
        except OSError:
            return []
        return list(self._watched.watched())

    def content(self, message: Message) -> str:
        """Return a message's body without signature markers. Raises ContentGone."""
        return unwrapped(self._find(message)[1].body)

    def proof(self, message: Message) -> str:
        """Return that the text is signed with the user's key; who it was written to is not."""
        is_users = message.sender == USER and PROVING.issubset(message.tags) and OUTSIDE not in message.tags
        return "the signature of its text with the key that this machine knows as theirs" if is_users else ""

    def raw(self, message: Message) -> bytes:
        return self._find(message)[0]

    def write_message(self, draft: Draft) -> Message:
        """Write a signed message by the user into each recipient's inbox, and a copy to keep; return it as written."""
        from mailstore.kinds.agentazall.writer import tree_for, write_message

        if not self.folder.is_dir():
            raise StoreError(f"{self.folder} is not there", "check whether the mailbox was moved", "E288")
        if draft.sender != USER:
            raise DraftRefused(
                "sender", "is an agent", f"only you send from here, as {HUMAN}; an agent uses agentazall send", "E455"
            )
        subject = draft.subject or self._answering(draft.thread)
        try:
            is_elsewhere = self._source.is_elsewhere
            tree = tree_for(self.folder, draft.recipients, is_elsewhere)
            copy = write_message(self.folder / tree, draft, subject, self._pins, is_elsewhere)
        except OSError as error:
            raise refusal(self.folder / HUMAN, error) from error
        try:
            return self._source.sent(copy._replace(owner=f"{tree}/{copy.owner}") if tree else copy)
        except OSError as error:
            raise StoreError("the message was sent, and can't be read back", reason_of(error), "E608") from error

    def write_reads(self, reader: str, message_ids: Sequence[str]) -> int:
        """Mark messages as read in an agent's inbox; the user's stay as they are."""
        from mailstore.kinds.agentazall.marking import write_reads

        if not self.folder.is_dir():
            raise StoreError(f"{self.folder} is not there", "check whether the mailbox was moved", "E288")
        try:
            return 0 if reader == USER else write_reads(self.folder, reader, message_ids, self._source.known_id)
        except OSError as error:
            raise refusal(self.folder / address_of(reader), error) from error

    def write_adopted(self, records: Iterable[Adopted]) -> None:
        """Write what another mailbox held into these new folders, unsigned: no agent's program has them yet."""
        from mailstore.kinds.agentazall.adopt import adopt

        try:
            adopt(self.folder, records)
        except OSError as error:
            raise refusal(self.folder, error) from error

    def close(self) -> None:
        """Release everything held; new keys are stored."""
        super().close()
        self._pins.save(at_once=True)

    def _answering(self, message_id: str | None) -> str:
        """Return the subject of a reply, empty if its parent can't be found."""
        if message_id is None:
            return ""
        wanted = Message(message_id, "", (), "", 0.0, "", location=Location(f"{HUMAN}///{message_id}.txt", 0, 0))
        try:
            subject = self._find(wanted)[1].get("Subject")
        except ContentGone:
            return ""
        return subject if subject.lower().startswith("re: ") or not subject else f"Re: {subject}"

    def attachments(self, message: Message, places: Sequence[str] = ()) -> list[AttachedFile]:
        """Return the files beside any copy of a message, and those that its header lists and no copy has."""
        return attached_files(self.folder, self._paired(message, places))

    def open_attachment(self, message: Message, name: str, places: Sequence[str] = ()) -> BinaryIO:
        """Open one of a message's files for reading, beside whichever copy has it. Raises ContentGone."""
        return open_attached(self.folder, self._paired(message, places), name)

    def describe_agent(self, name: str) -> list[AgentFact]:
        """Return an agent's identity, what it says of itself, its notes, and whose messages its program accepts."""
        from mailstore.kinds.agentazall.about import about_agent

        return about_agent(self.folder, name, self._pins)

    def agent_notes(self) -> Iterator[AgentNote]:
        """Yield what agents remember and note, what they say of themselves, and the list of each of their days."""
        from mailstore.kinds.agentazall.about import notes_in

        for tree in self._trees():
            yield from notes_in(self.folder, tree)

    def ways(self, message: Message, places: Sequence[str] = ()) -> list[MessageWay]:
        ids = [message.id, *(id_of(mail, copy) for copy, mail in self._paired(message, places))]
        return [way for root in self._roots() for way in ways_in(root, ids)]

    def is_waiting(self, places: Sequence[str]) -> bool:
        return is_in_outbox(places)

    def delayed(self) -> dict[str, MessageWay]:
        return {message: way for root in self._roots() for message, way in delayed_in(root).items()}

    def send_waiting(self, name: str, tell: Callable[[str], None]) -> list[MailError]:
        from mailstore.kinds.agentazall.sync.pending import carry_pending

        return carry_pending(self.url, name, tell)

    def _roots(self) -> list[Path]:
        return [self.folder / tree for tree in self._trees()]

    def _trees(self) -> list[str]:
        try:
            return trees_of(self.folder)
        except OSError:
            return [""]

    def _paired(self, message: Message, places: Sequence[str]) -> list[tuple[Copy, SignedFile]]:
        """Return the copies of a message: those in some files too, to which a relay gave other ids."""
        copies = [(copy, signed) for copy, _, signed in self._found(message)]
        for place in places:
            copy = split(place)
            if copy is not None and ".." not in copy and copy not in [each for each, _ in copies]:
                with suppress(OSError, NotAFile, InvalidSignedFile):
                    copies.append((copy, parse(read_whole(self.folder / place))))
        return copies

    def _find(self, message: Message) -> tuple[bytes, SignedFile]:
        """Return any existing copy of a message. Raises ContentGone."""
        where = message.location
        if where is None:
            raise ContentGone(f"message {message.id} is in no file", "check whether it was moved or deleted", "E308")
        for _, data, signed in self._found(message):
            return data, signed
        try:
            read_whole(self.folder / where.file)
        except (FileNotFoundError, NotADirectoryError, NotAFile):
            pass
        except OSError as error:
            raise ContentGone(f"{where.file} can't be read", "check its permissions and the disk", "E275") from error
        raise ContentGone(
            f"{where.file} no longer holds this message", "check whether it was moved or taken away", "E307"
        )

    def _found(self, message: Message) -> Iterator[tuple[Copy, bytes, SignedFile]]:
        """Yield the existing copies of a message that have its id."""
        for copy in self._copies(message.location.file if message.location else "", message):
            path = self.folder / "/".join(copy)
            if any(parent.is_symlink() for parent in list(path.parents)[:3]):
                continue
            try:
                data = read_whole(path)
                signed = parse(data)
            except (OSError, NotAFile, InvalidSignedFile):
                continue
            is_senders = not message.sender or who(signed, copy).sender == message.sender
            if is_senders and self._source.known_id(signed, copy) == message.id:
                yield copy, data, signed

    def _copies(self, file: str, message: Message) -> Iterator[Copy]:
        """Yield possible locations of copies: the one read, then the same day of the participants, then all others."""
        first = split(file)
        if first is None or ".." in first:
            return
        if first.day:
            yield first
        tree = AgentFolders(self.folder)
        try:
            tree.look_at_folders()
        except OSError:
            return
        parties = [address_of(name) for name in (message.sender, *message.recipients)]
        agents = [agent for party in parties for agent in tree.agents if agent.rpartition("/")[2] == party]
        agents += [agent for agent in tree.agents if agent not in agents]
        days = [(agent, first.day) for agent in agents if first.day in tree.days(agent)]
        days += [(agent, day) for agent in agents for day in tree.days(agent) if day != first.day]
        for agent, day in days:
            for box in BOXES:
                copy = Copy(agent, day, box, first.file)
                if copy != first and (self.folder / "/".join(copy)).is_file():
                    yield copy
