"""The store for the sessions of Copilot CLI and their agents."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from mailstore.encoding import shown_name
from mailstore.files.whole import NotAFile, open_regular
from mailstore.kinds.copilot_sessions.events import USED, EventsTranscript, EventTurns, state_in, used_in
from mailstore.kit.sessions.facts import SessionFile
from mailstore.kit.sessions.source import SessionsSource
from mailstore.kit.sessions.store import SessionsStore
from mailstore.kit.sessions.usage import UsageLog
from mailstore.kit.transcripts.source import FoundTranscript
from mailstore.kit.transcripts.transcript import lines_from_end
from mailstore.records.details import SessionTurn
from mailstore.rules.presence import Working

SESSIONS, EVENTS = "session-state", "events.jsonl"
RECENT = 15 * 60.0
"""Seconds: a session whose events are older is not known to live, whatever the last one says."""
MOST_LINES = 200


class CopilotSource(SessionsSource):
    """The sessions below a folder, each in its own with its agents."""

    kind = "copilot-sessions"
    reader = EventsTranscript
    resume = ("copilot", "--resume={}")
    is_taken_later = True

    def begin(self) -> None:
        self._states: dict[str, tuple[float, tuple[Working, str]]] = {}
        super().begin()

    def usage_log(self) -> UsageLog:
        return UsageLog(USED, used_in)

    def files(self) -> list[FoundTranscript]:
        return self.finder.newest_first(self._found())

    def _found(self) -> Iterator[FoundTranscript]:
        for session in self.finder.entries(self.folder / SESSIONS):
            path = f"{session.path}/{EVENTS}"
            if (stamp := self.finder.stamp(path)) is not None:
                name = shown_name(os.path.relpath(path, self.folder))
                yield FoundTranscript(SessionFile(path, name, session.name), stamp)

    def state(self, session: str) -> tuple[Working, str]:
        """Return what the last events say, while they are recent: the program keeps no list of living sessions."""
        changed = self.changed_at.get(session)
        if changed is None or time.time() - changed > RECENT:
            return Working.OFFLINE, ""
        known = self._states.get(session)
        if known is None or known[0] != changed:
            known = self._states[session] = changed, self._last_state(session)
        self.due = min(self.due or changed + RECENT, changed + RECENT)
        return known[1]

    def _last_state(self, session: str) -> tuple[Working, str]:
        with suppress(OSError, NotAFile):
            fd = open_regular(self.folder / SESSIONS / session / EVENTS, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                for at, line in enumerate(lines_from_end(fd, os.fstat(fd).st_size)):
                    if line is None or at > MOST_LINES:
                        break
                    if line and (said := state_in(line)) is not None:
                        return Working(said[0]), said[1]
            finally:
                os.close(fd)
        return Working.OFFLINE, ""


class CopilotStore(SessionsStore):
    """Sessions of Copilot CLI as agents, and what they and their subagents told each other."""

    kind: ClassVar[str] = "copilot-sessions"
    summary: ClassVar[str] = "Copilot CLI sessions: agents, and what they tell their subagents; read-only"
    missing: ClassVar[tuple[str, str]] = ("there are no Copilot sessions at {path}", "name its folder, ~/.copilot")

    def __init__(self, folder: Path, *, poll: bool = False) -> None:
        super().__init__(CopilotSource(folder), folder, poll=poll)

    @classmethod
    def find(cls, path: Path) -> Path | None:
        """Return the program's folder at a path: that folder itself, or that of its sessions."""
        path = path.absolute()
        for folder in (path, path.parent if path.name == SESSIONS else path / ".copilot"):
            if (folder / SESSIONS).is_dir():
                return folder
        return None

    def turns_of(self, file: SessionFile) -> Callable[[bytes], Iterator[SessionTurn]]:
        return EventTurns()
