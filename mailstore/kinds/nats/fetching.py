"""Fetch the records of messages from the servers, by their numbers or by words; what was found stays at hand."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING

from mailstore.errors import ContentGone, StoreError
from mailstore.haak_records.decode import content_in
from mailstore.haak_records.line_filter import LineFilter
from mailstore.haak_records.search_pattern import pattern_of
from mailstore.kinds.nats.connection import Connection
from mailstore.kinds.nats.decode import RecordDecoder
from mailstore.kinds.nats.reader import StreamReader
from mailstore.kinds.nats.stream import StreamRecord, one, singles
from mailstore.kinds.nats.subjects import Topic
from mailstore.records.message import Message, Problem

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
        with self._turn:
            if record.sequence not in self._records:
                self._records[record.sequence] = record
                self._size += len(record.data)
            while self._size > MOST_BYTES:
                self._size -= len(self._records.popitem(last=False)[1].data)

    def get(self, sequence: int) -> StreamRecord | None:
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
            ids: list[str] = []
            for record in _kept(lines_filter, [record for record in records if record.topic == Topic.MAIL]):
                self._recent.put(record)
                ids += [event.id for event in self._reader.events([record]) if isinstance(event, Message)]
            yield ids


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


AT_ONCE = 100


class RecordFetcher:
    """Fetches records by the places of their messages; what a search has just read is at hand. For any thread."""

    def __init__(self, connection: Connection, stream: str, recent: RecentRecords) -> None:
        self._connection, self._stream, self._recent = connection, stream, recent
        self._decoder = RecordDecoder(stream)

    def record(self, message: Message) -> bytes:
        """Return the bytes of a message's record. Raises ContentGone."""
        (content,) = self._records([message])
        if isinstance(content, ContentGone):
            raise content
        return content

    def contents(self, messages: Iterable[Message]) -> Iterator[str | ContentGone]:
        waiting = iter(messages)
        while some := list(islice(waiting, AT_ONCE)):
            for record in self._records(some):
                try:
                    yield record if isinstance(record, ContentGone) else content_in(record)
                except ContentGone as error:
                    yield error

    def of_problem(self, problem: Problem) -> bytes:
        """Return the record that a problem is about. Raises ContentGone."""
        try:
            record = self._connection.run(one(self._connection.client, self._stream, problem.offset))
        except StoreError as error:
            raise ContentGone(f"the record can't be fetched ({error.problem})", error.remedy, "E414") from error
        if record is None:
            raise ContentGone(
                f"record {problem.offset:,} is no longer on the server",
                "open the mailbox again: it was replaced",
                "E412",
            )
        return record.data

    def _records(self, messages: Sequence[Message]) -> list[bytes | ContentGone]:
        numbers = [message.location.offset if message.location else 0 for message in messages]
        records = {number: self._recent.get(number) for number in numbers}
        missing = [number for number, record in records.items() if record is None]
        try:
            fetched = self._connection.run(singles(self._connection.client, self._stream, missing)) if missing else []
        except StoreError as error:
            return [ContentGone(f"the text can't be fetched ({error.problem})", error.remedy, "E415")] * len(messages)
        records.update(zip(missing, fetched, strict=True))
        return [self._checked(message, records[number]) for message, number in zip(messages, numbers, strict=True)]

    def _checked(self, message: Message, record: StreamRecord | None) -> bytes | ContentGone:
        """Return the bytes of a record if it is a message's."""
        events = self._decoder.decode(record) if record is not None else []
        if record is None or message.id not in [each.id for each in events if isinstance(each, Message)]:
            return ContentGone(
                f"message {message.id} is no longer on the server", "open the mailbox again: it was replaced", "E413"
            )
        return record.data
