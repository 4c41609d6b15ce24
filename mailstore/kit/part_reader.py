"""Reads mailboxes whose parts (files, a database) are read whole, and anew when they change."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping

from mailstore.files.stamp import Stamp, is_fresh
from mailstore.records.events import Event, Gone, Progress, Reset
from mailstore.records.message import Message, Trace
from mailstore.records.roster import Agent

__all__ = ["PartReader", "PartSource", "is_settled"]

BATCH = 1000
PATIENCE_SECONDS = 2.0


class PartSource(ABC):
    """What one kind of mailbox consists of, and what its parts hold."""

    @abstractmethod
    def parts(self, *, closely: bool) -> Mapping[str, Hashable]:
        """Return the parts by name with their stamps, the roster's first, then those of the newest mail.

        A part is read again when its stamp is another; the very mapping of the last look says that none is.
        `closely` where something is known to have changed. Raises OSError where the mailbox can't be reached.
        """

    @abstractmethod
    def read(self, part: str) -> list[Event] | None:
        """Return what a part holds; None where it may be half-written, or changing: it is asked for again soon."""

    def begin(self) -> None:  # noqa: B027 - a source that remembers nothing has nothing to forget
        """Forget what earlier parts have told: everything is read anew."""

    def same(self, event: Event) -> Hashable:
        """Return what makes two events one and the same; copies of one message may be one."""
        return event

    def why(self, lost: int) -> str:
        """Say, for a person, that messages are no longer there."""
        return f"{lost:,} messages are no longer there" if lost > 1 else "a message is no longer there"


class PartReader:
    """Hands each event out once, however many parts hold it, and `Reset` when one is in none of them any more.

    Belongs to one consumer at a time. Blocks.
    """

    def __init__(self, source: PartSource) -> None:
        self._source = source
        self._gone = ""
        self._begin()

    def _begin(self) -> None:
        self._parts: Mapping[str, Hashable] = {}
        self._open: set[str] = set()
        self._stamps: dict[str, Hashable] = {}
        self._held: dict[str, tuple[Event, ...]] = {}
        self._count: Counter[Hashable] = Counter()
        self._latest: dict[Hashable, Event] = {}
        self._source.begin()

    def scan(self) -> Iterator[list[Event]]:
        """Yield all there is, the newest mail early. Raises OSError."""
        parts = self._source.parts(closely=True)
        total = len(parts)
        waiting: list[Event] = []
        for done, (part, stamp) in enumerate(parts.items(), 1):
            waiting += self._add(self._take(part, stamp) or ())
            if len(waiting) >= BATCH:
                yield from _sized([*_traces_first(waiting), Progress(done, total)])
                waiting = []
        # what was told late, as who took part, or was written meanwhile
        fresh, lost = self._look(closely=False)
        yield from _sized([*_traces_first([*waiting, *fresh]), Progress(total, total)])
        if lost:
            yield from self._anew(lost)

    def changes(self, has_changed: bool) -> Iterator[list[Event]]:
        """Yield what came since the last look; `Reset` and everything anew when something is no longer there."""
        try:
            fresh, lost = self._look(closely=has_changed)
            if not self._gone and not lost:
                yield from _sized(_in_order(fresh))
                return
            reason = "the mailbox is back" if self._gone else lost
            self._gone = ""
            yield from self._anew(reason)
        except OSError as error:
            reason = f"it can't be read: {(error.strerror or str(error)).lower()}"
            if not self._gone:
                self._gone = reason
                yield [Gone(reason)]

    def _anew(self, reason: str) -> Iterator[list[Event]]:
        self._begin()
        yield [Reset(reason)]
        yield from self.scan()

    def _look(self, *, closely: bool) -> tuple[list[Event], str]:
        """Return what is new, and what to say of what was lost: nothing where nothing was."""
        fresh: list[Event] = []
        lost: dict[Hashable, Event] = {}
        parts = self._source.parts(closely=closely)
        if parts is self._parts and not self._open:
            return fresh, ""
        # what moved from one part to another while the names were read is found by a second look
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
            lost = {key: event for key, event in lost.items() if not self._is_told_otherwise(event)}
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
        self._stamps[part] = self if _is_fresh(stamp) else stamp
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
            if (about := _about(event)) is not None:
                if self._latest.get(about) != event:
                    self._latest[about] = event
                    fresh.append(event)
            elif self._count[key] == 1:
                fresh.append(event)
        return fresh

    def _forget(self, parts: Iterable[Iterable[Event]]) -> dict[Hashable, Event]:
        """Count events off; return those that are nowhere any more."""
        lost: dict[Hashable, Event] = {}
        for event in (event for events in parts for event in events):
            key = self._source.same(event)
            self._count[key] -= 1
            if self._count[key] <= 0:
                del self._count[key]
                lost[key] = event
        return lost

    def _is_told_otherwise(self, event: Event) -> bool:
        """Say whether an agent, or a copy in its place, is still told of, if otherwise."""
        about = _about(event)
        return about is not None and self._latest.get(about) != event


def _about(event: Event) -> Hashable:
    """Return what an event is about of which the last that is told holds; None for all others."""
    if isinstance(event, Agent):
        return event.session_id
    return (event.message_id, event.slot) if isinstance(event, Trace) else None


def _is_fresh(stamp: Hashable) -> bool:
    """Say whether any file of a stamp may have changed again without a trace."""
    if isinstance(stamp, Stamp):
        return is_fresh(stamp)
    return isinstance(stamp, tuple) and any(map(_is_fresh, stamp))


def is_settled(changed: float, now: float | None = None) -> bool:
    """Say whether a file was changed so long ago, in seconds since the epoch, that its writer is done with it."""
    return (time.time() if now is None else now) - changed > PATIENCE_SECONDS


def _traces_first(events: list[Event]) -> list[Event]:
    """Put what tells of copies before the messages that it may join."""
    return sorted(events, key=lambda event: not isinstance(event, Trace))


def _in_order(events: list[Event]) -> list[Event]:
    """Put agents first, and messages in the order in which they were sent, receipts and the like behind them."""

    def key(event: Event) -> tuple[int, float, str]:
        if isinstance(event, Message):
            return 1, event.time, event.id
        return (0 if isinstance(event, (Agent, Trace)) else 2), 0.0, ""

    return sorted(events, key=key)


def _sized(events: list[Event]) -> Iterator[list[Event]]:
    for at in range(0, len(events), BATCH):
        yield events[at : at + BATCH]
