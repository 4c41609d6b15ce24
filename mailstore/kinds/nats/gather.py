"""Fill a mailbox from a stream in bulk: usual records as columns, others with the ordinary decoders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from mailstore.bulk.build import KeyCollision, fill_mail, fill_reads
from mailstore.bulk.column_buffer import MessageBuffer, ReadBuffer
from mailstore.bulk.parts import ColumnPart, UnusualBlock
from mailstore.bulk.shares import FEW, LineBlock
from mailstore.haak_records.columns import MailDecoder, ReadDecoder
from mailstore.haak_records.usual import read_id_in, thread_in
from mailstore.kinds.nats.reader import StreamReader
from mailstore.kinds.nats.stream import StreamRecord
from mailstore.kinds.nats.subjects import Topic, token_of
from mailstore.records.events import Event, Reset
from mailstore.records.message import Message
from mailstore.state.mailbox import Mailbox

UNUSUAL = (UnusualBlock, ValueError, RecursionError)


def fold_all(reader: StreamReader, mailbox: Mailbox, now: float) -> None:
    """Fold everything into an empty mailbox, like a scan but in bulk. Raises StoreError."""
    state = reader.state()
    reader.begin(state)
    mailbox.fold(reader.roster(), now)
    try:
        mailbox.fold(_gathered(mailbox, reader, reader.everything(state), now), now)
    except KeyCollision as reason:
        mailbox.fold([Reset(str(reason))], now)
        for batch in reader.scan():
            mailbox.fold(batch, now)


def _gathered(
    mailbox: Mailbox, reader: StreamReader, records: Iterable[Sequence[StreamRecord]], now: float
) -> list[Event]:
    """Fill a mailbox that holds only a roster; return the events still to be folded.

    Raises KeyCollision and StoreError.
    """
    table = mailbox.contents.messages
    mail = MessageBuffer(table, lambda _file, sequence, _size: thread_in(reader.data(sequence)))
    reads = ReadBuffer(table.names)
    gathering = _Gathering(reader, mail, reads)
    for some in records:
        gathering.take(some)
    keys = fill_mail(mailbox.contents, mail)
    fill_reads(mailbox.contents, keys, reads, now)
    messages = sorted(
        (event for event in mail.events if isinstance(event, Message)), key=lambda message: message.position
    )
    others = [event for event in mail.events if not isinstance(event, Message)]
    return [*others, *messages, *reads.events, *gathering.events]  # of two with the same id, the valid one comes first


class _Gathering:
    """Sorts records into the buffers; `events` are left to the fold."""

    def __init__(self, reader: StreamReader, mail: MessageBuffer, reads: ReadBuffer) -> None:
        self.events: list[Event] = []
        self._reader, self._mail, self._reads = reader, mail, reads
        self._tokens: dict[str, str] = {}

    def take(self, records: Sequence[StreamRecord]) -> None:
        by_topic: dict[str, list[StreamRecord]] = {}
        for record in records:
            by_topic.setdefault(record.topic, []).append(record)
        for topic, some in by_topic.items():
            if topic == Topic.MAIL:
                self._take_mail(some)
            elif topic == Topic.READ:
                self._take_reads(some)
            else:
                self.events += self._reader.events(some)

    def _take_mail(self, records: list[StreamRecord]) -> None:
        try:
            self._mail.add(self._mail_part(records))
        except UNUSUAL:
            if len(records) > FEW:
                middle = len(records) // 2
                self._take_mail(records[:middle])
                self._take_mail(records[middle:])
                return
            events = self._reader.events(records)
            self._mail.take([event for event in events if isinstance(event, Message)])
            self.events += [event for event in events if not isinstance(event, Message)]
            return
        for record in records:
            if record.audience:
                self.events += self._reader.audience(record)

    def _mail_part(self, records: list[StreamRecord]) -> ColumnPart:
        """Return usual messages as columns. Raises UNUSUAL."""
        decoder = MailDecoder(self._reader.stream, False)
        block = _block(records)
        columns = decoder.columns(block)
        senders = [self._token(name) for name in decoder.names.values]
        if any(
            record.token != senders[at] or record.copied_from
            for record, at in zip(records, columns.senders, strict=True)
        ):
            raise UnusualBlock
        columns = columns._replace(offsets=np.array([record.sequence for record in records], np.int64))
        data = [np.ascontiguousarray(column).data for column in columns]
        return ColumnPart(0, len(block.data), len(records), decoder.names.values, decoder.heads.values, data)

    def _take_reads(self, records: list[StreamRecord]) -> None:
        decoder = ReadDecoder()
        block = _block(records)
        try:
            columns = decoder.columns(block)
            readers = [self._token(name) for name in decoder.names.values]
            if any(
                record.token != readers[at] or record.copied_from
                for record, at in zip(records, columns.readers, strict=True)
            ):
                raise UnusualBlock
        except UNUSUAL:
            if len(records) > FEW:
                middle = len(records) // 2
                self._take_reads(records[:middle])
                self._take_reads(records[middle:])
            else:
                self._reads.take(self._reader.events(records))
            return
        sequences, ends = [record.sequence for record in records], block.ends

        def named(at: int, _size: int) -> str:
            return read_id_in(self._reader.data(sequences[int(np.searchsorted(ends, at))]))

        data = [np.ascontiguousarray(column).data for column in columns]
        part = ColumnPart(0, len(block.data), len(records), decoder.names.values, decoder.heads.values, data)
        self._reads.add(part, named)

    def _token(self, name: str) -> str:
        token = self._tokens.get(name)
        if token is None:
            token = self._tokens[name] = token_of(name)
        return token


def _block(records: Sequence[StreamRecord]) -> LineBlock:
    """Return records as lines; one with a line break in it makes more lines than records, which is not usual."""
    ends = np.cumsum([len(record.data) + 1 for record in records]) - 1
    return LineBlock(0, memoryview(b"\n".join(record.data for record in records) + b"\n"), ends)
