"""Follow the transcripts in a folder of projects: what was read of them before, then the rest, the newest first."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from mailstore.files.whole import NotAFile
from mailstore.kinds.claude_sessions.facts import SessionFact, SessionFile, SessionTranscript
from mailstore.kinds.claude_sessions.letters import Letter, Letters
from mailstore.kinds.claude_sessions.places import Found, SessionFiles
from mailstore.kinds.claude_sessions.processes import Processes
from mailstore.kinds.claude_sessions.sessions import Sessions
from mailstore.kinds.claude_sessions.usage import SessionUsage, usage_of
from mailstore.kit.record_reader import NOTHING, RecordEvents, RecordMap, RecordSource
from mailstore.kit.team_folders.seen_journal import journal_of
from mailstore.kit.transcripts.history import KeptFact, TranscriptHistory
from mailstore.kit.transcripts.transcript import Reached
from mailstore.records.details import AgentFact
from mailstore.records.events import Progress
from mailstore.records.message import Problem

FIRST = 4 << 20
PAGE = 1000
"""Messages that are told at once."""
MOST_WATCHED = 1000
"""Of so many transcripts, those that changed last, the folders are watched; new ones are seen in any case."""
FULL_SECONDS = 1.0
"""For so long, a change is looked for in the transcripts first that changed last."""
CHUNK = 64 << 20
"""Bytes of transcripts after which what they prove is told: the first time soon."""
DAY = 86_400.0
KIND = "claude-sessions"
TRANSCRIPTS = "transcripts.jsonl"


class SessionHistory(TranscriptHistory[SessionFact]):
    """What the transcripts prove, those too that are gone."""

    fact_type: ClassVar[type[Any]] = SessionFact

    def __init__(self, kept: Path) -> None:
        super().__init__(kept, is_keeping=True)
        self._began = {it.session for it in self.facts.values() if it.kind == "began"}

    def begun(self, file: SessionFile, reached: Reached | None) -> SessionTranscript:
        return SessionTranscript(file, reached, is_known=file.session in self._began)


class SessionsSource(RecordSource):
    """The sessions and their messages; a message is told again when a line of another transcript says more of it."""

    def __init__(self, projects: Path) -> None:
        self._projects = projects
        self._files = SessionFiles(projects)
        self._is_begun = False
        self._begin()

    def _begin(self) -> None:
        self._processes = Processes(self._projects)
        self._sessions = Sessions(self._processes)
        self._letters = Letters(self._sessions)
        self._history = SessionHistory(journal_of(KIND, self._projects).with_name(TRANSCRIPTS))
        self._labels: dict[str, str] = {}
        self._told: dict[str, RecordEvents] = {}
        self._changed: set[str] = set()
        """The sessions that may have changed."""
        self._looked = 0.0
        """When all transcripts were looked at last, by the monotonic clock."""
        self._is_behind = False
        """Whether something has changed since, and only the transcripts that changed last were looked at."""
        self._due: float | None = None
        """When a message in an inbox may count as lost."""

    @property
    def name(self) -> str:
        return f"{self._projects.parent.name}/{self._projects.name}"

    def folders(self) -> list[Path]:
        """Return the folders in which the last transcripts are, and that of the processes."""
        found = {it.path.parent for it in self._history.files[:MOST_WATCHED]}
        return [*sorted(found), self._processes.folder]

    def letter(self, message_id: str) -> Letter | None:
        """Return a message with its body and what became of it."""
        return self._letters.letter(message_id, time.time())

    def label(self, session: str) -> str:
        """Return a session's name in the mailbox."""
        return self._labels.get(session, "")

    def folder_of(self, session: str) -> str:
        """Return the folder in which a session works."""
        return self._sessions.get(session).folder

    def file_named(self, session: str, name: str) -> SessionFile | None:
        """Return a transcript of a session or its subagents, by its name as it is shown; None if it is not there."""
        files = (it for it in self._history.files if isinstance(it, SessionFile))
        return next((it for it in files if it.session == session and it.name == name), None)

    def describe(self, label: str) -> list[AgentFact]:
        """Return what is known of a session, by its name in the mailbox: where it works, and what it has used."""
        session = next((session for session, name in self._labels.items() if name == label), "")
        if not session:
            return []
        it, process = self._sessions.get(session), self._sessions.get(session).process
        found = {"session": it.id, "folder": it.folder, "branch": it.branch, "version": it.version}
        if process is not None:
            found["process"] = f"{process.pid}, {process.kind}"
        files = (each for each in self._history.files if isinstance(each, SessionFile) and not each.agent)
        file = next((each for each in files if each.session == session), None)
        now = time.time()
        if file is not None and (process is not None or now - it.changed < DAY):
            with suppress(OSError, NotAFile):
                found |= _used(usage_of(file.path, now - DAY))
        if file is not None:
            found["resume"] = f"claude --resume {it.id}"
        return [AgentFact(name, value, file.name if file else "") for name, value in found.items() if value]

    def pages(self) -> Iterator[tuple[RecordMap, Progress]]:
        if self._is_begun:
            self._begin()
        self._is_begun = True
        for fact in self._history.facts.values():
            self._take(fact)
        found = self._files.look()
        self._list(found)
        self._look_at_processes()
        unread = self._grown(found)
        total = sum(each.stamp.size for each in unread)
        done = size = 0
        limit = FIRST
        news: list[KeptFact[SessionFact]] = []
        for each in unread:
            size += each.stamp.size
            self._read(each, news)
            if size >= limit:
                self._history.keep(news)
                done, size, limit, news = done + size, 0, CHUNK, []
                yield self._records(), Progress(done, total)
        self._history.keep(news)
        self._letters.everything()
        yield self._records(PAGE), Progress(total, total)
        while self._letters.touched:
            yield self._records(PAGE), Progress(total, total)

    def news(self, *, closely: bool) -> RecordMap | None:
        self._is_behind |= closely
        if self._is_behind:
            news: list[KeptFact[SessionFact]] = []
            grown = self._grown(self._files.recent()) if time.monotonic() - self._looked < FULL_SECONDS else []
            if not grown:
                found = self._files.look()
                self._list(found)
                self._looked, self._is_behind = time.monotonic(), False
                grown = self._grown(found)
            for each in grown:
                self._read(each, news)
            self._history.keep(news)
        self._look_at_processes()
        if self._due is not None and time.time() >= self._due:
            self._letters.everything()
        return self._records() if closely or self._changed or self._letters.touched else {}

    def _grown(self, found: list[Found]) -> list[Found]:
        """Return the transcripts with lines that were not read yet."""
        return [each for each in found if not self._history.is_read(each.file, each.stamp)]

    def _list(self, found: list[Found]) -> None:
        self._history.files = [each.file for each in found]
        self._history.note_lost()
        there: dict[str, float] = {}
        for each in found:
            there.setdefault(each.file.session, each.stamp.changed / 1e9)
        for it in self._sessions:
            changed = there.get(it.id)
            if changed is None and it.has_transcript:
                it.has_transcript = False
                self._changed.add(it.id)
            elif changed is not None and (changed != it.changed or not it.has_transcript):
                it.changed, it.has_transcript = changed, True
                self._changed.add(it.id)

    def _read(self, found: Found, news: list[KeptFact[SessionFact]]) -> None:
        before = len(news)
        self._history.read(found.file, found.stamp, news)
        if not found.file.agent:
            it = self._sessions.get(found.file.session)
            it.changed, it.has_transcript = found.stamp.changed / 1e9, True
            self._changed.add(it.id)
        for kept in news[before:]:
            if kept.fact is not None:
                self._take(kept.fact)

    def _take(self, fact: SessionFact) -> None:
        if fact.kind in ("began", "name", "process"):
            self._sessions.add(fact)
            self._changed.add(fact.session)
        else:
            self._letters.add(fact)

    def _look_at_processes(self) -> None:
        facts, changed = self._sessions.look()
        news = [KeptFact(fact) for fact in facts if self._history.is_news(fact)]
        self._history.facts.update((it.fact.key, it.fact) for it in news if it.fact is not None)
        self._history.keep(news)
        for it in news:
            if it.fact is not None:
                self._take(it.fact)
        self._changed |= changed
        self._letters.concerns(changed)
        if news:
            self._letters.everything()

    def _records(self, most: int | None = None) -> RecordMap:
        """Return what changed: sessions, problems, and messages, at most so many."""
        now = time.time()
        found: dict[str, RecordEvents] = {}
        changed, self._changed = self._changed, set()
        labels = {it.id: self._sessions.label(it.id) for it in self._sessions}
        if any(labels.get(session) != label for session, label in self._labels.items()):
            self._letters.everything()
            changed |= labels.keys()
        self._labels = labels
        letters = list(self._letters.take(now, most))
        for session in changed:
            found[f"session {session}"] = RecordEvents((self._sessions.agent(session),))
        for name, agent in self._sessions.strange().items():
            found[f"stranger {name}"] = RecordEvents((agent,))
        self._due = self._letters.next_due(now)
        problems: list[Problem] = [*self._history.problems(), *self._files.problems]
        told = {f"problem {it.file} {it.offset} {it.reason}": RecordEvents((it,)) for it in problems}
        found |= told
        found |= dict.fromkeys(self._told.keys() - told.keys(), NOTHING)
        self._told = told
        found.update((f"message {message_id}", record) for message_id, record in letters)
        return found


def _used(usage: SessionUsage) -> dict[str, str]:
    """Return what a session has used, in words."""
    found = {"model": usage.model}
    if usage.context:
        found["context"] = f"{usage.context:,} tokens at its last answer"
    if usage.given:
        least = "" if usage.is_whole else "at least "
        found["last 24 h"] = f"{least}{usage.given:,} tokens given, {usage.written:,} written"
    if usage.cost is not None:
        found["cost"] = f"${usage.cost:,.2f}, as the program said when it ended last"
    return found
