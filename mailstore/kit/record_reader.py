"""Reads mailboxes that are kept record by record in a database: what changed is asked for, not all there is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from mailstore.files.database import Unreadable
from mailstore.records.events import Event, Gone, Person, Progress, PutAway, Reset
from mailstore.records.message import Delivery, Message, Problem, Receipt
from mailstore.records.roster import Agent

__all__ = ["NOTHING", "RecordEvents", "RecordMap", "RecordReader", "RecordSource"]

BATCH = 1000


class RecordEvents(NamedTuple):
    """All that one record tells; `text` changes with what a reader may remember of it, as its body."""

    events: tuple[Event, ...]
    text: int = 0


RecordMap = Mapping[str, RecordEvents]
"""RecordMap by what identifies them for good; one without events is no longer there."""
NOTHING = RecordEvents(())


class RecordSource(ABC):
    """What a database holds, and what changed in it. All of these block and raise OSError and Unreadable."""

    @abstractmethod
    def pages(self) -> Iterator[tuple[RecordMap, Progress]]:
        """Yield all records, the roster's first, then the newest messages; from here on `news` tells what changes."""

    @abstractmethod
    def news(self, *, closely: bool) -> RecordMap | None:
        """Return the records that changed since the last call; None where only a look at all of them can tell."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Return what the database is called, for a problem with it."""


class RecordReader:
    """Hands out what is new in each record; `Reset` when something that was told is so no longer.

    A message whose body stayed is told anew where it changed, and takes the place of what was told of it. Belongs
    to one consumer at a time. Blocks.
    """

    def __init__(self, feed: RecordSource) -> None:
        self._feed = feed
        self._held: dict[str, RecordEvents] = {}
        self._gone = ""

    def scan(self) -> Iterator[list[Event]]:
        """Yield all there is, the newest mail early. Raises OSError."""
        try:
            yield from self._all()
        except Unreadable as error:
            self._gone = str(error)
            yield [Problem(self._feed.name, 1, 0, self._gone), Gone(f"{self._feed.name} can't be read: {self._gone}")]

    def changes(self, has_changed: bool) -> Iterator[list[Event]]:
        """Yield what came since the last look; `Reset` and everything anew when something is no longer so."""
        try:
            if self._gone:
                yield from self._anew("the mailbox is back")
                return
            records = self._feed.news(closely=has_changed)
            if records is None:
                records = self._compared()
            fresh, lost = self._take(records)
            if lost:
                yield from self._anew(lost)
            else:
                yield from _sized(_in_order(fresh))
        except (OSError, Unreadable) as error:
            why = str(error) if isinstance(error, Unreadable) else (error.strerror or str(error)).lower()
            reason = f"{self._feed.name} can't be read: {why}"
            if not self._gone:
                self._gone = reason
                yield [Gone(reason)]

    def _all(self) -> Iterator[list[Event]]:
        pages = self._feed.pages()
        # nothing is void before what takes its place can be read
        first = next(pages, None)
        self._held, self._gone = {}, ""
        for records, progress in chain([first] if first else [], pages):
            fresh, _ = self._take(records)
            yield from _sized([*fresh, progress])
        # what was written meanwhile
        fresh, lost = self._take(self._feed.news(closely=True) or {})
        yield from _sized(_in_order(fresh))
        if lost:
            yield from self._anew(lost)

    def _anew(self, reason: str) -> Iterator[list[Event]]:
        batches = self._all()
        yield [Reset(reason), *next(batches, [])]
        yield from batches

    def _compared(self) -> RecordMap:
        """Return all records, and an empty one for each that is no longer there."""
        found: dict[str, RecordEvents] = {}
        for records, _ in self._feed.pages():
            found.update(records)
        return {**dict.fromkeys(self._held.keys() - found.keys(), NOTHING), **found}

    def _take(self, records: RecordMap) -> tuple[list[Event], str]:
        """Take records in; return what is new in them, and what to say where something is no longer so."""
        fresh: list[Event] = []
        lost = ""
        for key, record in records.items():
            held = self._held.get(key, NOTHING)
            if record == held:
                continue
            if held.events:
                lost = lost or _lost(held, record)
                fresh += _new(held, record)
            else:
                fresh += record.events
            if record.events:
                self._held[key] = record
            else:
                del self._held[key]
        return fresh, lost


def _about(event: Event) -> Hashable:
    """Return what an event is about: of two about the same, the first is told and the later one adds nothing to it."""
    if isinstance(event, Receipt):
        return Receipt, event.reader
    return (type(event), event.recipient) if isinstance(event, (Delivery, PutAway)) else event


def _new(held: RecordEvents, now: RecordEvents) -> list[Event]:
    """Return what was not told yet."""
    known = set(map(_about, held.events))
    return [event for event in now.events if _about(event) not in known]


def _lost(held: RecordEvents, now: RecordEvents) -> str:
    """Say what is no longer so; nothing where all that was told still is, or is told anew."""
    told = set(map(_about, now.events))
    for event in held.events:
        if _about(event) in told:
            continue
        if isinstance(event, Message):
            after = next((each for each in now.events if isinstance(each, Message)), None)
            if after is None:
                return "a message is no longer there"
            if now.text != held.text or after.location != event.location:
                return "a message was changed"
        elif not isinstance(event, Agent) or event.session_id not in _sessions(now):
            return "what was read is no longer there"
    return ""


def _sessions(record: RecordEvents) -> set[str]:
    return {event.session_id for event in record.events if isinstance(event, Agent)}


def _in_order(events: list[Event]) -> list[Event]:
    """Put agents first, and messages in the order in which they were sent, receipts and the like behind them."""

    def key(event: Event) -> tuple[int, float, str]:
        if isinstance(event, Message):
            return 1, event.time, event.id
        return (0 if isinstance(event, (Agent, Person)) else 2), 0.0, ""

    return sorted(events, key=key)


def _sized(events: Iterable[Event]) -> Iterator[list[Event]]:
    listed = list(events)
    for at in range(0, len(listed), BATCH):
        yield listed[at : at + BATCH]
