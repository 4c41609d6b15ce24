"""Follow a mailbox whose parts (files, folders) are read whole, and read again when they change.

Usage:

    class BoardSource(PartSource):
        def parts(self, *, closely): return self._folder.look(closely=closely)  # stamps by name
        def read(self, part): return [...]  # the events in a part

    WatchedStore.__init__(self, PartReader(BoardSource(path)), path)
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping

from mailstore.files.folder import Stamp, is_fresh
from mailstore.kit.diff_reader import BATCH, DiffReader, in_batches
from mailstore.records.events import Event, Progress
from mailstore.records.message import Message, Trace
from mailstore.records.roster import Agent

PATIENCE_SECONDS = 2.0
AHEAD_SECONDS = 60.0
"""By how much another machine's clock may be ahead."""


class PartSource(ABC):
    """What a kind's author writes: the parts of a mailbox, and the events in each of them."""

    late: Collection[str] = ()
    """The parts that take long to read: what was found before them is yielded first."""

    @abstractmethod
    def parts(self, *, closely: bool) -> Mapping[str, Hashable]:
        """Return the parts by name with their stamps: the roster first, then the newest mail.

        A part is read again when its stamp differs from the last one. Returning the very mapping of the last call says
        that nothing changed. `closely` if something is known to have changed. Raises OSError if the mailbox can't be
        reached.
        """

    @abstractmethod
    def read(self, part: str) -> list[Event] | None:
        """Return the events in a part; None while it may be half-written: it is then asked for again soon."""

    def begin(self) -> None:  # noqa: B027 - a source without a memory has nothing to forget
        """Forget what the parts held: everything is about to be read again."""

    def stale(self) -> str:
        """Say why everything must be read again, although no part has changed; empty if it need not be."""
        return ""

    def same(self, event: Event) -> Hashable:
        """Return the identity of an event: events with equal identities, as copies of a message, count as one."""
        return event

    def slot(self, event: Event) -> Hashable:
        """Return what an event describes if only the latest description of it counts; None for all other events."""
        if isinstance(event, Agent):
            return event.session_id
        return (event.message_id, event.slot) if isinstance(event, Trace) else None

    def why(self, lost: int) -> str:
        """Say, for a user, that this many messages are no longer there."""
        return f"{lost:,} messages are no longer there" if lost > 1 else "a message is no longer there"


class PartReader(DiffReader):
    """Yields each event once, however many parts hold it, and a `Reset` when no part holds it any more."""

    def __init__(self, source: PartSource) -> None:
        self._source = source
        self._begin()

    def _begin(self) -> None:
        self._parts: Mapping[str, Hashable] = {}
        self._open: set[str] = set()
        """The parts to read again although their stamps are the same: half-written, or changed a moment ago."""
        self._stamps: dict[str, Hashable] = {}
        self._held: dict[str, tuple[Event, ...]] = {}
        self._count: Counter[Hashable] = Counter()
        """In how many parts each event is, by identity."""
        self._latest: dict[Hashable, Event] = {}
        self._source.begin()

    def _read_all(self) -> Iterator[list[Event]]:
        self._begin()
        parts = self._source.parts(closely=True)
        total = len(parts)
        waiting: list[Event] = []
        for done, (part, stamp) in enumerate(parts.items(), 1):
            if part in self._source.late and any(isinstance(event, Message) for event in waiting):
                yield from in_batches([*_traces_first(waiting), Progress(done - 1, total)])
                waiting = []
            waiting += self._add(self._take(part, stamp) or ())
            if len(waiting) >= BATCH:
                yield from in_batches([*_traces_first(waiting), Progress(done, total)])
                waiting = []
        # the roster may follow from the mail, and something may have been written meanwhile
        fresh, lost = self._look(closely=False)
        yield from in_batches([*_traces_first([*waiting, *fresh]), Progress(total, total)])
        if lost:
            yield from self._restart(lost)

    def _look(self, *, closely: bool) -> tuple[list[Event], str]:
        fresh: list[Event] = []
        lost: dict[Hashable, Event] = {}
        parts = self._source.parts(closely=closely)
        if why := self._source.stale():
            return fresh, why
        if parts is self._parts and not self._open:
            return fresh, ""
        # what moved from one part to another while the names were listed is found by a second look
        for _ in range(2):
            before: list[tuple[Event, ...]] = []
            for part, stamp in parts.items():
                if self._stamps.get(part, self) == stamp:
                    continue
                had = self._held.get(part, ())
                events = self._take(part, stamp)
                if events is not None:
                    fresh += (each for each in self._add(events) if lost.pop(self._source.same(each), None) is None)
                    before.append(had)
            self._parts = parts
            self._open &= parts.keys()
            for part in [part for part in self._held if part not in parts]:
                self._stamps.pop(part, None)
                before.append(self._held.pop(part))
            lost.update(self._forget(before))
            lost = {key: event for key, event in lost.items() if not self._is_replaced(event)}
            if not lost:
                return fresh, ""
            parts = self._source.parts(closely=True)
        messages = sum(isinstance(event, Message) for event in lost.values())
        return fresh, self._source.why(messages) if messages else "what was read is no longer there"

    def _take(self, part: str, stamp: Hashable) -> tuple[Event, ...] | None:
        self._open.add(part)
        events = self._source.read(part)
        if events is None:
            return None
        self._stamps[part] = self if has_fresh(stamp) else stamp
        if self._stamps[part] is stamp:
            self._open.discard(part)
        self._held[part] = tuple(events)
        return self._held[part]

    def _add(self, events: Iterable[Event]) -> list[Event]:
        """Count events; return those that are new."""
        fresh: list[Event] = []
        for event in events:
            key = self._source.same(event)
            self._count[key] += 1
            if (slot := self._source.slot(event)) is not None:
                if self._latest.get(slot) != event:
                    self._latest[slot] = event
                    fresh.append(event)
            elif self._count[key] == 1:
                fresh.append(event)
        return fresh

    def _forget(self, parts: Iterable[Iterable[Event]]) -> dict[Hashable, Event]:
        """Uncount events; return those that no part holds any more."""
        lost: dict[Hashable, Event] = {}
        for event in (event for events in parts for event in events):
            key = self._source.same(event)
            self._count[key] -= 1
            if self._count[key] <= 0:
                del self._count[key]
                lost[key] = event
        return lost

    def _is_replaced(self, event: Event) -> bool:
        """Say whether a later event took the place of this one."""
        slot = self._source.slot(event)
        return slot is not None and self._latest.get(slot) != event


def has_fresh(stamp: Hashable) -> bool:
    """Say whether any file of a stamp is so new that it may change again without a change of its stamp."""
    if isinstance(stamp, Stamp):
        return is_fresh(stamp)
    return isinstance(stamp, tuple) and any(map(has_fresh, stamp))


def is_settled(changed: float, now: float | None = None) -> bool:
    """Say whether a file was changed so long ago (seconds since the epoch) that its writer must be done with it.

    A time far in the future proves nothing, and would never pass: such a file counts as done.
    """
    age = (time.time() if now is None else now) - changed
    return age > PATIENCE_SECONDS or age < -AHEAD_SECONDS


def _traces_first(events: list[Event]) -> list[Event]:
    """Sort traces of copies before the messages that they may join."""
    return sorted(events, key=lambda event: not isinstance(event, Trace))
