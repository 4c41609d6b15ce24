"""What sessions have used, read from the ends of their transcripts: each answer's tokens, its context, and cost."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from mailstore.files.whole import NotAFile, open_regular
from mailstore.kit.transcripts.transcript import MOST_FROM_END, lines_from_end
from mailstore.records.details import HOURS, AgentUsage

HOUR = 3600.0
DAY = HOURS * HOUR
MOST = 200
"""Transcripts that are read for what was used: those that changed last."""
SEARCH_SECONDS = 30.0
"""How often transcripts are looked for that were not there."""
SECONDS = 0.3
"""For so long transcripts are read at a time that were not read before; the others follow the next time."""


class Used(NamedTuple):
    """What one line says of an answer; of lines with one `id` the last counts. None is *not said*.

    `agent` is the subagent that it is of; `given` and `written` are tokens; `cost` in dollars and the tokens in `all`
    are those of the session until then.
    """

    id: str
    time: float | None
    given: int = 0
    written: int = 0
    context: int | None = None
    window: int | None = None
    model: str = ""
    cost: float | None = None
    all: int | None = None
    agent: str = ""
    is_answer: bool = True


Find = Callable[[Collection[str]], Mapping[str, Path]]
"""Returns the transcripts of sessions, of those that are there."""


class _Log:
    """What the lines of one transcript said; its last lines first, or in their order as they come."""

    def __init__(self) -> None:
        self.inode = self.offset = 0
        self.is_whole = True
        self.used: dict[tuple[str, str], Used] = {}
        self.stamp: tuple[int, int, int] | None = None


class UsageLog:
    """Reads what was used, each line once; `decode` gets the lines with one of the marks, and may raise nothing."""

    def __init__(self, marks: tuple[bytes, ...], decode: Callable[[bytes], Iterable[Used]]) -> None:
        self._marks = marks
        self._decode = decode
        self._logs: dict[Path, _Log] = {}
        self._lock = Lock()
        self._paths: dict[str, Path] = {}
        self._next_search = 0.0

    def of(self, session: str, path: Path, now: float) -> Mapping[str, AgentUsage]:
        """Return what a session and its subagents have used, by their ids; nothing if its transcript can't be read."""
        with self._lock:
            log = self._logs.setdefault(path, _Log())
            with suppress(OSError, NotAFile):
                self._read(log, path, now - DAY)
            used = list(log.used.values())
        agents = dict.fromkeys(it.agent for it in used)
        return {
            agent or session: usage_of((it for it in used if it.agent == agent), now, is_whole=log.is_whole)
            for agent in agents
        }

    def of_all(self, files: Iterable[tuple[str, Path]], now: float) -> dict[str, AgentUsage]:
        """Return the same of some sessions, those that changed last first: of those that can be read for now."""
        usages: dict[str, AgentUsage] = {}
        end = time.monotonic() + SECONDS
        kept = list(islice(files, MOST))
        for session, path in kept:
            if path in self._logs or time.monotonic() < end:
                usages |= self.of(session, path, now)
        for path in self._logs.keys() - {path for _, path in kept}:
            self._logs.pop(path, None)
        return usages

    def of_sessions(self, sessions: Iterable[str], find: Find, now: float) -> dict[str, AgentUsage]:
        """Return the same of sessions whose transcripts are looked for; of those that are not found, now and then."""
        is_due = time.monotonic() > self._next_search
        missing = [session for session in sessions if session not in self._paths]
        if missing and is_due:
            self._paths |= find(missing)
            self._next_search = time.monotonic() + SEARCH_SECONDS
        usages = {
            session: self.of(session, self._paths[session], now) for session in sessions if session in self._paths
        }
        return {session: used[session] for session, used in usages.items() if session in used}

    def _read(self, log: _Log, path: Path, since: float) -> None:
        fd = open_regular(path, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            stats = os.fstat(fd)
            stamp = stats.st_ino, stats.st_size, stats.st_mtime_ns
            if stamp == log.stamp:
                return
            if log.stamp is None or log.inode != stats.st_ino or not 0 <= stats.st_size - log.offset <= MOST_FROM_END:
                self._read_back(log, fd, stats.st_size, since)
            else:
                data = os.pread(fd, stats.st_size - log.offset, log.offset)
                end = data.rfind(b"\n") + 1
                for line in data[:end].split(b"\n"):
                    for used in self._said(line):
                        log.used[used.agent, used.id] = used
                log.offset += end
            log.inode, log.stamp = stats.st_ino, stamp
        finally:
            os.close(fd)

    def _read_back(self, log: _Log, fd: int, size: int, since: float) -> None:
        """Read from the end to the first answer from before a time."""
        log.used, log.is_whole, log.offset = {}, True, size
        used: list[Used] = []
        is_last = True
        for line in lines_from_end(fd, size):
            if line is None:
                log.is_whole = False
                break
            if is_last:
                log.offset, is_last = size - len(line), False
                continue
            said = list(self._said(line))
            used += reversed(said)
            if any(it.time is not None and it.time < since for it in said):
                break
        for it in reversed(used):
            log.used[it.agent, it.id] = it

    def _said(self, line: bytes) -> Iterable[Used]:
        return self._decode(line) if any(mark in line for mark in self._marks) else ()


def usage_of(answers: Iterable[Used], now: float, *, is_whole: bool = True) -> AgentUsage:
    """Return what some answers, in their order, have used together."""
    hours = [0] * HOURS
    fields: dict[str, object] = {}
    given = written = 0
    for answer in answers:
        if answer.time is not None and 0 <= (ago := now - answer.time) < DAY:
            hours[HOURS - 1 - int(ago // HOUR)] += answer.given + answer.written
            given, written = given + answer.given, written + answer.written
        if answer.is_answer and answer.time is not None:
            fields["answered"] = answer.time
        last = {
            "model": answer.model,
            "context": answer.context,
            "window": answer.window,
            "cost": answer.cost,
            "total": answer.all,
        }
        fields |= {name: value for name, value in last.items() if value not in (None, "")}
    return AgentUsage(given=given, written=written, hours=tuple(hours), is_whole=is_whole, **fields)  # type: ignore[arg-type]
