"""Follow a mailbox whose records are in a database, which is asked for what changed instead of read whole.

Usage:

    class QueueSource(RecordSource):
        def pages(self): yield {"message 7": RecordEvents((message, receipt), hash(body))}, Progress(1, 1)
        def news(self, *, closely): return {"message 8": RecordEvents((message,))}

    WatchedStore.__init__(self, RecordReader(QueueSource(path)), path.parent)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from mailstore.files.database import Unreadable
from mailstore.kit.diff_reader import DiffReader, in_batches, in_order
from mailstore.records.events import Event, Gone, Progress, PutAway
from mailstore.records.message import Delivery, Message, Problem, Receipt
from mailstore.records.roster import Agent


class RecordEvents(NamedTuple):
    """All events of one record; `text` is a hash of what is not in the events, as the body of a message."""

    events: tuple[Event, ...]
    text: int = 0


RecordMap = Mapping[str, RecordEvents]
"""Records by a key that never changes; one without events is no longer there."""
NOTHING = RecordEvents(())


class RecordSource(ABC):
    """What a kind's author writes: the records of a database. Methods block, and raise OSError and Unreadable."""

    @abstractmethod
    def pages(self) -> Iterator[tuple[RecordMap, Progress]]:
        """Yield all records, the roster's first, then the newest messages; `news` then returns what changes."""

    @abstractmethod
    def news(self, *, closely: bool) -> RecordMap | None:
        """Return the records that changed since the last call; None if only reading all of them can tell."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Return the name of the database, for a problem with it."""


class RecordReader(DiffReader):
    """Yields the new events of each record, and a `Reset` when one no longer holds.

    A message whose body is the same is yielded again when its header changed, and replaces the one before.
    """

    _expected = (OSError, Unreadable)

    def __init__(self, source: RecordSource) -> None:
        self._source = source
        self._held: dict[str, RecordEvents] = {}

    def _unreachable(self, why: str) -> str:
        return f"{self._source.name} can't be read: {why}"

    def scan(self) -> Iterator[list[Event]]:
        """Yield everything, the newest mail early; a damaged database is a problem. Raises OSError."""
        try:
            yield from self._read_all()
        except Unreadable as error:
            self._gone = str(error)
            yield [Problem(self._source.name, 1, 0, self._gone), Gone(self._unreachable(self._gone))]

    def _read_all(self) -> Iterator[list[Event]]:
        pages = self._source.pages()
        # what was yielded stays valid until the first page could be read
        first = next(pages, None)
        self._held = {}
        for records, progress in chain([first] if first else [], pages):
            fresh, _ = self._take(records)
            yield from in_batches([*fresh, progress])
        # something may have been written meanwhile
        fresh, lost = self._take(self._source.news(closely=True) or {})
        yield from in_batches(in_order(fresh))
        if lost:
            yield from self._restart(lost)

    def _look(self, *, closely: bool) -> tuple[list[Event], str]:
        if self._gone:
            return [], ""
        records = self._source.news(closely=closely)
        return self._take(self._compared() if records is None else records)

    def _compared(self) -> RecordMap:
        """Return all records, and an empty one for each that is no longer there."""
        record_events: dict[str, RecordEvents] = {}
        for records, _ in self._source.pages():
            record_events.update(records)
        return {**dict.fromkeys(self._held.keys() - record_events.keys(), NOTHING), **record_events}

    def _take(self, records: RecordMap) -> tuple[list[Event], str]:
        """Take records in; return what is new in them, and why everything must be read again."""
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
    """Return what an event states: of two with the same statement in one record, only the first counts."""
    if isinstance(event, Receipt):
        return Receipt, event.reader
    return (type(event), event.recipient) if isinstance(event, (Delivery, PutAway)) else event


def _new(held: RecordEvents, now: RecordEvents) -> list[Event]:
    known = set(map(_about, held.events))
    return [event for event in now.events if _about(event) not in known]


def _lost(held: RecordEvents, now: RecordEvents) -> str:
    """Say what no longer holds; return an empty string if everything does, or was replaced."""
    stated = set(map(_about, now.events))
    for event in held.events:
        if _about(event) in stated:
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
