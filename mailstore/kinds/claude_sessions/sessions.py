"""The sessions of a folder of projects as agents: their names, and whether they run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import msgspec

from mailstore.kinds.claude_sessions.facts import ClaudeFact
from mailstore.kinds.claude_sessions.processes import Processes, SessionProcess
from mailstore.kit.timestamps import isoformat, time_of
from mailstore.kit.transcripts.source import LONGEST, labelled
from mailstore.records.roster import Agent, Status
from mailstore.rules.presence import BEAT_SECONDS, Working

STATES = {"busy": Working.WORKING, "idle": Working.IDLE, "waiting": Working.WAITING}
NO_TRANSCRIPT = "no transcript here"
LONGEST_WAIT = 120
"""Characters of what a session waits for."""


class SeenSession(msgspec.Struct):
    """What is known of one session; times are in seconds since the epoch."""

    id: str
    folder: str = ""
    branch: str = ""
    version: str = ""
    began: float | None = None
    names: list[str] = []
    changed: float = 0.0
    process: SessionProcess | None = None
    has_transcript: bool = False

    @property
    def name(self) -> str:
        """Return what it is called now; empty if it has no name."""
        if self.process is not None and self.process.name:
            return self.process.name
        return self.names[-1] if self.names else ""


class Sessions:
    """All sessions that were seen, by id."""

    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self._all: dict[str, SeenSession] = {}
        self._by_process: dict[tuple[int, str], str] = {}
        self._runs: defaultdict[int, list[tuple[float, str]]] = defaultdict(list)
        """By process number, when a session began to run as it, and which."""
        self._labels: dict[str, str] | None = {}
        self._by_name: defaultdict[str, list[SeenSession]] = defaultdict(list)
        """By name, the sessions that are or were called so."""
        self._strangers: dict[str, Agent] = {}
        """Senders and recipients of whom nothing but a name is known."""
        self._new_strangers: list[Agent] = []

    def __iter__(self) -> Iterator[SeenSession]:
        return iter(self._all.values())

    def get(self, session: str) -> SeenSession:
        if session not in self._all:
            self._all[session] = SeenSession(session, names=[])
            self._labels = None
        return self._all[session]

    def add(self, fact: ClaudeFact) -> None:
        """Take in where a session began, what it is called, or as which process it ran."""
        session = self.get(fact.session)
        time = time_of(fact.time)
        if fact.kind == "began":
            session.folder, session.branch, session.version, session.began = fact.name, fact.text, fact.outcome, time
        elif fact.kind == "process":
            self.ran(fact.session, fact.pid, fact.started, time)
        if fact.kind in ("name", "process") and fact.name and fact.name not in session.names[-1:]:
            session.names.append(fact.name)
            if session not in self._by_name[fact.name]:
                self._by_name[fact.name].append(session)
        self._labels = None

    def ran(self, session: str, pid: int, started: str, time: float | None) -> None:
        """Note as which process a session ran."""
        if pid and self._by_process.setdefault((pid, started), session) == session:
            run = (time or 0.0, session)
            if run not in self._runs[pid]:
                self._runs[pid] = sorted([*self._runs[pid], run])

    def of_process(self, pid: int, started: str) -> str:
        """Return the session that ran as a process; empty if that is not known."""
        return self._by_process.get((pid, started), "")

    def at_address(self, address: str, time: float) -> str:
        """Return the session that had a socket's address at a time; empty if that is not known."""
        number = address.rpartition("/")[2].removesuffix(".sock")
        runs = self._runs.get(int(number), []) if number.isascii() and number.isdigit() and len(number) < 12 else []
        return next((session for began, session in reversed(runs) if began <= time + 1), "")

    def named(self, name: str, time: float) -> str:
        """Return the one session that was called so and may have run at a time; empty if there are several, or none."""
        sessions = [
            session
            for session in self._by_name.get(name, ())
            if (session.began is None or session.began <= time + 1)
            and (session.process is not None or session.changed >= time - 1)
        ]
        running = [
            session
            for session in sessions
            if session.process is not None and session.process.started_at / 1000 <= time + 1
        ]
        sessions = running if len(running) == 1 else sessions
        return sessions[0].id if len(sessions) == 1 else ""

    def look(self) -> tuple[list[ClaudeFact], set[str]]:
        """Look which sessions run now; return what is new of their processes, and the sessions that it concerns."""
        before = self._processes.living
        fresh = self._processes.look()
        now = self._processes.living
        changed = {name for name in before.keys() | now.keys() if before.get(name) != now.get(name)}
        facts = []
        for process in fresh:
            session = self.get(process.session_id)
            session.folder = session.folder or process.cwd
            session.version = process.version or session.version
            if session.began is None:
                session.began = process.started_at / 1000
            began = isoformat(process.started_at / 1000)
            facts.append(
                ClaudeFact(
                    "process",
                    f"sessions/{process.pid}.json",
                    0,
                    0,
                    process.session_id,
                    began,
                    name=process.name,
                    pid=process.pid,
                    started=process.proc_start,
                )
            )
        for name in changed:
            self.get(name).process = now.get(name)
        self._labels = None if changed or facts else self._labels
        return facts, changed

    def ended_since(self, session: str, time: float) -> bool:
        """Say whether the process that ran a session at a time has ended; never where the program doesn't tell."""
        if not self._processes.is_there:
            return False
        running = self.get(session).process
        return running is None or running.started_at / 1000 > time

    def label(self, session: str) -> str:
        """Return the name of a session in the mailbox: its own, or its folder's, with what tells it from others."""
        if self._labels is None or session not in self._labels:
            self.get(session)
            self._labels = self._labelled()
        return self._labels[session]

    def _labelled(self) -> dict[str, str]:
        ordered = sorted(self._all.values(), key=lambda session: (session.began or float("inf"), session.id))
        called = ((session.id, session.name or session.folder.rstrip("/").rpartition("/")[2]) for session in ordered)
        return labelled(called, lambda session, size: session[:size])

    def agent(self, session: str) -> Agent:
        """Return a session as an agent.

        What the session is called is part of its label only: as a name of the agent it would be an address, and a text
        with `@name` would be to it.
        """
        seen_session, process = self.get(session), self.get(session).process
        last = max(seen_session.changed, process.updated_at / 1000 if process else 0.0) or None
        if last is not None and process is None:
            last = last // BEAT_SECONDS * BEAT_SECONDS  # each line of a transcript is no news of its session
        seen = None if last is None else last // BEAT_SECONDS * BEAT_SECONDS
        extra: dict[str, str | int] = {
            "session": seen_session.id,
            "name": seen_session.name,
            "folder": seen_session.folder,
            "branch": seen_session.branch,
            "version": seen_session.version,
        }
        status, activity = Status.DEAD, ""
        if process is not None:
            state = STATES.get(process.status)
            words = " ".join(process.waiting_for.split())[:LONGEST_WAIT]
            status = Status.LIVING
            activity = (f"{state}: {words}" if words else state.value) if state else ""
            extra |= {"pid": process.pid, "kind": process.kind}
        elif not self._processes.is_there:
            status, activity = Status.FROZEN, Working.OFFLINE.value
        if not seen_session.has_transcript and process is None:
            activity = "its transcript is gone"
        return Agent(
            self.label(session),
            status=status,
            activity=activity,
            started_at=seen_session.began,
            ended_at=last if status is Status.DEAD else None,
            last_seen=seen,
            updated=process.status_updated_at / 1000 if process and process.status_updated_at else last,
            extra=msgspec.json.encode({name: value for name, value in extra.items() if value}).decode(),
        )

    def stranger(self, name: str) -> str:
        """Return the name in the mailbox of somebody of whom only a name is known."""
        plain = plain_name(name)
        if plain not in self._strangers:
            self._strangers[plain] = Agent(plain, status=Status.FROZEN, activity=NO_TRANSCRIPT)
            self._new_strangers.append(self._strangers[plain])
        return plain

    def new_strangers(self) -> list[Agent]:
        """Return those of whom only a name is known, as agents, who were not returned before."""
        agents, self._new_strangers = self._new_strangers, []
        return agents


def plain_name(name: str) -> str:
    """Return a name as it was given, as it can be one in the mailbox."""
    return " ".join(name.split()).replace("/", "-")[:LONGEST] or "unknown"
