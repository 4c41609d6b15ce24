"""Follow many transcripts: what was read of them before, then the rest, the newest first.

Usage:

    class ThreadsSource(TranscriptSource[ThreadFact]):
        def begin(self): self.history = ThreadHistory(...)
        def files(self): return self.finder.newest_first(FoundTranscript(file, stamp) for ...)
        def take(self, fact): ...
        def records(self, most=None): return {"message 7": RecordEvents((message,)), ...}

    WatchedStore.__init__(self, RecordReader(ThreadsSource(folder)), folder)
"""

from __future__ import annotations

import os
import re
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from mailstore.encoding import shown_name
from mailstore.errors import reason_of
from mailstore.files.folder import Stamp, path_stamp, stamp_there
from mailstore.kit.record_reader import RecordMap, RecordSource
from mailstore.kit.transcripts.history import KeptFact, TranscriptFact, TranscriptHistory
from mailstore.records.events import Progress
from mailstore.records.message import Problem

FIRST = 4 << 20
CHUNK = 64 << 20
"""Bytes of transcripts after which what they prove is told: the first time soon."""
FIRST_PAGE, PAGE = 200, 1000
"""Messages that are told at once: few at first, for which the screen waits."""
RECENT = 64
MOST_WATCHED = 1000
"""Of so many transcripts, those that changed last, the folders are watched; new ones are seen in any case."""
FULL_SECONDS = 3.0
REST_SECONDS = 0.1
"""A change is looked for in the transcripts that changed last, and then in all: once nothing was found there for a
moment, which whoever shows it can use, and at the latest so long after it."""
PLAIN = re.compile(r"[^\w.+-]+")
LONGEST = 40
"""Characters of a name."""
F = TypeVar("F", bound=TranscriptFact)


class FoundTranscript(NamedTuple):
    """A transcript with its stamp."""

    file: Any
    stamp: Stamp


class FileFinder:
    """Looks for files in a program's folder, without following links; what can't be looked at is a problem."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self.problems: list[Problem] = []

    def newest_first(self, found: Iterable[FoundTranscript]) -> list[FoundTranscript]:
        """Return transcripts as they are found, the last changed first; problems are those of finding them."""
        self.problems = []
        return sorted(found, key=lambda transcript: transcript.stamp.changed, reverse=True)

    def entries(self, folder: str | Path) -> list[os.DirEntry[str]]:
        """Return what is in a folder, but links; nothing if there is no such folder."""
        try:
            with os.scandir(folder) as entries:
                return [entry for entry in entries if not entry.is_symlink()]
        except OSError as error:
            self.fail(error)
            return []

    def stamp(self, path: str | Path) -> Stamp | None:
        """Return a file's stamp; None if there is none."""
        try:
            return stamp_there(path)
        except OSError as error:
            self.fail(error)
            return None

    def fail(self, error: OSError, path: str | Path = "") -> None:
        """Note what can't be looked at, unless it is certain that it is not there."""
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            name = shown_name(os.path.relpath(path or error.filename or self._home, self._home))
            self.problems.append(Problem(name, 1, 0, reason_of(error)))


