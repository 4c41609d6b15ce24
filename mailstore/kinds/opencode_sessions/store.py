"""The store for the sessions of OpenCode and their child sessions."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from mailstore.errors import reason_of
from mailstore.files.database import DatabaseStamp, Unreadable, database_stamp, may_have_changed
from mailstore.kinds.opencode_sessions import tables as ask
from mailstore.kinds.opencode_sessions.tables import DATABASE
from mailstore.kit.sessions.facts import SessionFact
from mailstore.kit.sessions.source import SessionMessage, SessionsSource
from mailstore.kit.sessions.store import CANNOT, SessionsStore
from mailstore.kit.sessions.usage import Used, usage_of
from mailstore.kit.tables import look, look_or_gone
from mailstore.kit.timestamps import time_of
from mailstore.kit.transcripts.source import FoundTranscript
from mailstore.records.details import AgentUsage, SessionTurn, TranscriptPlace
from mailstore.records.message import Message, Problem, Receipt
from mailstore.rules.presence import Working
from mailstore.store import Capabilities, Capability

if TYPE_CHECKING:
    from mailstore.kinds.opencode_sessions.sending import Server
    from mailstore.records.draft import Draft

FOLDER, ID = "opencode", "ses_"
STILL = 1000
"""Milliseconds after which what was written in a session at some time is all in the database."""


class OpenCodeSource(SessionsSource):
    """The sessions in a database, which is opened read-only, and only when it has changed."""

    kind = "opencode-sessions"
    resume = ("opencode", "--session", "{}")

    def begin(self) -> None:
        self._stamp: DatabaseStamp | None = None
        self._fault: Problem | None = None
        self._damaged: dict[Problem, None] = {}
        self._rows: dict[str, ask.SessionRow] = {}
        self._working: frozenset[str] = frozenset()
        self._counted: tuple[DatabaseStamp, dict[str, list[Used]]] | None = None
        self._looked = 0.0
        super().begin()

    @property
    def database(self) -> Path:
        return self.folder / DATABASE

    def listed(self, transcripts: list[FoundTranscript]) -> None:
        """Note nothing: when a session changed is in the database."""

    def folders(self) -> list[Path]:
        return [self.folder]

    def look_at_rest(self) -> list[SessionFact]:
        stamp = database_stamp(self.database)
        now = time.time()
        if not may_have_changed(stamp, self._stamp) and not (self._working and now > self._looked + ask.AT_WORK):
            return []
        fault, self._fault = self._fault, None
        try:
            sure = int(self._looked * 1000) - STILL  # more may have been written in the same millisecond
            seen = {row.id: min(row.updated, sure) for row in self._rows.values()}
            tables = look(self.database, ask.look_for(seen, DATABASE), is_text=True)
            waiting = [fact for fact in [*self.sent.values()] if fact.id not in self.given_by]
            answered = look(self.database, ask.answered(waiting, DATABASE), is_text=True) if waiting else []
            self._working = look(self.database, ask.at_work(tables.sessions, now), is_text=True)
        except (OSError, Unreadable) as error:
            self._fault = Problem(DATABASE, 1, 0, reason_of(error))
            self.is_changed |= self._fault != fault
            self._stamp = None  # permissions may change without it
            return []
        self.is_changed = True
        self._stamp, self._rows, self._looked = stamp, tables.sessions, now
        self._damaged |= dict.fromkeys(tables.damaged)
        self.changed_at = {row.id: row.updated / 1000 for row in self._rows.values()}
        return [*tables.facts, *answered]

    def other_messages(self) -> Iterator[SessionMessage]:
        """Yield what was sent from here, read once its session has begun to answer it."""
        for message_id, line in self.sent.items():
            message = self.message(message_id, line.name, self.label(line.session), line)
            given = self.given_by.get(message_id)
            read = [] if given is None else [Receipt(message_id, message.recipients[0], time_of(given.time))]
            yield SessionMessage(message, line.text, (line,), tuple(read))

    def problems(self) -> list[Problem]:
        return [*self._damaged, *([self._fault] if self._fault is not None else ())]

    def state(self, session: str) -> tuple[Working, str]:
        return (Working.WORKING if session in self._working else Working.OFFLINE), ""

    def session_usage(self, sessions: Collection[str]) -> Mapping[str, AgentUsage]:
        wanted = {session for session in sessions if session.startswith(ID)}
        usages = self.used_beside(time.time()) if wanted else {}
        return {session: usages[session] for session in wanted & usages.keys()}

    def used_beside(self, now: float) -> Mapping[str, AgentUsage]:
        """Return by session what was used; the database is asked again when it has changed."""
        stamp = database_stamp(self.database)
        known = self._counted
        if known is None or known[0] != stamp:
            try:
                known = self._counted = stamp, look(self.database, ask.used_since(now), is_text=True)
            except (OSError, Unreadable):
                return {}
        return {session: usage_of(used, now) for session, used in known[1].items()}


class OpenCodeStore(SessionsStore):
    """Sessions of OpenCode as agents, and what they and their child sessions told each other."""

    kind: ClassVar[str] = "opencode-sessions"
    summary: ClassVar[str] = (
        "OpenCode sessions: agents, and what child sessions are told; sends by a server of the program"
    )
    missing: ClassVar[tuple[str, str]] = (
        "there are no OpenCode sessions at {path}",
        "name its folder, ~/.local/share/opencode",
    )
    declared: ClassVar[Capabilities] = Capabilities(
        {name: reason for name, reason in CANNOT.items() if name is not Capability.SEND}
    )
    source: OpenCodeSource

    def __init__(self, folder: Path, *, poll: bool = False) -> None:
        super().__init__(OpenCodeSource(folder), folder, poll=poll)
        self._server: tuple[Server | None, str] | None = None

    @classmethod
    def find(cls, path: Path) -> Path | None:
        """Return the folder of the program's database at a path: that folder, or the database itself."""
        path = path.absolute()
        for folder in (path, path.parent if path.name == DATABASE else path / ".local" / "share" / FOLDER):
            if folder.name == FOLDER and (folder / DATABASE).is_file():
                return folder
        return None

    @property
    def capabilities(self) -> Capabilities:
        """Return what can be done here: without a server, sessions can only be read."""
        if self._server is None:
            from mailstore.kinds.opencode_sessions.sending import server

            self._server = server()
        return self.declared.without(self._server[1], Capability.SEND) if self._server[1] else self.declared

    def write_message(self, draft: Draft) -> Message:
        to = self._server[0] if self._server is not None else None
        if to is None:
            raise self.unsupported(Capability.SEND)
        from mailstore.kinds.opencode_sessions.sending import send

        return send(self.source, to, draft)

    def has_transcript(self, line: SessionFact) -> bool:
        return bool(line.offset)

    def turns(self, place: TranscriptPlace) -> Sequence[SessionTurn]:
        """Return the turns around a time, in milliseconds. Raises ContentGone."""
        source = self.source
        session = next(
            (fact for fact in [*source.sessions.values()] if source.label(fact.session) == place.agent), None
        )
        if session is None:
            return []
        query = ask.turns(session.session, place.offset, session.other)
        return look_or_gone(self.folder / DATABASE, query, is_text=True)
