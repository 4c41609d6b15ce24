"""The read-only store for Agenties mailboxes (docs/formats/agenties.md)."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from msgspec.structs import replace

from mailstore.errors import reason_of
from mailstore.files.append import refusal
from mailstore.files.folder import Stamp, path_stamp, stamp_of
from mailstore.files.salvage import UNREADABLE, loads
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.agenties.decode import AGENT, ORCHESTRATOR, AgentiesEntry, body_of, name_of
from mailstore.kinds.agenties.log import AgentiesLog
from mailstore.kinds.agenties.places import FOLDER, MAILBOX, TEAMS, find, looks_like_mail
from mailstore.kit.part_reader import PartReader, PartSource, is_settled
from mailstore.kit.watched_store import WatchedStore
from mailstore.location import path_of
from mailstore.records.events import Event
from mailstore.records.message import Message, Problem
from mailstore.records.protocol import BROADCAST_NAMES, USER_NAMES
from mailstore.records.roster import Agent
from mailstore.store import Capabilities, Capability

if TYPE_CHECKING:
    from mailstore.records.adopted import Adopted

UNHEARD = "Agenties reads the log only when it starts, so a line from outside would not be delivered"
NOTHING_SENT = "nothing can be sent here"
ROSTER = "roster"
IDLE, WORKING = "idle (inferred)", "working (inferred)"


class AgentiesStore(WatchedStore):
    """One log of JSON lines that its owner appends to, and trims when it starts; read-only."""

    kind: ClassVar[str] = "agenties"
    summary: ClassVar[str] = "the log of an Agenties project, .agenties/mailbox.jsonl (read-only)"
    missing: ClassVar[tuple[str, str]] = (f"there is no {FOLDER}/{MAILBOX} at {{path}}", "name the project's folder")
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
    def find(cls, path: Path) -> Path | None:
        return find(path)

    @classmethod
    def is_likely(cls, place: Path) -> bool:
        return looks_like_mail(place)

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
        return f"{self.kind}:{self._mailbox.parent.resolve() / self._mailbox.name}"

    @property
    def title(self) -> str:
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


class AgentiesSource(PartSource):
    """Two parts: the roster, which also depends on the mail, and the mail."""

    def __init__(self, mailbox: Path, log: AgentiesLog) -> None:
        self._mailbox = mailbox
        self._log = log
        self.begin()

    def begin(self) -> None:
        self._told: dict[str, bool] = {}
        """The messages seen, and whether each was read when it was last seen."""
        self._there: set[str] = set()

    def parts(self, *, closely: bool) -> Mapping[str, Hashable]:
        """Return the roster and the log. Raises OSError."""
        stamp = stamp_of(self._mailbox.lstat())
        return {ROSTER: (stamp, *team_stamps(self._mailbox.parent)), self._mailbox.name: stamp}

    def read(self, part: str) -> list[Event] | None:
        """Return the agents, or the mail with the newest first; None if the team file is half-written."""
        contents = self._log.contents()
        if part == ROSTER:
            team = read_team(self._mailbox.parent)
            stamps = filter(None, team_stamps(self._mailbox.parent))
            if team.is_torn and not is_settled(max((stamp.changed for stamp in stamps), default=0) / 1e9):
                return None
            in_order = sorted(contents.entries.values(), key=lambda entry: entry.message.time)
            return [*agents(team.members, in_order), *team.problems]
        self._there = set(contents.entries)
        self._told.update((name, bool(entry.receipts)) for name, entry in contents.entries.items())
        events: list[Event] = []
        for entry in reversed(contents.entries.values()):
            events += (entry.message, *entry.receipts)
        return [*events, *contents.problems]

    def same(self, event: Event) -> Hashable:
        return replace(event, location=None) if isinstance(event, Message) else event

    def why(self, lost: int) -> str:
        """Return the reason for a reload: a trimmed log, or changed messages."""
        gone = self._told.keys() - self._there
        if not gone:
            return "messages were changed" if lost > 1 else "a message was changed"
        unread = sum(not self._told[name] for name in gone)
        if len(gone) == 1:
            words = f"{'an unread' if unread else 'a'} message is gone"
        else:
            words = f"{len(gone):,} messages are gone" + (f", {unread:,} of them unread" if unread else "")
        return f"{words}: Agenties trims old mail"


class AgentiesTeam(NamedTuple):
    """The members' names and roles by id, and problems; `is_torn` if the file may be half-written."""

    members: dict[str, tuple[str, str]]
    problems: list[Problem]
    is_torn: bool = False


def team_stamps(folder: Path) -> tuple[Stamp | None, ...]:
    return tuple(path_stamp(folder / name) for name in TEAMS)


def read_team(folder: Path) -> AgentiesTeam:
    """Return the team: a list of members, or a document with `members`; the exact form is undocumented."""
    for name in TEAMS:
        try:
            data = read_whole(folder / name)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (NotAFile, OSError) as error:
            why = reason_of(error)
            return AgentiesTeam({}, [Problem(name, 1, 0, why)])
        try:
            document = loads(data)
        except UNREADABLE:
            return AgentiesTeam({}, [Problem(name, 1, 0, "invalid JSON")], not data.rstrip().endswith((b"}", b"]")))
        listed = document.get("members") if isinstance(document, dict) else document
        return AgentiesTeam(dict(filter(None, map(_member, _entries(listed)))), [])
    return AgentiesTeam({}, [])


def _entries(listed: Any) -> list[Any]:
    if isinstance(listed, dict):
        return [{"id": key, **entry} if isinstance(entry, dict) else key for key, entry in listed.items()]
    return listed if isinstance(listed, list) else []


def _member(entry: Any) -> tuple[str, tuple[str, str]] | None:
    fields = entry if isinstance(entry, dict) else {"id": entry}
    name = name_of(fields.get("name"))
    session = (name_of(fields.get("id")) or name).removeprefix(AGENT)
    return (session, (name, name_of(fields.get("role")))) if _is_agent(session) else None


def agents(members: dict[str, tuple[str, str]], entries: Iterable[AgentiesEntry]) -> list[Agent]:
    """Return the members and everybody else in the mail; `entries` are in the order of sending."""
    busy: dict[str, bool] = {}
    for message, _, about, _ in entries:
        taking_part = {message.sender, *message.recipients, about}
        for name in sorted(filter(_is_agent, taking_part)):
            busy.setdefault(name, False)
        if message.type in ("task-assigned", "cancel"):
            busy.update(
                (name, message.type == "task-assigned") for name in (*message.recipients, about) if name in busy
            )
        elif message.type == "task-done":
            busy.update((name, False) for name in (message.sender, about) if name in busy)
    return [
        Agent(session, name, role, activity=_activity(session, busy))
        for session, (name, role) in (dict.fromkeys(busy, ("", "")) | members).items()
    ]


def _activity(session: str, busy: dict[str, bool]) -> str:
    """Return an agent's inferred activity; empty for the orchestrator and for agents that no mail names."""
    if session == ORCHESTRATOR or session not in busy:
        return ""
    return WORKING if busy[session] else IDLE


def _is_agent(name: str) -> bool:
    return bool(name) and ":" not in name and name not in BROADCAST_NAMES and name not in USER_NAMES
