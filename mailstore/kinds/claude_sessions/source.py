"""The sessions in a folder of projects and their messages, as they follow from the transcripts and the processes."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, ClassVar

from mailstore.kinds.claude_sessions.facts import ClaudeFact, ClaudeFile, ClaudeTranscript
from mailstore.kinds.claude_sessions.places import SessionFiles
from mailstore.kinds.claude_sessions.processes import Processes
from mailstore.kinds.claude_sessions.sessions import SeenSession, Sessions
from mailstore.kinds.claude_sessions.tracing import TracedMessage, TracedMessages
from mailstore.kinds.claude_sessions.turns import MARKS, used_in
from mailstore.kit.record_reader import NOTHING, RecordEvents, RecordMap
from mailstore.kit.sessions.usage import DAY, UsageLog
from mailstore.kit.team_folders.seen_journal import journal_of
from mailstore.kit.transcripts.history import KeptFact, TranscriptHistory
from mailstore.kit.transcripts.source import FoundTranscript, TranscriptSource
from mailstore.kit.transcripts.transcript import Reached
from mailstore.records.details import AgentFact, AgentUsage
from mailstore.records.message import Problem

KIND = "claude-sessions"
TRANSCRIPTS = "transcripts.jsonl"


class ClaudeHistory(TranscriptHistory[ClaudeFact]):
    """What the transcripts prove, those too that are gone."""

    fact_type: ClassVar[type[Any]] = ClaudeFact

    def __init__(self, kept: Path) -> None:
        super().__init__(kept, is_keeping=True)
        self._known: defaultdict[str, list[ClaudeFact]] = defaultdict(list)
        for fact in self.facts.values():
            if fact.kind in ("began", "name"):
                self._known[fact.file].append(fact)

    def begun(self, file: ClaudeFile, reached: Reached | None) -> ClaudeTranscript:
        return ClaudeTranscript(file, reached, self._known.get(file.name, ()))


class ClaudeSource(TranscriptSource[ClaudeFact]):
    """The sessions and their messages; a message is told again when a line of another transcript says more of it."""

    def __init__(self, projects: Path) -> None:
        self._projects = projects
        self._files = SessionFiles(projects)
        super().__init__()

    def begin(self) -> None:
        self._processes = Processes(self._projects)
        self._sessions = Sessions(self._processes)
        self._traced = TracedMessages(self._sessions)
        self.history = ClaudeHistory(journal_of(KIND, self._projects).with_name(TRANSCRIPTS))
        self._usage = UsageLog(MARKS, used_in)
        self._labels: dict[str, str] = {}
        self._told: dict[str, RecordEvents] = {}
        self._changed: set[str] = set()
        """The sessions that may have changed."""
        self._due: float | None = None
        """When a message in an inbox may count as lost."""

    @property
    def name(self) -> str:
        return f"{self._projects.parent.name}/{self._projects.name}"

    def folders(self) -> list[Path]:
        """Return the folders in which the last transcripts are, and that of the processes."""
        return [*self.watched(), self._processes.folder]

    def traced(self, message_id: str) -> TracedMessage | None:
        """Return a message with its body and what became of it."""
        return self._traced.traced(message_id, time.time())

    def label(self, session: str) -> str:
        """Return a session's name in the mailbox."""
        return self._labels.get(session, "")

    def folder_of(self, session: str) -> str:
        """Return the folder in which a session works."""
        return self._sessions.get(session).folder

    def file_named(self, session: str, name: str) -> ClaudeFile | None:
        """Return a transcript of a session or its subagents, by its name as it is shown; None if it is not there."""
        files = (file for file in self.history.files if isinstance(file, ClaudeFile))
        return next((file for file in files if file.session == session and file.name == name), None)

    def describe(self, label: str) -> list[AgentFact]:
        """Return what is known of a session, by its name in the mailbox: where it works, and what it has used."""
        session = next((session for session, name in self._labels.items() if name == label), "")
        if not session:
            return []
        seen_session, process = self._sessions.get(session), self._sessions.get(session).process
        found = {
            "session": seen_session.id,
            "folder": seen_session.folder,
            "branch": seen_session.branch,
            "version": seen_session.version,
        }
        if process is not None:
            found["process"] = f"{process.pid}, {process.kind}"
        files = (
            transcript_file
            for transcript_file in self.history.files
            if isinstance(transcript_file, ClaudeFile) and not transcript_file.agent
        )
        file = next((each for each in files if each.session == session), None)
        source = file.name if file else ""
        facts = [AgentFact(name, value, source) for name, value in found.items() if value]
        if file is not None:
            facts.append(AgentFact("resume", f"claude --resume {seen_session.id}", source))
        return facts

    def usage(self) -> dict[str, AgentUsage]:
        """Return what the sessions that were at work in the last day have used, by their names in the mailbox."""
        now = time.time()
        files = [file for file in self.history.files if isinstance(file, ClaudeFile) and not file.agent]
        known = {session.id for session in [*self._sessions] if self._is_recent(session, now)}
        recent = ((file.session, file.path) for file in files if file.session in known)
        usages = self._usage.of_all(recent, now)
        return {label: usages[session] for session, label in [*self._labels.items()] if session in usages}

    def session_usage(self, sessions: Collection[str]) -> Mapping[str, AgentUsage]:
        """Return what some sessions have used, by their ids, whether or not anything was read before."""
        return self._usage.of_sessions(sessions, self._paths_of, time.time())

    def _paths_of(self, sessions: Collection[str]) -> Mapping[str, Path]:
        files = {
            transcript.file.session: transcript.file.path
            for transcript in self._files.look()
            if not transcript.file.agent
        }
        return {session: files[session] for session in sessions if session in files}

    def _is_recent(self, session: SeenSession, now: float) -> bool:
        return session.process is not None or now - session.changed < DAY

    def files(self) -> list[FoundTranscript]:
        return self._files.look()

    def has_more(self) -> bool:
        return bool(self._changed or self._traced.touched)

    def everything(self) -> None:
        self._traced.everything()

    def listed(self, transcripts: list[FoundTranscript]) -> None:
        there: dict[str, float] = {}
        for transcript in transcripts:
            there.setdefault(transcript.file.session, transcript.stamp.changed / 1e9)
        for session in self._sessions:
            changed = there.get(session.id)
            if changed is None and session.has_transcript:
                session.has_transcript = False
                self._changed.add(session.id)
            elif changed is not None and (changed != session.changed or not session.has_transcript):
                session.changed, session.has_transcript = changed, True
                self._changed.add(session.id)

    def was_read(self, transcript: FoundTranscript) -> None:
        if not transcript.file.agent:
            session = self._sessions.get(transcript.file.session)
            session.changed, session.has_transcript = transcript.stamp.changed / 1e9, True
            self._changed.add(session.id)

    def take(self, fact: ClaudeFact) -> None:
        if fact.kind in ("began", "name", "process"):
            self._sessions.add(fact)
            self._changed.add(fact.session)
        else:
            self._traced.add(fact)

    def look_beside(self) -> None:
        facts, changed = self._sessions.look()
        news = [KeptFact(fact) for fact in facts if self.history.is_news(fact)]
        self.history.facts.update((fact.fact.key, fact.fact) for fact in news if fact.fact is not None)
        self.history.keep(news)
        for kept_fact in news:
            if kept_fact.fact is not None:
                self.take(kept_fact.fact)
        self._changed |= changed
        self._traced.concerns(changed)
        if news or (self._due is not None and time.time() >= self._due):
            self._traced.everything()

    def records(self, most: int | None = None) -> RecordMap:
        """Return what changed: sessions, problems, and messages, at most so many."""
        now = time.time()
        record_events: dict[str, RecordEvents] = {}
        changed, self._changed = self._changed, set()
        labels = {seen_session.id: self._sessions.label(seen_session.id) for seen_session in self._sessions}
        if any(labels.get(session) != label for session, label in self._labels.items()):
            self._traced.everything()
            changed |= labels.keys()
        self._labels = labels
        traced = list(self._traced.take(now, most))
        for session in changed:
            record_events[f"session {session}"] = RecordEvents((self._sessions.agent(session),))
        for agent in self._sessions.new_strangers():
            record_events[f"stranger {agent.session_id}"] = RecordEvents((agent,))
        self._due = self._traced.next_due(now)
        problems: list[Problem] = [*self.history.problems(), *self._files.problems, *self._processes.problems]
        records_by_key = {
            f"problem {problem.file} {problem.offset} {problem.reason}": RecordEvents((problem,))
            for problem in problems
        }
        record_events |= records_by_key
        record_events |= dict.fromkeys(self._told.keys() - records_by_key.keys(), NOTHING)
        self._told = records_by_key
        record_events.update((f"message {message_id}", record) for message_id, record in traced)
        return record_events
