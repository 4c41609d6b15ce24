"""Follow the rosters of a HAAK mailbox: appended lines, and a document that is rewritten."""

from __future__ import annotations

from time import monotonic
from zlib import crc32

import msgspec

from mailstore.errors import reason_of
from mailstore.files.lines import BIG_BLOCK, LineFile, Replaced
from mailstore.files.salvage import UNREADABLE, loads
from mailstore.files.whole import NotAFile, read_whole
from mailstore.haak.places import MailboxFiles
from mailstore.haak_records.decode import agent_of, decode_agent
from mailstore.haak_records.values import NotARecord, entries_of
from mailstore.records.events import Event
from mailstore.records.message import Problem
from mailstore.records.roster import Agent

PATIENCE_SECONDS = 0.5
"""How long a roster may lack agents or be invalid JSON before that is believed: programs rewrite it in pieces."""


class RosterReader:
    """Emit the agents of rosters: each line once, and a document again whenever it was rewritten.

    Programs rewrite a roster to change one agent. Other records remain valid, so a rewritten roster is reloaded on its
    own, unless agents have left it. For an agent in both rosters, the lines win.
    """

    def __init__(self, places: MailboxFiles) -> None:
        self._lines = LineFile(places.roster_lines, is_optional=True)
        self._document = places.roster_document
        self._stamp: tuple[int, int, int] | None = None
        self._agents: list[Agent] = []
        """All agents in the lines, in order."""
        self._in_lines: set[str] = set()
        self._in_document: set[str] = set()
        self._told: set[Problem] = set()
        self._waiting_since: float | None = None
        self._is_waiting = False

    @property
    def lines(self) -> LineFile:
        """Return the file of lines that is followed."""
        return self._lines

    def said(self) -> tuple[int, int, set[str]]:
        """Return the number of agents in the lines, their checksum, and the sessions in any roster."""
        return len(self._agents), hash_of(self._agents), self._in_lines | self._in_document

    def resume(self, said: tuple[int, int, set[str]]) -> list[Event]:
        """Read everything again; return new events. Raises Replaced if agents have left, and OSError."""
        number, summed, sessions = said
        events = self.read()
        if sessions - (self._in_lines | self._in_document):
            raise Replaced("agents have left the roster")
        if hash_of(self._agents[:number]) != summed:
            return events
        in_lines_then = {agent.session_id for agent in self._agents[:number]}
        if (self._in_lines - in_lines_then) & sessions:
            raise Replaced("agents have moved from one roster to the other")
        old = set(map(id, self._agents[:number]))
        return [event for event in events if id(event) not in old]

    def read(self) -> list[Event]:
        """Return what is new. Raises Replaced if agents have left the roster, and OSError."""
        self._is_waiting = False
        lines = self._read_lines()
        events = [*self._read_document(), *lines]
        if not self._is_waiting:
            self._waiting_since = None
        fresh = [event for event in events if not (isinstance(event, Problem) and event in self._told)]
        self._told.update(event for event in fresh if isinstance(event, Problem))
        return fresh

    def _read_lines(self) -> list[Event]:
        try:
            events = _agents_in(self._lines)
        except Replaced:
            anew = LineFile(self._lines.path, is_optional=True)
            events = _agents_in(anew)
            if self._in_lines - _sessions(events) and not self._is_patient():
                raise
            if self._is_waiting:
                return []
            self._lines = anew
            self._agents = []
        came = _sessions(events) - self._in_lines
        if came & self._in_document:
            raise Replaced("agents have moved from one roster to the other")
        self._in_lines |= came
        self._agents += [event for event in events if isinstance(event, Agent)]
        return events

    def _read_document(self) -> list[Event]:
        path = self._document
        try:
            facts = path.stat()
            stamp = (facts.st_ino, facts.st_size, facts.st_mtime_ns)
            if stamp == self._stamp:
                return []
            data = read_whole(path, follow=True)
        except (FileNotFoundError, NotADirectoryError):
            if self._in_document and not self._is_patient():
                raise Replaced(f"{path.name} is gone") from None
            return []
        except NotAFile as error:
            if self._in_document:
                raise Replaced(f"{path.name} was replaced") from None
            self._stamp = stamp
            return [Problem(path.name, 1, 0, reason_of(error))]
        events = roster_of(path.name, data)
        sessions = _sessions(events)
        if self._in_document - sessions:
            if self._is_patient():
                return []
            if sessions or not any(isinstance(event, Problem) for event in events):
                raise Replaced(f"agents have left {path.name}")
        self._stamp = stamp
        self._in_document |= sessions
        return [event for event in events if not (isinstance(event, Agent) and event.session_id in self._in_lines)]

    def _is_patient(self) -> bool:
        """Return whether to wait for a program that may be writing the roster."""
        now = monotonic()
        if self._waiting_since is None:
            self._waiting_since = now
        self._is_waiting = now - self._waiting_since < PATIENCE_SECONDS
        return self._is_waiting


def roster_of(file: str, data: bytes) -> list[Event]:
    """Read a roster document: a list, an object by session id, or either under `agents`."""
    try:
        entries = entries_of(loads(data.removeprefix(b"\xef\xbb\xbf"))) if data.strip() else []
    except UNREADABLE as error:
        return [Problem(file, 1, 0, f"invalid JSON: {str(error)[:100]}")]
    if entries is None:
        return [Problem(file, 1, 0, "not a roster: neither a list nor an object of agents")]
    events: list[Event] = []
    for entry in entries:
        try:
            agent, warning = agent_of(entry)
        except NotARecord as reason:
            events.append(Problem(file, 1, 0, f"an agent can't be read: {reason}"))
            continue
        events.append(agent)
        if warning:
            events.append(Problem(file, 1, 0, f"{entry.get('session_id')}: {warning}", fatal=False))
    return events


def _agents_in(file: LineFile) -> list[Event]:
    events: list[Event] = []
    for lines in file.read(block=BIG_BLOCK):
        first = file.cutter.lines - len(lines) + 1
        for number, line in enumerate(lines, first):
            events += decode_agent(file.name, line, number)
    return events


def _sessions(events: list[Event]) -> set[str]:
    return {event.session_id for event in events if isinstance(event, Agent)}


def hash_of(agents: list[Agent]) -> int:
    """Return a checksum of a roster's lines."""
    return crc32(msgspec.msgpack.encode(agents))
