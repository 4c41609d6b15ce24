"""Find messages that may contain some words, by reading the stream; what was found stays at hand for a moment."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Generator, Sequence
from threading import Lock
from typing import TYPE_CHECKING

from mailstore.haak_records.line_filter import LineFilter
from mailstore.haak_records.search_pattern import pattern_of
from mailstore.kinds.nats.reader import StreamReader
from mailstore.kinds.nats.stream import StreamRecord
from mailstore.kinds.nats.subjects import Topic
from mailstore.records.message import Message

if TYPE_CHECKING:
    from mailstore.haak_records.line_filter import SearchTerm

MOST_BYTES = 1 << 25


class RecentRecords:
    """The last records that were fetched, by sequence number, up to some bytes; for any thread."""

    def __init__(self) -> None:
        self._records: OrderedDict[int, StreamRecord] = OrderedDict()
        self._size = 0
        self._turn = Lock()

    def put(self, record: StreamRecord) -> None:
        """Keep a record for a while."""
        with self._turn:
            if record.sequence not in self._records:
                self._records[record.sequence] = record
                self._size += len(record.data)
            while self._size > MOST_BYTES:
                self._size -= len(self._records.popitem(last=False)[1].data)

    def get(self, sequence: int) -> StreamRecord | None:
        """Return a record if it is still kept."""
        with self._turn:
            return self._records.get(sequence)

    def clear(self) -> None:
        """Forget everything, as another stream has other records under the same numbers."""
        with self._turn:
            self._records.clear()
            self._size = 0


class RecordSearch:
    """Reads the whole stream at every query, the newest records first."""

    def __init__(self, reader: StreamReader, recent: RecentRecords) -> None:
        self._reader, self._recent = reader, recent

    def of(self, words: Sequence[str]) -> Generator[list[str]] | None:
        """Return an iterator over the ids of messages that may contain one of some words; None if bytes can't tell."""
        patterns = [pattern_of(word) for word in words]
        if None in patterns:
            return None
        return self._ids([(*pattern,) for pattern in patterns if pattern is not None])

    def _ids(self, sought: list[SearchTerm]) -> Generator[list[str]]:
        lines_filter = LineFilter(sought)
        for records in self._reader.newest_first():
            found: list[str] = []
            for record in _kept(lines_filter, [record for record in records if record.topic == Topic.MAIL]):
                self._recent.put(record)
                found += [event.id for event in self._reader.events([record]) if isinstance(event, Message)]
            yield found


def _kept(lines_filter: LineFilter, records: list[StreamRecord]) -> list[StreamRecord]:
    """Return the records that may hold what is sought; one with line breaks of its own always may."""
    several = [record for record in records if b"\n" in record.data]
    lines = [record for record in records if b"\n" not in record.data]
    starts, at = [], 0
    for record in lines:
        starts.append(at)
        at += len(record.data) + 1
    data = b"".join(record.data + b"\n" for record in lines)
    held = [lines[bisect_right(starts, offset) - 1] for offset, _ in lines_filter.keep(0, data)]
    return [*several, *held]
