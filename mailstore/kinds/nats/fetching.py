"""Fetch the records of messages from the servers, many at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from mailstore.errors import ContentGone, StoreError
from mailstore.haak_records.body import content_in
from mailstore.kinds.nats.connection import Connection
from mailstore.kinds.nats.decode import RecordDecoder
from mailstore.kinds.nats.search import RecentRecords
from mailstore.kinds.nats.stream import StreamRecord, one, singles
from mailstore.records.message import Message, Problem

AT_ONCE = 100


class RecordFetcher:
    """Fetches records by the places of their messages; what a search has just read is at hand. For any thread."""

    def __init__(self, connection: Connection, stream: str, recent: RecentRecords) -> None:
        self._connection, self._stream, self._recent = connection, stream, recent
        self._decoder = RecordDecoder(stream)

    def record(self, message: Message) -> bytes:
        """Return the bytes of a message's record. Raises ContentGone."""
        (found,) = self._records([message])
        if isinstance(found, ContentGone):
            raise found
        return found

    def contents(self, messages: Iterable[Message]) -> Iterator[str | ContentGone]:
        """Yield the bodies of many messages."""
        waiting = iter(messages)
        while some := list(islice(waiting, AT_ONCE)):
            for found in self._records(some):
                try:
                    yield found if isinstance(found, ContentGone) else content_in(found)
                except ContentGone as error:
                    yield error

    def of_problem(self, problem: Problem) -> bytes:
        """Return the record that a problem is about. Raises ContentGone."""
        try:
            found = self._connection.run(one(self._connection.client, self._stream, problem.offset))
        except StoreError as error:
            raise ContentGone(f"the record can't be fetched ({error.problem})", error.remedy) from error
        if found is None:
            raise ContentGone(
                f"record {problem.offset:,} is no longer on the server", "open the mailbox again: it was replaced"
            )
        return found.data

    def _records(self, messages: Sequence[Message]) -> list[bytes | ContentGone]:
        numbers = [each.location.offset if each.location else 0 for each in messages]
        found = {number: self._recent.get(number) for number in numbers}
        missing = [number for number, record in found.items() if record is None]
        try:
            fetched = self._connection.run(singles(self._connection.client, self._stream, missing)) if missing else []
        except StoreError as error:
            return [ContentGone(f"the text can't be fetched ({error.problem})", error.remedy)] * len(messages)
        found.update(zip(missing, fetched, strict=True))
        return [self._checked(message, found[number]) for message, number in zip(messages, numbers, strict=True)]

    def _checked(self, message: Message, record: StreamRecord | None) -> bytes | ContentGone:
        """Return the bytes of a record if it is a message's."""
        told = self._decoder.decode(record) if record is not None else []
        if record is None or message.id not in [each.id for each in told if isinstance(each, Message)]:
            return ContentGone(
                f"message {message.id} is no longer on the server", "open the mailbox again: it was replaced"
            )
        return record.data
