"""What transcripts prove, kept in a journal of our own: it is not read twice, and stays when they are deleted."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Hashable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import msgspec

from mailstore.errors import StoreError, reason_of
from mailstore.files.folder import Stamp, path_stamp
from mailstore.files.whole import NotAFile, open_binary, read_whole
from mailstore.kit.team_folders.seen_journal import append_privately
from mailstore.kit.transcripts.transcript import Reached, Transcript
from mailstore.records.message import Problem

LARGEST = 1 << 30
FAR = 8 << 20
"""Bytes read without finding anything after which the place is kept."""
UNREADABLE = (msgspec.DecodeError, RecursionError)


class TranscriptFact(Protocol):
    """What one line of a transcript proves: a Struct."""

    @property
    def key(self) -> Hashable:
        """The identity, which copies in forked and resumed transcripts share."""

    @property
    def file(self) -> str:
        """The name of the transcript as it is shown."""


class TranscriptFile(Protocol):
    """A transcript, and its name as it is shown."""

    @property
    def path(self) -> Path: ...
    @property
    def name(self) -> str: ...


F = TypeVar("F", bound=TranscriptFact)


class KeptFact(msgspec.Struct, Generic[F], omit_defaults=True):
    """A line of the journal: a fact, how far a transcript was read, or damage in it."""

    fact: F | None = None
    reached: Reached | None = None
    problem: Problem | None = None


class TranscriptHistory(Generic[F]):
    """The facts of some transcripts. Belongs to the thread that reads the mailbox."""

    fact_type: ClassVar[type[Any]]

    def __init__(self, kept: Path, *, is_keeping: bool) -> None:
        self.facts: dict[Hashable, F] = {}
        self.files: Sequence[TranscriptFile] = []
        self.lost: list[str] = []
        """Transcripts that proved something and are no longer there."""
        self._path = kept
        self._length = 0
        """Bytes of the journal that were read."""
        self._stamp: Stamp | None = None
        self._is_keeping = is_keeping
        self._reached: dict[str, Reached] = {}
        self._read: dict[str, Transcript[F]] = {}
        self._stamps: dict[str, Stamp | None] = {}
        self._faults: dict[str, Problem] = {}
        """What can't be read or stored, by the name of the file; empty for our own."""
        self._unkept: list[KeptFact[F]] = []
        """What could not be stored yet."""
        self._problems: dict[Problem, None] = {}
        self._remember()

    @abstractmethod
    def begun(self, file: Any, reached: Reached | None) -> Transcript[F]:
        """Return the reader of a transcript from the place that it was read up to."""

    def is_news(self, fact: F) -> bool:
        """Say whether a fact is new."""
        return fact.key not in self.facts

    def _remember(self) -> None:
        try:
            data = read_whole(self._path, LARGEST)
        except (FileNotFoundError, NotADirectoryError):
            return
        except (OSError, NotAFile) as error:
            self._tell_own(f"what transcripts held can't be read: {reason_of(error)}")
            return
        self._length = data.rfind(b"\n") + 1
        decoder = msgspec.json.Decoder(KeptFact[self.fact_type])  # type: ignore[name-defined]
        for line in filter(None, data.split(b"\n")):
            try:
                kept = decoder.decode(line)
            except UNREADABLE:
                self._tell_own("a line of what transcripts held is damaged: messages of deleted ones may be missing")
            else:
                if kept.fact is not None:
                    self.facts[kept.fact.key] = kept.fact
                if kept.reached is not None:
                    self._reached[kept.reached.file] = kept.reached
                if kept.problem is not None:
                    self._problems[kept.problem] = None
        self.note_lost()

    def noted(self, kinds: Collection[str]) -> list[F]:
        """Return the facts of some kinds that this program or another one has added to the journal since the last call.

        Nothing where it can't be read: what was added is there the next time.
        """
        stamp = path_stamp(self._path)
        if stamp is None or stamp == self._stamp:
            return []
        marks = [f'"kind":"{kind}"'.encode() for kind in kinds]
        lines = []
        try:
            with open_binary(self._path) as file:
                self._length = self._length if self._length <= stamp.size else 0
                file.seek(self._length)
                for line in file:
                    if line.endswith(b"\n"):  # else it is being written
                        self._length += len(line)
                        lines += [line] if any(mark in line for mark in marks) else []
        except (OSError, NotAFile):
            return []
        self._stamp = stamp
        decoder = msgspec.json.Decoder(KeptFact[self.fact_type])  # type: ignore[name-defined]
        facts = []
        for line in lines:
            with suppress(*UNREADABLE):
                facts.append(decoder.decode(line).fact)
        return [fact for fact in facts if fact is not None]

    def note_lost(self) -> None:
        """Note which transcripts that proved something are no longer among the files."""
        there = {file.name for file in self.files}
        self.lost = sorted({fact.file for fact in self.facts.values()} - there)

    def stamps(self) -> tuple[tuple[str, Stamp | None], ...]:
        """Return the stamps of the transcripts, which change when one grows."""
        return tuple((file.name, path_stamp(file.path)) for file in self.files)

    def look(self) -> bool:
        """Read what came to the transcripts; return whether it proves anything new."""
        news: list[KeptFact[F]] = []
        has_news = False
        for file, (name, stamp) in zip(self.files, self.stamps(), strict=True):
            if stamp is not None and self._stamps.get(name) != stamp:
                has_news |= self.read(file, stamp, news)
        self.keep(news)
        return has_news

    def is_read(self, file: TranscriptFile, stamp: Stamp) -> bool:
        """Say whether a transcript has nothing more to read, by its stamp."""
        if file.name in self._stamps:
            return self._stamps[file.name] == stamp
        reached = self._reached.get(file.name)
        return reached is not None and (reached.inode, reached.offset, reached.changed) == stamp[1:]

    def read(self, file: TranscriptFile, stamp: Stamp, news: list[KeptFact[F]]) -> bool:
        """Read what came to one transcript, and add what is to be kept; return whether it proves anything new."""
        name = file.name
        transcript = self._transcript(file)
        had = self._faults.pop(name, None)
        try:
            facts = [fact for fact in transcript.read() if self.is_news(fact)]
        except (OSError, NotAFile) as error:
            self._faults[name] = Problem(name, 1, 0, reason_of(error))
            return had != self._faults[name]
        self._stamps[name] = stamp
        damage = [problem for problem in transcript.problems if problem not in self._problems]
        self._problems.update(dict.fromkeys(damage))
        news += (KeptFact(problem=problem) for problem in damage)
        self.facts.update((fact.key, fact) for fact in facts)
        news += (KeptFact(fact) for fact in facts)
        known = self._reached.get(name)
        if facts or damage or known is None or abs(transcript.reached.offset - known.offset) >= FAR:
            self._reached[name] = transcript.reached
            news.append(KeptFact(reached=transcript.reached))
        return had is not None or bool(facts or damage)

    def _transcript(self, file: TranscriptFile) -> Transcript[F]:
        if file.name not in self._read:
            self._read[file.name] = self.begun(file, self._reached.get(file.name))
        return self._read[file.name]

    def _tell_own(self, reason: str) -> None:
        self._faults[""] = Problem(str(self._path), 1, 0, reason, False)

    def keep(self, news: Iterable[KeptFact[F]]) -> None:
        """Store what was found, if that is asked for."""
        if not self._is_keeping:
            return
        self._unkept += news
        if not self._unkept:
            return
        try:
            append_privately(self._path, [msgspec.json.encode(fact) for fact in self._unkept])
        except (OSError, StoreError) as error:
            self._tell_own(f"what transcripts held can't be stored: {reason_of(error)}")
        else:
            self._unkept = []

    def note(self, fact: F) -> None:
        """Store a fact that no transcript proves; may be called in any thread."""
        with suppress(OSError, StoreError):
            append_privately(self._path, [msgspec.json.encode(KeptFact(fact))])

    def problems(self) -> list[Problem]:
        return [*self._problems, *self._faults.values()]
