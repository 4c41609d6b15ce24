"""The sessions of a program and what they told each other, as they follow from facts: the rules are the same for all.

Usage:

    class ChatsSource(SessionsSource):
        kind, reader = "example-sessions", ChatTranscript
        def files(self): return self.finder.newest_first(FoundTranscript(SessionFile(...), stamp) for ...)

    SessionsStore.__init__(self, ChatsSource(folder), folder)
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import msgspec

from mailstore.kit.bodies import first_line, mentions
from mailstore.kit.record_reader import NOTHING, RecordEvents, RecordMap
from mailstore.kit.sessions.facts import SessionFact, SessionFile, SessionTranscript
from mailstore.kit.sessions.usage import DAY, UsageLog
from mailstore.kit.team_folders.seen_journal import journal_of
from mailstore.kit.timestamps import time_of
from mailstore.kit.transcripts.history import KeptFact, TranscriptHistory
from mailstore.kit.transcripts.source import FileFinder, FoundTranscript, TranscriptSource, labelled
from mailstore.kit.transcripts.transcript import Reached
from mailstore.records.details import AgentFact, AgentUsage
from mailstore.records.events import Event, Undelivered
from mailstore.records.message import NEVER, Location, Message, Problem, Receipt
from mailstore.records.roster import Agent, Status
from mailstore.rules.presence import BEAT_SECONDS, Working

TRANSCRIPTS = "sessions.jsonl"
NOTED = ("sent", "sending")
"""Facts that whoever sends adds to the journal, which may be another program."""
Pair = tuple[str, str]
"""A session, and one that it told something."""


class SessionMessage(NamedTuple):
    """A message with its body; the lines that prove it: first that of the sender, or the only one there is."""

    message: Message
    text: str
    lines: tuple[SessionFact, ...]
    events: tuple[Event, ...] = ()


class SessionHistory(TranscriptHistory[SessionFact]):
    """What transcripts and databases prove, those too that are gone."""

    fact_type: ClassVar[type[Any]] = SessionFact

    def __init__(self, kept: Path, reader: type[SessionTranscript]) -> None:
        super().__init__(kept, is_keeping=True)
        self._reader = reader
        self._known: defaultdict[str, list[SessionFact]] = defaultdict(list)
        for fact in self.facts.values():
            self._known[fact.file].append(fact)

    def begun(self, file: SessionFile, reached: Reached | None) -> SessionTranscript:
        return self._reader(file, reached, self._known.pop(file.name, ()))


class SessionsSource(TranscriptSource[SessionFact]):
    """What a kind's author writes: where the transcripts are, how one is read, and what is in no transcript."""

    kind: ClassVar[str]
    reader: ClassVar[type[SessionTranscript]] = SessionTranscript
    resume: ClassVar[tuple[str, ...]] = ()
    """The command that continues a session, with {} for its id."""
    is_taken_later: ClassVar[bool] = False
    """Whether a session is given what its subagent answered only later, which another line says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.finder = FileFinder(folder)
        super().__init__()

    @property
    def name(self) -> str:
        return self.folder.name

    def begin(self) -> None:
        kept = journal_of(self.kind, self.folder).with_name(TRANSCRIPTS)
        self.history = SessionHistory(kept, self.reader)
        self.sessions: dict[str, SessionFact] = {}
        self.changed_at: dict[str, float] = {}
        """When a session's transcript changed last, in seconds since the epoch."""
        self._given: dict[tuple[str, str], list[SessionFact]] = {}
        """By the session and the text, what it was given, in the order in which it was read."""
        self._took: dict[tuple[str, str], list[SessionFact]] = {}
        """By the session and its subagent, when it took what that one had answered."""
        self._told: defaultdict[Pair, dict[str, SessionFact]] = defaultdict(dict)
        """By a session and its subagent, what one told or answered the other, by the id of the message."""
        self._pairs: defaultdict[str, set[Pair]] = defaultdict(set)
        """By subagent, the pairs that it is one of."""
        self._touched: set[Pair] = set()
        """The pairs of which something may have changed."""
        self._has_new_sessions = True
        self._agents: dict[str, tuple[object, RecordEvents]] = {}
        """By session, what its entry in the roster follows from, and the entry."""
        self.sent: dict[str, SessionFact] = {}
        """By the id of a message, that it was sent from here."""
        self.given_by: dict[str, SessionFact] = {}
        """By the id of a message, the line that says that a session was given it."""
        self._labels: dict[str, str] = {}
        self._messages: dict[str, SessionMessage] = {}
        self._problems: dict[str, RecordEvents] = {}
        self._usage = self.usage_log()
        self.is_changed = True
        self.due = 0.0
        """When something changes because time passes, in seconds since the epoch; 0: nothing does."""

    # What programs differ in.

    def files(self) -> list[FoundTranscript]:
        """Return all transcripts, the last changed first."""
        return []

    def usage_log(self) -> UsageLog | None:
        """Return what reads from a transcript what was used; None if transcripts don't say."""
        return None

    def state(self, session: str) -> tuple[Working, str]:
        """Return what a session is doing, and for what it waits; *offline* is also *not known*."""
        return Working.OFFLINE, ""

    def used_beside(self, now: float) -> Mapping[str, AgentUsage]:
        """Return by session what was used, where that is in no transcript."""
        return {}

    def look_at_rest(self) -> list[SessionFact]:
        """Look at what is in no transcript; return what that proves now, new or not."""
        return []

    def problems(self) -> list[Problem]:
        """Return what is wrong with what is in no transcript."""
        return []

    def other_messages(self) -> Iterator[SessionMessage]:
        """Yield the messages that follow from other facts than those of all programs."""
        yield from ()

    def others(self) -> Iterator[Agent]:
        """Yield agents that are no sessions."""
        yield from ()

    # What is the same for all.

    def folders(self) -> list[Path]:
        return self.watched()

    def note_sent(self, message: Message, line: SessionFact) -> None:
        """Note who sent a message, here and in the journal; may be called in any thread."""
        sent = self.sent[line.id] = line.but(kind="sent", name=message.sender)
        self._messages[line.id] = SessionMessage(message, line.text, (line,))
        self.history.note(sent)

    def session_of(self, label: str) -> str:
        """Return the session that has a name in the mailbox; empty if none has. Raises OSError."""
        source = self
        if not self.sessions:  # nothing was read yet
            source = type(self)(self.folder)
            for _ in source.pages():
                pass
        return next((session for session in [*source.sessions] if source._labels.get(session) == label), "")

    def known(self, message_id: str) -> SessionMessage | None:
        """Return a message; None if there is none by this id."""
        return self._messages.get(message_id)

    def file_named(self, name: str) -> SessionFile | None:
        """Return a transcript that is still there."""
        return next((file for file in self.history.files if isinstance(file, SessionFile) and file.name == name), None)

    def command(self, session: str) -> tuple[str, ...]:
        """Return the command that continues a session; none for a subagent."""
        known = self.sessions.get(session)
        if known is None or known.other or not known.time:
            return ()
        return tuple(word.format(session) for word in self.resume)

    def describe(self, label: str) -> list[AgentFact]:
        """Return what is known of a session, by its name in the mailbox: where it works, and who started it."""
        session = next((fact for fact in [*self.sessions.values()] if self._labels.get(fact.session) == label), None)
        if session is None:
            return []
        found = {"session": session.session, "folder": session.folder, "branch": session.branch}
        found |= {"version": session.version, "started by": self._labels.get(session.other, "")}
        facts = [AgentFact(name, value, session.file) for name, value in found.items() if value]
        if command := self.command(session.session):
            facts.append(AgentFact("resume", " ".join(command), session.file))
        return facts

    def usage(self) -> dict[str, AgentUsage]:
        """Return what the sessions that were at work in the last day have used, by their names in the mailbox."""
        usages = self._used(time.time())
        return {label: usages[session] for session, label in [*self._labels.items()] if session in usages}

    def _used(self, now: float) -> Mapping[str, AgentUsage]:
        if self._usage is None:
            return self.used_beside(now)
        files = [file for file in self.history.files if isinstance(file, SessionFile)]
        recent = ((file.session, file.path) for file in files if now - self.changed_at.get(file.session, 0.0) < DAY)
        return self._usage.of_all(recent, now)

    def session_usage(self, sessions: Collection[str]) -> Mapping[str, AgentUsage]:
        """Return what some sessions have used, by their ids, whether or not anything was read before."""
        return self._usage.of_sessions(sessions, self._paths_of, time.time()) if self._usage is not None else {}

    def _paths_of(self, sessions: Collection[str]) -> Mapping[str, Path]:
        files = {file.file.session: file.file.path for file in self.files()}
        return {session: files[self.key_of(session)] for session in sessions if self.key_of(session) in files}

    def key_of(self, session: str) -> str:
        """Return what stands for a session's id in the name of its transcript."""
        return session

    def listed(self, transcripts: list[FoundTranscript]) -> None:
        now = {transcript.file.session: transcript.stamp.changed / 1e9 for transcript in transcripts}
        self.is_changed |= now != self.changed_at
        self.changed_at = now

    def was_read(self, transcript: FoundTranscript) -> None:
        self.changed_at[transcript.file.session] = transcript.stamp.changed / 1e9
        self.is_changed = True

    def take(self, fact: SessionFact) -> None:
        self.is_changed = True
        pair = fact.session, fact.other
        match fact.kind:
            case "began":
                if (known := self.sessions.get(fact.session)) is None or not known.time:
                    self.sessions[fact.session] = fact
                    self._has_new_sessions = True
            case "sent":
                self.sent[fact.id] = fact
            case "given":
                if fact.id:
                    self.given_by[fact.id] = fact
                self._given.setdefault((fact.session, fact.text), []).append(fact)
                self._touched |= self._pairs[fact.session]
            case "took":
                self._took.setdefault(pair, []).append(fact)
                self._touched.add(pair)
            case "told" | "refused" | "answered":
                self._told[pair][own_id(*fact.key)] = fact
                self._pairs[fact.other].add(pair)
                self._touched.add(pair)

    def look_beside(self) -> None:
        for fact in self.history.noted(NOTED):
            if fact.id not in self.sent:
                self.take(fact)
        news = [KeptFact(fact) for fact in self.look_at_rest() if self.history.is_news(fact)]
        for kept in news:
            if kept.fact is not None:
                self.history.facts[kept.fact.key] = kept.fact
                self.take(kept.fact)
        self.history.keep(news)
        self.is_changed |= 0 < self.due <= time.time()

    def has_more(self) -> bool:
        return self.is_changed

    def records(self, most: int | None = None) -> RecordMap:
        self.is_changed, self.due = False, 0.0
        if self._has_new_sessions:
            self._name_sessions()
        touched, self._touched = self._touched, set()
        changed = [message for pair in touched for message in self._between(pair)]
        changed += self.other_messages()
        self._messages.update((message.message.id, message) for message in changed)
        record_events: dict[str, RecordEvents] = {}
        for session in self.sessions.values():
            if (record := self._changed_agent(session)) is not None:
                record_events[f"session {session.session}"] = record
        for agent in self.others():
            record_events[f"other {agent.session_id}"] = RecordEvents((agent,))
        problems = [*self.history.problems(), *self.finder.problems, *self.problems()]
        records_by_key = {
            f"problem {problem.file} {problem.offset} {problem.reason}": RecordEvents((problem,))
            for problem in problems
        }
        record_events |= records_by_key | dict.fromkeys(self._problems.keys() - records_by_key.keys(), NOTHING)
        self._problems = records_by_key
        for session_message in sorted(changed, key=lambda message: message.message.time, reverse=True):
            record_events[f"message {session_message.message.id}"] = RecordEvents(
                (session_message.message, *session_message.events), hash(session_message.text)
            )
        return record_events

    def _name_sessions(self) -> None:
        """Name all sessions; where one is called something else now, all messages are looked at again."""
        self._has_new_sessions = False
        ordered = sorted(self.sessions.values(), key=lambda fact: (fact.time, fact.session))
        labels = labelled(((fact.session, fact.name) for fact in ordered), lambda session, size: session[-size:])
        if any(labels.get(session) != label for session, label in self._labels.items()):
            self._touched |= self._told.keys()
        self._labels = labels

    def _changed_agent(self, session: SessionFact) -> RecordEvents | None:
        """Return a session's entry in the roster, if it has changed."""
        changed = self.changed_at.get(session.session)
        if changed is not None:
            changed = changed // BEAT_SECONDS * BEAT_SECONDS  # each line of a transcript is no news of its session
        state = self.state(session.session)
        names = self._labels.get(session.session), self._labels.get(session.other, "")
        basis = session, changed, state, names
        known = self._agents.get(session.session)
        if known is not None and known[0] == basis:
            return None
        record = RecordEvents((self._agent(session, changed, *state),))
        self._agents[session.session] = basis, record
        return record

    def _between(self, pair: Pair) -> Iterator[SessionMessage]:
        """Yield what a session told its subagent, and what that answered."""
        session, other = pair
        times: Counter[str] = Counter()
        answers: list[tuple[str, SessionFact]] = []
        prompts: dict[str, str] = {}
        """By the id of what the subagent was given, or of the call, the message."""
        between: list[tuple[str, str, str]] = []
        """In which transcript and when it was told something, and the message."""
        for message_id, line in sorted(self._told[pair].items(), key=lambda it: (it[1].time, it[0])):
            if line.kind == "answered":
                answers.append((message_id, line))
                continue
            if line.kind == "refused":
                recipient = self._labels.get(other, other)
                message = self.message(message_id, self.label(session), recipient, line)
                refused = Undelivered(message_id, recipient, line.name, time_of(line.time), is_told=True)
                yield SessionMessage(message, line.text, (line,), (refused,))
                continue
            recipient = self.label(other)
            message = self.message(message_id, self.label(session), recipient, line)
            given = [fact for fact in self._given.get((other, line.text), ()) if fact.other in ("", session)]
            at = times[line.text]
            times[line.text] += 1
            prompts[line.id] = message_id
            between.append((line.file, line.time, message_id))
            if at < len(given):
                prompts[given[at].id] = message_id
                read = Receipt(message_id, recipient, time_of(given[at].time))
                yield SessionMessage(message, line.text, (line, given[at]), (read,))
            else:
                yield SessionMessage(message, line.text, (line,))
        for message_id, line in answers:
            before = [it for file, at, it in between if file == line.file and at <= line.time]
            last = before[-1] if before else None
            yield self._answer(message_id, line, prompts.get(line.reply) if line.reply else last)

    def _answer(self, message_id: str, line: SessionFact, prompt: str | None) -> SessionMessage:
        message = self.message(message_id, self.label(line.other), self.label(line.session), line, prompt)
        taken = [fact for fact in self._took.get((line.session, line.other), ()) if fact.time >= line.time]
        if self.is_taken_later and not taken:
            return SessionMessage(message, line.text, (line,))
        first = min(taken, key=lambda fact: fact.time) if self.is_taken_later else line
        lines = (line, first) if first is not line else (line,)
        return SessionMessage(
            message, line.text, lines, (Receipt(message_id, message.recipients[0], time_of(first.time)),)
        )

    def message(self, message_id: str, sender: str, to: str, line: SessionFact, thread: str | None = None) -> Message:
        """Return the message that a fact proves, between two names of this mailbox; `thread` is what it answers."""
        at = time_of(line.time)
        return Message(
            message_id,
            sender,
            (to,),
            line.time,
            at or 0.0,
            first_line(line.text),
            thread=thread,
            ttl_hours=NEVER,
            type={"told": line.name, "answered": "answer"}.get(line.kind, ""),
            mentions=mentions(line.text),
            location=Location(line.file, line.offset, line.length),
            timed=at is not None,
            is_tracked=self.is_tracked(line),
        )

    def is_tracked(self, line: SessionFact) -> bool:
        """Say whether the files can tell that a message was read."""
        return True

    def label(self, session: str) -> str:
        """Return a session's name in the mailbox; one that is only written to gets one too."""
        if session not in self._labels:
            self.sessions[session] = SessionFact("began", "", 0, 0, session, "", name="session")
            self._labels[session] = f"session@{session[-4:]}"
            self.is_changed = self._has_new_sessions = True
        return self._labels[session]

    def _agent(self, session: SessionFact, changed: float | None, state: Working, waits_for: str) -> Agent:
        extra = {"session": session.session, "folder": session.folder, "branch": session.branch}
        extra |= {"version": session.version, "parent": self._labels.get(session.other, "")}
        return Agent(
            self._labels[session.session],
            status=Status.FROZEN if state is Working.OFFLINE else Status.LIVING,
            activity=f"{state}: {waits_for}" if waits_for else state.value,
            started_at=time_of(session.time),
            last_seen=changed,
            updated=changed,
            extra=msgspec.json.encode({name: value for name, value in extra.items() if value}).decode(),
        )


def own_id(*parts: str) -> str:
    """Return the id of a message that has none of its own."""
    return blake2b(chr(0).join(parts).encode("utf-8", "replace"), digest_size=12).hexdigest()
