"""Read the mail and the roster of a Beads database, with Gas Town's archive beside it and its rigs' agents."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from mailstore.files.stamp import Stamp, is_fresh
from mailstore.kinds.beads.addresses import OVERSEER
from mailstore.kinds.beads.decode import BeadsLetter, archived_letter, letter_of, record_events
from mailstore.kinds.beads.lines import BeadsLines
from mailstore.kinds.beads.origins import IssueOrigin, PlacedIssue
from mailstore.kinds.beads.records import BeadsIssue
from mailstore.kinds.beads.rigs import RigRecords
from mailstore.kinds.beads.roster import agents_of
from mailstore.kinds.beads.threads import BeadsThreads
from mailstore.kit.record_reader import RecordEvents, RecordMap, RecordSource
from mailstore.records.events import Person, Progress
from mailstore.records.message import Location, Problem

PAGE = 1000
PERSON = RecordEvents((Person((OVERSEER,)),))
NO_SENDER = "a message without a sender"


class _Placed(NamedTuple):
    """A message, where it is, and its time: that of the record before it, where it has none."""

    letter: BeadsLetter
    location: Location
    time: float

    @property
    def key(self) -> str:
        """Return the key of a record: several may have one id."""
        return f"{self.location.file} {self.location.offset} {self.letter.id}"


class BeadsFeed(RecordSource):
    """Every message and every agent; everything is read again when a file has changed."""

    def __init__(
        self, origin: IssueOrigin, archive: BeadsLines, rigs: Sequence[RigRecords], missing: Sequence[Problem] = ()
    ) -> None:
        self._origin = origin
        self._archive = archive
        self._rigs = rigs
        self._missing = missing
        self._stamp: Hashable = None

    @property
    def name(self) -> str:
        """Return the name of the file that is read."""
        return self._origin.name

    def _stamps(self) -> Hashable:
        return self._origin.stamp(), self._archive.stamp(), tuple(_stamp_of(rig.origin) for rig in self._rigs)

    def pages(self) -> Iterator[tuple[RecordMap, Progress]]:
        """Yield the agents, then all messages, newest first; at first those that the first screen shows."""
        stamp = self._stamps()
        if self._stamp is None and (newest := self._origin.newest(PAGE)):
            found, records = _records(newest, _placed(newest), [], [])
            yield {**found, **records}, Progress(0, 1)
        problems: list[Problem] = [*self._missing]
        issues = self._origin.read(problems)
        placed = _placed(issues)
        placed += _timed(self._archived(problems))
        rigs = [issue for rig in self._rigs for issue in rig.issues(problems)]
        found, records = _records(issues, placed, rigs, problems)
        rest, done = iter(records.items()), 0
        while page := dict(islice(rest, PAGE)):
            done += len(page)
            yield {**found, **page}, Progress(done, len(records))
            found = {}
        if found:
            yield found, Progress(1, 1)
        self._stamp = stamp

    def _archived(self, problems: list[Problem]) -> Iterator[tuple[BeadsLetter, Location]]:
        """Yield the messages that were put into the archive; the others of one id have to be told apart by place."""
        for line in self._archive.read(problems):
            letter = archived_letter(line.name, line.value)
            if letter is None:
                problems.append(Problem(self._archive.name, line.number, line.offset, NO_SENDER))
            else:
                yield letter, line.location

    def news(self, *, closely: bool) -> RecordMap | None:
        """Return nothing where no file changed, else None: only reading all of it can tell what did."""
        stamp = self._stamps()
        return {} if stamp == self._stamp and not _is_fresh(stamp) else None


def _placed(issues: Iterable[PlacedIssue]) -> list[_Placed]:
    return list(_timed((letter_of(each.issue), each.location) for each in issues if each.issue.is_mail))


def _records(
    issues: Iterable[PlacedIssue], placed: list[_Placed], rigs: Iterable[BeadsIssue], problems: Iterable[Problem]
) -> tuple[dict[str, RecordEvents], dict[str, RecordEvents]]:
    """Return the records of the agents and the problems, and those of the messages, newest first."""
    agents = agents_of([*(each.issue for each in issues), *rigs], [each.letter for each in placed])
    threads = BeadsThreads(each.letter for each in placed)
    placed.sort(key=lambda each: (each.time, each.letter.id), reverse=True)
    found: dict[str, RecordEvents] = {"person": PERSON}
    found |= {f"agent {agent.session_id}": RecordEvents((agent,)) for agent in agents}
    found |= {f"problem {each}": RecordEvents((each,)) for each in problems}
    return found, {
        each.key: record_events(each.letter, threads.parent(each.letter), each.time, each.location) for each in placed
    }


def _timed(letters: Iterable[tuple[BeadsLetter, Location]]) -> Iterator[_Placed]:
    time = 0.0
    for letter, location in letters:
        time = time if letter.time is None else letter.time
        yield _Placed(letter, location, time)


def _stamp_of(origin: IssueOrigin) -> Hashable:
    try:
        return origin.stamp()
    except OSError:
        return None


def _is_fresh(stamp: Hashable) -> bool:
    if isinstance(stamp, Stamp):
        return is_fresh(stamp)
    return isinstance(stamp, tuple) and any(map(_is_fresh, stamp))
