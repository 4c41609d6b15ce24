"""The threads of Codex and their messages, as they follow from the rollouts, the queue and the turns that run."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from mailstore.encoding import shown_name
from mailstore.kinds.codex_threads.databases import Databases, QueuedItem
from mailstore.kinds.codex_threads.facts import COUNTS, RolloutTranscript, used_in
from mailstore.kit.sessions.facts import SessionFact, SessionFile
from mailstore.kit.sessions.source import SessionMessage, SessionsSource
from mailstore.kit.sessions.usage import UsageLog
from mailstore.kit.timestamps import time_of
from mailstore.kit.transcripts.source import FoundTranscript
from mailstore.records.events import Event, Undelivered
from mailstore.records.message import Problem, Receipt
from mailstore.records.roster import Agent, Status
from mailstore.rules.presence import Working

SESSIONS = "sessions"
OUTSIDE = "codex-queue"
"""Who queued a message: the program doesn't say."""
PATIENCE = 60.0
"""Seconds after which a message that is neither in the queue nor in its thread's rollout counts as removed."""
SENDING_SECONDS = 30.0
"""How long after it was announced a text may be queued that was sent from here."""
REMOVED = "removed from the queue, and not in its thread"


class ThreadsSource(SessionsSource):
    """The threads, what was queued for them, and what they and their subagents told each other."""

    kind = "codex-threads"
    reader = RolloutTranscript
    resume = ("codex", "resume", "{}")

    def begin(self) -> None:
        self._databases = Databases(self.folder)
        self._queued: dict[str, SessionFact] = {}
        self._sending: dict[tuple[str, str], SessionFact] = {}
        """By thread and text, what was about to be queued from here."""
        super().begin()

    def usage_log(self) -> UsageLog:
        return UsageLog(COUNTS, used_in)

    def state(self, session: str) -> tuple[Working, str]:
        return (Working.WORKING if session in self._databases.working else Working.OFFLINE), ""

    def files(self) -> list[FoundTranscript]:
        return self.finder.newest_first(self._found())

    def _found(self) -> Iterator[FoundTranscript]:
        for place, _, names in os.walk(self.folder / SESSIONS, onerror=self.finder.fail):
            for name in names:
                path = os.path.join(place, name)  # noqa: PTH118 - there may be very many
                is_rollout = name.startswith("rollout-") and name.endswith(".jsonl")
                if is_rollout and (stamp := self.finder.stamp(path)) is not None:
                    shown = shown_name(os.path.relpath(path, self.folder))
                    yield FoundTranscript(SessionFile(path, shown, name.removesuffix(".jsonl")[-36:]), stamp)

    def take(self, fact: SessionFact) -> None:
        super().take(fact)
        if fact.kind == "queued":
            self._queued.setdefault(fact.id, fact)
        elif fact.kind == "sending":
            self._sending[fact.session, fact.text] = fact

    def look_at_rest(self) -> list[SessionFact]:
        if not self._databases.look():
            return []
        self.is_changed = True
        return [_queued(item) for item in self._databases.queue]

    def problems(self) -> list[Problem]:
        return self._databases.problems

    def is_tracked(self, line: SessionFact) -> bool:
        """Say whether a thread's rollout shows that it was given a message: not what a running subagent is told."""
        return line.kind != "told" or line.name.startswith("spawn")

    def others(self) -> Iterator[Agent]:
        lines = (*self._queued.values(), *(fact for id_, fact in self.given_by.items() if id_ not in self._queued))
        if any(self._sender(line) == OUTSIDE for line in lines):
            yield Agent(OUTSIDE, status=Status.FROZEN, activity="a user or a script")

    def _sender(self, line: SessionFact) -> str:
        """Return who queued a message, which the queue itself doesn't say."""
        if (sent := self.sent.get(line.id)) is not None:
            return sent.name
        sending = self._sending.get((line.session, line.text))
        if sending is None or abs((time_of(line.time) or 0.0) - (time_of(sending.time) or 0.0)) > SENDING_SECONDS:
            return OUTSIDE
        return sending.name

    def other_messages(self) -> Iterator[SessionMessage]:
        """Yield what was queued: what a thread took, what waits, and what is gone."""
        waiting = {item.id for item in self._databases.queue}
        now = time.time()
        for client in self._queued.keys() | self.given_by.keys():
            row, given = self._queued.get(client), self.given_by.get(client)
            line = row or given
            if line is None:
                continue
            message = self.message(client, self._sender(line), self.label(line.session), line)
            events: list[Event] = []
            if given is not None:
                events.append(Receipt(client, message.recipients[0], time_of(given.time)))
            elif client not in waiting and self._databases.is_queue_known:
                if now - message.time > PATIENCE:
                    events.append(Undelivered(client, message.recipients[0], REMOVED, None))
                else:
                    self.due = message.time + PATIENCE
            lines = (line, given) if given is not None and given is not line else (line,)
            yield SessionMessage(message, line.text, lines, tuple(events))


def _queued(item: QueuedItem) -> SessionFact:
    return SessionFact("queued", "queue", 0, 0, item.thread, item.time, id=item.id, text=item.text)