class TranscriptSource(RecordSource, Generic[F]):
    """What a kind's author writes: which transcripts there are, and the records that follow from their facts."""

    history: TranscriptHistory[F]

    def __init__(self) -> None:
        self._is_begun = False
        self._start()

    def _start(self) -> None:
        self._last_find = 0.0
        """When something was found last in the transcripts that had changed last, by the monotonic clock."""
        self._behind_since = 0.0
        self._is_behind = False
        """Whether something has changed since, and only the transcripts that changed last were looked at."""
        self.begin()

    @abstractmethod
    def begin(self) -> None:
        """Forget everything, and make the history anew from its journal."""

    @abstractmethod
    def files(self) -> list[FoundTranscript]:
        """Return all transcripts, the last changed first. Raises OSError if there is no telling."""

    @abstractmethod
    def take(self, fact: F) -> None:
        """Take in a fact: one that was kept, or a new one."""

    @abstractmethod
    def records(self, most: int | None = None) -> RecordMap:
        """Return the records that changed, at most so many messages, the newest first."""

    @abstractmethod
    def has_more(self) -> bool:
        """Say whether there are records that changed and were not returned."""

    def listed(self, transcripts: list[FoundTranscript]) -> None:
        """Note which transcripts there are."""

    def was_read(self, transcript: FoundTranscript) -> None:
        """Note that a transcript was read to its end."""

    def look_beside(self) -> None:
        """Look at what is beside the transcripts, each time before records are returned."""

    def everything(self) -> None:
        """Look at all messages again: everything was read."""

    def watched(self) -> list[Path]:
        """Return the folders in which the last transcripts are."""
        return sorted({file.path.parent for file in self.history.files[:MOST_WATCHED]})

    def pages(self) -> Iterator[tuple[RecordMap, Progress]]:
        if self._is_begun:
            self._start()
        self._is_begun = True
        for fact in self.history.facts.values():
            self.take(fact)
        transcripts = self._list()
        self.look_beside()
        unread = self._grown(transcripts)
        total = sum(transcript.stamp.size for transcript in unread)
        done = size = 0
        limit = FIRST
        news: list[KeptFact[F]] = []
        for transcript in unread:
            size += transcript.stamp.size
            self._read(transcript, news)
            if size >= limit:
                self.history.keep(news)
                done, size, limit, news = done + size, 0, CHUNK, []
                yield self.records(), Progress(done, total)
        self.history.keep(news)
        self.everything()
        yield self.records(FIRST_PAGE), Progress(total, total)
        while self.has_more():
            yield self.records(PAGE), Progress(total, total)

    def news(self, *, closely: bool) -> RecordMap | None:
        if closely and not self._is_behind:
            self._is_behind, self._behind_since = True, time.monotonic()
        if self._is_behind:
            news: list[KeptFact[F]] = []
            now = time.monotonic()
            grown = self._grown(self._recent())
            if grown:
                self._last_find = now
            is_overdue = now - self._behind_since >= FULL_SECONDS
            if is_overdue or (not grown and now - self._last_find >= REST_SECONDS):
                grown = self._grown(self._list())
                self._is_behind = False
            for transcript in grown:
                self._read(transcript, news)
            self.history.keep(news)
        self.look_beside()
        return self.records() if closely or self.has_more() else {}

    def _list(self) -> list[FoundTranscript]:
        transcripts = self.files()
        self.history.files = [transcript.file for transcript in transcripts]
        self.history.note_lost()
        self.listed(transcripts)
        return transcripts

    def _recent(self) -> list[FoundTranscript]:
        """Return the transcripts that had changed last when all were looked at, with their stamps now."""
        stamps = ((file, path_stamp(file.path)) for file in self.history.files[:RECENT])
        return [FoundTranscript(file, stamp) for file, stamp in stamps if stamp is not None]

    def _grown(self, transcripts: list[FoundTranscript]) -> list[FoundTranscript]:
        """Return the transcripts with lines that were not read yet."""
        return [transcript for transcript in transcripts if not self.history.is_read(transcript.file, transcript.stamp)]

    def _read(self, transcript: FoundTranscript, news: list[KeptFact[F]]) -> None:
        before = len(news)
        self.history.read(transcript.file, transcript.stamp, news)
        self.was_read(transcript)
        for kept in news[before:]:
            if kept.fact is not None:
                self.take(kept.fact)


def labelled(sessions: Iterable[tuple[str, str]], piece: Callable[[str, int], str]) -> dict[str, str]:
    """Return a name for each session's id, given what each is called, those that began first first.

    `piece` returns so many characters of an id that differ between sessions; 4 are used as long as that is enough.
    """
    result: dict[str, str] = {}
    taken: set[str] = set()
    for session, called in sessions:
        plain = PLAIN.sub("-", called)[:LONGEST].strip("-.") or "session"
        sizes = (4, 8, max(9, len(session)))
        label = next(name for size in sizes if (name := f"{plain}@{PLAIN.sub('-', piece(session, size))}") not in taken)
        taken.add(label)
        result[session] = label
    return result
