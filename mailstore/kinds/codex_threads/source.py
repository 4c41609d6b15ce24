"""The threads of Codex and their messages, as they follow from the rollouts, the queue and the turns that run."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import msgspec

from mailstore.encoding import shown_name
from mailstore.files.stamp import stamp_of
from mailstore.files.whole import NotAFile
from mailstore.kinds.codex_threads.databases import Databases, QueuedItem
from mailstore.kinds.codex_threads.facts import FULL, Rollout, RolloutTranscript, ThreadFact, usage_of
from mailstore.kit.bodies import first_line, mentions
from mailstore.kit.record_reader import NOTHING, RecordEvents, RecordMap
from mailstore.kit.team_folders.seen_journal import journal_of
from mailstore.kit.timestamps import time_of
from mailstore.kit.transcripts.history import KeptFact, TranscriptHistory
from mailstore.kit.transcripts.source import FoundTranscript, TranscriptSource, labelled
from mailstore.kit.transcripts.transcript import Reached
from mailstore.records.details import AgentFact
from mailstore.records.events import Event, Undelivered
from mailstore.records.message import NEVER, Location, Message, Receipt
from mailstore.records.roster import Agent, Status
from mailstore.rules.presence import BEAT_SECONDS, Working

DAY = 86_400.0
KIND = "codex-threads"
SESSIONS = "sessions"
TRANSCRIPTS = "transcripts.jsonl"
OUTSIDE = "codex-queue"
"""Who queued a message: the program doesn't say."""
PATIENCE = 60.0
"""Seconds after which a message that is neither in the queue nor in its thread's rollout counts as removed."""
REMOVED = "removed from the queue, and not in its thread"


class ThreadMessage(NamedTuple):
    """A message with its body, and the line or row that it is from."""

    message: Message
    text: str
    line: ThreadFact
    events: tuple[Event, ...] = ()


class ThreadHistory(TranscriptHistory[ThreadFact]):
    """What the rollouts prove, those too that are gone, and what was in the queue."""

    fact_type: ClassVar[type[Any]] = ThreadFact

    def begun(self, file: Rollout, reached: Reached | None) -> RolloutTranscript:
        return RolloutTranscript(file, reached, [it for it in self.facts.values() if it.file == file.name])


