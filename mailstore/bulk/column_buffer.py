"""Collects records from the parts of files, before they become the columns of a mailbox."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from zlib import crc32

import numpy as np

from mailstore.bulk.keys import NO_KEY, PackedTexts, keys_of, texts_at, texts_of
from mailstore.bulk.parts import ColumnPart, MailColumns, ReadColumns
from mailstore.columns.messages import MessageTable, head_of
from mailstore.columns.strings import ODD, InternTable, written
from mailstore.records.events import Event
from mailstore.records.message import Message, Receipt

ThreadAt = Callable[[str, int, int], str]
"""Returns the parent of the message in a file at an offset and of a length."""
IdAt = Callable[[int, int], str]
"""Returns the message id of the read record at an offset and of a length."""
NO_ENDS = np.empty(0, np.uint32)


class MessageBuffer:
    """Messages in the order of the files; `events` are left to the fold."""

    def __init__(self, table: MessageTable, thread_at: ThreadAt) -> None:
        self.table = table
        self.events: list[Event] = []
        self.odd_stamps: dict[int, str] = {}
        self._thread_at = thread_at
        self._threads: dict[int, str] = {}
        """The ids of parents by key, for messages that were added as values."""
        self._pieces: list[MailColumns] = []
        self._number = 0

    def add(self, part: ColumnPart) -> None:
        """Add the messages of a part."""
        columns, table = part.mail(), self.table
        senders = np.array([table.names.number(name) for name in part.names], np.uint32)[columns.senders]
        heads = np.array([table.head_values.number(head) for head in part.heads], np.uint32)[columns.heads]
        self._pieces.append(columns._replace(senders=senders, heads=heads))
        self._number += len(senders)

    def take(self, messages: Sequence[Message]) -> None:
        """Add messages that were decoded one by one."""
        if not messages:
            return
        first, table = self._number, self.table
        heads = [head_of(message) for message in messages]
        self.odd_stamps.update(
            (first + at, message.timestamp)
            for at, (message, head) in enumerate(zip(messages, heads, strict=True))
            if head.style == ODD
        )
        ids = texts_of([message.id for message in messages])
        subjects = texts_of([message.subject for message in messages])
        threads = [message.thread or "" for message in messages]
        parents = keys_of(texts_of(threads))
        self._threads.update(zip(parents.tolist(), threads, strict=True))
        parents[[not thread for thread in threads]] = NO_KEY
        places = [
            (message.location.offset, message.location.length) if message.location else (0, 0) for message in messages
        ]
        self._pieces.append(
            MailColumns(
                *ids,
                keys_of(ids),
                np.array([crc32(message.id.encode("utf-8", "surrogatepass")) for message in messages], np.uint32),
                parents,
                np.array([table.names.number(message.sender) for message in messages], np.uint32),
                np.array([table.head_values.number(head) for head in heads], np.uint32),
                np.array([message.time for message in messages], np.float64),
                np.array([offset for offset, _ in places], np.int64),
                np.array([length for _, length in places], np.uint32),
                *subjects,
            )
        )
        self._number += len(messages)

    def columns(self) -> MailColumns:
        """Return all messages as columns."""
        if not self._pieces:
            self._pieces.append(ColumnPart(0, 0, 0, columns=[memoryview(b"")] * len(MailColumns._fields)).mail())
        if len(self._pieces) > 1:
            self._pieces = [MailColumns(*map(np.concatenate, zip(*self._pieces, strict=True)))]
        return self._pieces[0]

    def leave(self, places: Sequence[int]) -> None:
        """Move the messages at some positions to `events`, in order."""
        columns, places = self.columns(), sorted(places)
        ids = texts_at(PackedTexts(columns.ids, columns.id_sizes), places)
        subjects = texts_at(PackedTexts(columns.subjects, columns.subject_sizes), places)
        self.events += [self._message(*each, columns) for each in zip(places, ids, subjects, strict=True)]
        stays = np.ones(self._number, bool)
        stays[places] = False
        self.odd_stamps = {int(stays[:at].sum()): text for at, text in self.odd_stamps.items() if stays[at]}
        each = {
            "ids": np.repeat(stays, columns.id_sizes),
            "subjects": np.repeat(stays, columns.subject_sizes),
        }
        self._pieces = [MailColumns(*(value[each.get(name, stays)] for name, value in columns._asdict().items()))]
        self._number = int(stays.sum())

    def answered_by(self, place: int) -> str:
        """Return the id of the parent of the message at a position."""
        columns = self.columns()
        thread = self._threads.get(int(columns.parents[place]))
        if thread is None:
            file = self.table.head_values[int(columns.heads[place])].file or ""
            thread = self._thread_at(file, int(columns.offsets[place]), int(columns.lengths[place]))
        return thread

    def _message(self, place: int, message_id: str, subject: str, columns: MailColumns) -> Message:
        head, time = self.table.head_values[int(columns.heads[place])], float(columns.times[place])
        return head.message(
            message_id,
            self.table.names[int(columns.senders[place])],
            self.odd_stamps[place] if head.style == ODD else written(time, head.style),
            time,
            subject,
            None if columns.parents[place] == NO_KEY else self.answered_by(place),
            int(columns.offsets[place]),
            int(columns.lengths[place]),
        )


class ReadBuffer:
    """Read records in the order of their file."""

    def __init__(self, names: InternTable[str]) -> None:
        self.events: list[Event] = []
        self._names = names
        self._pieces: list[ReadColumns] = []
        self._parts: list[tuple[int, Callable[[int], str]]] = []
        """The first position of each part, and a function that returns the message id at a position in it."""
        self._number = 0

    def add(self, part: ColumnPart, id_at: IdAt) -> None:
        """Add the records of a part."""
        columns = part.reads()
        numbers = np.array([self._names.number(name) for name in part.names], np.uint32)
        offset, ends = part.offset, columns.ends.copy()

        def named(place: int) -> str:
            start = int(ends[place - 1]) + 1 if place else 0
            return id_at(offset + start, int(ends[place]) - start)

        self._add(columns._replace(readers=numbers[columns.readers], ends=NO_ENDS), named)

    def take(self, events: Iterable[Event]) -> None:
        """Add what a line holds: read records with a time; everything else is left to the fold."""
        for event in events:
            if isinstance(event, Receipt) and event.time is not None:
                reader = np.array([self._names.number(event.reader)], np.uint32)
                key, message_id = keys_of(texts_of([event.message_id])), event.message_id
                self._add(ReadColumns(key, reader, np.array([event.time]), NO_ENDS), partial(_itself, message_id))
            else:
                self.events.append(event)

    def _add(self, columns: ReadColumns, id_of: Callable[[int], str]) -> None:
        self._parts.append((self._number, id_of))
        self._pieces.append(columns)
        self._number += len(columns.keys)

    def columns(self) -> ReadColumns:
        """Return all records as columns."""
        if not self._pieces:
            self._pieces.append(ColumnPart(0, 0, 0, columns=[memoryview(b"")] * len(ReadColumns._fields)).reads())
        if len(self._pieces) > 1:
            self._pieces = [ReadColumns(*map(np.concatenate, zip(*self._pieces, strict=True)))]
        return self._pieces[0]

    def id_at(self, place: int) -> str:
        """Return the message id of the record at a position."""
        first, id_of = self._parts[bisect_right(self._parts, place, key=lambda it: it[0]) - 1]
        return id_of(place - first)


def _itself(name: str, _: int) -> str:
    return name
