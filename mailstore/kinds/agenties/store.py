"""The read-only store for Agenties mailboxes (docs/formats/agenties.md)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from mailstore.files.append import refusal
from mailstore.files.salvage import loads
from mailstore.kinds.agenties.decode import body_of
from mailstore.kinds.agenties.log import AgentiesLog
from mailstore.kinds.agenties.places import FOLDER, MAILBOX, TEAMS, find, looks_like_mail
from mailstore.kinds.agenties.source import AgentiesSource
from mailstore.kit.locating import found_at, is_found
from mailstore.kit.part_reader import PartReader
from mailstore.kit.watched_store import WatchedStore
from mailstore.location import path_of
from mailstore.records.message import Message
from mailstore.store import Capabilities, Capability

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mailstore.records.adopted import Adopted

UNHEARD = "Agenties reads the log only when it starts, so a line from outside would not be delivered"
NOTHING_SENT = "nothing can be sent here"


class AgentiesStore(WatchedStore):
    """One log of JSON lines that its owner appends to, and trims when it starts; read-only."""

    kind: ClassVar[str] = "agenties"
    summary: ClassVar[str] = "the log of an Agenties project, .agenties/mailbox.jsonl (read-only)"
    declared: ClassVar[Capabilities] = Capabilities(
        {
            Capability.SEND: UNHEARD,
            Capability.MARK_READ: "Agenties keeps read marks in memory and would not notice ours",
            Capability.UPDATE_ROSTER: "Agenties alone decides who is in the team",
            Capability.RECORD: "the log has no journal beside it",
            Capability.ARCHIVE: "Agenties trims its log itself when it starts",
            Capability.SEVERAL: NOTHING_SENT,
            Capability.SUBJECT: NOTHING_SENT,
            Capability.REPLY: NOTHING_SENT,
            Capability.TYPE: NOTHING_SENT,
            Capability.TTL: NOTHING_SENT,
            Capability.METADATA: NOTHING_SENT,
            Capability.AUDIENCE: NOTHING_SENT,
        }
    )
    known_fields: ClassVar[frozenset[str]] = frozenset(
        {"id", "type", "from", "to", "subject", "body", "metadata", "issueId", "agentId", "read", "createdAt"}
    )

    def __init__(self, mailbox: Path, *, poll: bool = False) -> None:
        self._mailbox = mailbox
        self._log = AgentiesLog(mailbox)
        super().__init__(PartReader(AgentiesSource(mailbox, self._log)), mailbox.parent, poll=poll)

    @classmethod
    def recognise(cls, path: Path) -> bool:
        """Return whether there is a log at a path or in its `.agenties` folder."""
        return is_found(find, path, looks_like_mail)

    @classmethod
    def open(cls, location: str | Path, *, poll: bool = False) -> Self:
        """Open the log at a path; raises MailboxMissing, and StoreError where it can't be looked for."""
        path = path_of(location)
        mailbox = found_at(find, path, f"there is no {FOLDER}/{MAILBOX} at {path}", "name the project's folder")
        return cls(mailbox, poll=poll)

    @classmethod
    def create(cls, location: str | Path) -> Self:
        """Make an empty log in a project's folder; one that is there already stays as it is. Raises StoreError."""
        path = path_of(location)
        path = path.absolute()
        try:
            mailbox = find(path)
            if mailbox is None:
                folder = path if path.name == FOLDER else path / FOLDER
                mailbox = path if path.suffix == ".jsonl" else folder / MAILBOX
                mailbox.parent.mkdir(parents=True, exist_ok=True)
                mailbox.open("xb").close()
        except (OSError, ValueError) as error:
            raise refusal(path, error if isinstance(error, OSError) else OSError(str(error))) from error
        return cls(mailbox)

    @property
    def url(self) -> str:
        """Return the URL of this mailbox."""
        return f"{self.kind}:{self._mailbox.parent.resolve() / self._mailbox.name}"

    @property
    def title(self) -> str:
        """Return the project and the log's folder; for a log elsewhere, its name and folder."""
        parts = self._mailbox.parts
        return os.path.join(*(parts[-3:-1] if parts[-2] == FOLDER else parts[-2:]))  # noqa: PTH118 - a name to show

    def below(self) -> list[str]:
        return sorted({os.path.dirname(name) for name in TEAMS} - {""})  # noqa: PTH120 - a name below the folder

    def content(self, message: Message) -> str:
        """Return a message's body, from its last line. Raises ContentGone."""
        return body_of(loads(self._log.record(message)))

    def raw(self, message: Message) -> bytes:
        """Return the bytes of a message's last line. Raises ContentGone."""
        return self._log.record(message)

    def write_adopted(self, records: Iterable[Adopted]) -> None:
        """Write the records of another mailbox into this new log, which Agenties has not opened yet."""
        from mailstore.kinds.agenties.adopt import adopt

        try:
            adopt(self._mailbox, records)
        except OSError as error:
            raise refusal(self._mailbox, error) from error