class ThreadsSource(TranscriptSource[ThreadFact]):
    """The threads, what was queued for them, and what they and their subagents told each other."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        super().__init__()

    @property
    def name(self) -> str:
        return self._folder.name

    def begin(self) -> None:
        self.history = ThreadHistory(journal_of(KIND, self._folder).with_name(TRANSCRIPTS), is_keeping=True)
        self._databases = Databases(self._folder)
        self._threads: dict[str, ThreadFact] = {}
        self._changed_at: dict[str, float] = {}
        self._given: dict[str, ThreadFact] = {}
        """By the id of a row of the queue, the line of the thread that took it."""
        self._first: dict[str, ThreadFact] = {}
        """By subagent, its first turn."""
        self._queued: dict[str, ThreadFact] = {}
        self._told: dict[str, ThreadFact] = {}
        self._labels: dict[str, str] = {}
        self._letters: dict[str, ThreadMessage] = {}
        self._problems: dict[str, RecordEvents] = {}
        self._is_changed = True
        self._due = 0.0

    def folders(self) -> list[Path]:
        return self.watched()

    def letter(self, message_id: str) -> ThreadMessage | None:
        """Return a message; None if there is none by this id."""
        return self._letters.get(message_id)

    def describe(self, label: str) -> list[AgentFact]:
        """Return what is known of a thread, by its name in the mailbox: where it works, and what it has used."""
        thread = next((it for it in self._threads.values() if self._labels.get(it.thread) == label), None)
        if thread is None:
            return []
        found = {"thread": thread.thread, "folder": thread.folder, "branch": thread.branch, "version": thread.version}
        found["started by"] = self._labels.get(thread.other, "")
        files = (it for it in self.history.files if isinstance(it, Rollout))
        file = next((it for it in files if it.thread == thread.thread), None)
        if file is not None and time.time() - self._changed_at.get(thread.thread, 0.0) < DAY:
            with suppress(OSError, NotAFile):
                found |= usage_of(file.path)
        if file is not None:
            found["resume"] = f"codex resume {thread.thread}"
        source = file.name if file else ""
        return [AgentFact(name, value, source, name == FULL) for name, value in found.items() if value]

    def files(self) -> list[FoundTranscript]:
        found = []
        top = self._folder / SESSIONS
        for place, _, names in os.walk(top):
            for name in names:
                if name.startswith("rollout-") and name.endswith(".jsonl"):
                    path = os.path.join(place, name)  # noqa: PTH118 - there may be very many
                    try:
                        stats = os.stat(path, follow_symlinks=False)  # noqa: PTH116
                    except OSError:
                        continue
                    shown = shown_name(os.path.relpath(path, self._folder))
                    found.append(FoundTranscript(Rollout(path, shown), stamp_of(stats)))
        found.sort(key=lambda it: it.stamp.changed, reverse=True)
        return found

    def listed(self, found: list[FoundTranscript]) -> None:
        now = {it.file.thread: it.stamp.changed / 1e9 for it in found}
        self._is_changed |= now != self._changed_at
        self._changed_at = now

    def was_read(self, found: FoundTranscript) -> None:
        self._changed_at[found.file.thread] = found.stamp.changed / 1e9
        self._is_changed = True

    def take(self, fact: ThreadFact) -> None:
        self._is_changed = True
        match fact.kind:
            case "began":
                self._threads.setdefault(fact.thread, fact)
            case "given":
                if fact.id:
                    self._given[fact.id] = fact
                self._first.setdefault(fact.thread, fact)
            case "queued":
                self._queued.setdefault(fact.id, fact)
            case "told" | "answered":
                self._told[_own_id(*fact.key)] = fact

    def look_beside(self) -> None:
        if self._databases.look():
            self._is_changed = True
            news = [KeptFact(fact) for it in self._databases.queue if self.history.is_news(fact := _queued(it))]
            for kept in news:
                if kept.fact is not None:
                    self.history.facts[kept.fact.key] = kept.fact
                    self.take(kept.fact)
            self.history.keep(news)
        self._is_changed |= 0 < self._due <= time.time()

    def has_more(self) -> bool:
        return self._is_changed

    def records(self, most: int | None = None) -> RecordMap:
        self._is_changed = False
        self._due = 0.0
        ordered = sorted(self._threads.values(), key=lambda it: (it.time, it.thread))
        self._labels = labelled(((it.thread, it.name) for it in ordered), lambda thread, size: thread[-size:])
        found: dict[str, RecordEvents] = {}
        self._letters = {it.message.id: it for it in self._all()}
        for thread in self._threads.values():
            found[f"thread {thread.thread}"] = RecordEvents((self._agent(thread),))
        if any(it.message.sender == OUTSIDE for it in self._letters.values()):
            outside = Agent(OUTSIDE, status=Status.FROZEN, activity="a user or a script")
            found["outside"] = RecordEvents((outside,))
        problems = [*self.history.problems(), *self._databases.problems]
        told = {f"problem {it.file} {it.offset} {it.reason}": RecordEvents((it,)) for it in problems}
        found |= told | dict.fromkeys(self._problems.keys() - told.keys(), NOTHING)
        self._problems = told
        for it in sorted(self._letters.values(), key=lambda it: it.message.time, reverse=True):
            found[f"message {it.message.id}"] = RecordEvents((it.message, *it.events), hash(it.text))
        return found

    def _all(self) -> Iterator[ThreadMessage]:
        """Yield all messages as they are now."""
        waiting = {it.id for it in self._databases.queue}
        now = time.time()
        for client in self._queued.keys() | self._given.keys():
            row, given = self._queued.get(client), self._given.get(client)
            line = row or given
            if line is None:
                continue
            message = self._message(client, OUTSIDE, line.thread, line)
            events: list[Event] = []
            if given is not None:
                events.append(Receipt(client, message.recipients[0], time_of(given.time)))
            elif client not in waiting:
                if now - message.time > PATIENCE:
                    events.append(Undelivered(client, message.recipients[0], REMOVED, None))
                else:
                    self._due = message.time + PATIENCE
            yield ThreadMessage(message, line.text, line, tuple(events))
        for message_id, line in self._told.items():
            if line.kind == "answered":
                message = self._message(message_id, self._label(line.other), line.thread, line)
                yield ThreadMessage(
                    message, line.text, line, (Receipt(message_id, message.recipients[0], message.time),)
                )
                continue
            message = self._message(message_id, self._label(line.thread), line.other, line)
            first = self._first.get(line.other) if line.name.startswith("spawn") else None
            events = [] if first is None else [Receipt(message_id, message.recipients[0], time_of(first.time))]
            yield ThreadMessage(message, line.text, line, tuple(events))

    def _message(self, message_id: str, sender: str, to: str, line: ThreadFact) -> Message:
        at = time_of(line.time)
        return Message(
            message_id,
            sender,
            (self._label(to),),
            line.time,
            at or 0.0,
            first_line(line.text),
            ttl_hours=NEVER,
            type={"told": line.name, "answered": "answer"}.get(line.kind, ""),
            mentions=mentions(line.text),
            location=Location(line.file, line.offset, line.length),
            timed=at is not None,
            is_tracked=line.kind != "told" or line.name.startswith("spawn"),
        )

    def _label(self, thread: str) -> str:
        if thread not in self._labels:
            self._threads[thread] = ThreadFact("began", "", 0, 0, thread, "", name="thread")
            self._labels[thread] = f"thread@{thread[-4:]}"
            self._is_changed = True
        return self._labels[thread]

    def _agent(self, thread: ThreadFact) -> Agent:
        changed = self._changed_at.get(thread.thread)
        if changed is not None:
            changed = changed // BEAT_SECONDS * BEAT_SECONDS  # each line of a rollout is no news of its thread
        is_working = thread.thread in self._databases.working
        extra = {"thread": thread.thread, "folder": thread.folder, "branch": thread.branch, "version": thread.version}
        extra["parent"] = self._labels.get(thread.other, "")
        return Agent(
            self._labels[thread.thread],
            status=Status.LIVING if is_working else Status.FROZEN,
            activity=Working.WORKING.value if is_working else Working.OFFLINE.value,
            started_at=time_of(thread.time),
            last_seen=changed,
            updated=changed,
            extra=msgspec.json.encode({name: value for name, value in extra.items() if value}).decode(),
        )


def _queued(item: QueuedItem) -> ThreadFact:
    return ThreadFact("queued", "queue", 0, 0, item.thread, item.time, id=item.id, text=item.text)


def _own_id(*parts: str) -> str:
    return blake2b(chr(0).join(parts).encode("utf-8", "replace"), digest_size=12).hexdigest()
