"""Messages as columns with one row each; a `Message` is made when it is asked for."""

from __future__ import annotations

from array import array
from bisect import insort
from collections.abc import Iterable, Iterator
from itertools import groupby

import msgspec
from msgspec.structs import replace

from mailstore.columns.snapshot_parts import SnapshotReader, SnapshotWriter
from mailstore.columns.strings import ODD, IdColumn, InternTable, StringColumn, style_of, written
from mailstore.records.address import is_channel
from mailstore.records.message import Age, Location, Message, by_age

NONE = -1
ABSENT = 0
"""The head of a row whose message has not arrived: other messages or records name it."""
NOT_THERE = -2
FEW = 64
"""Up to this many new rows are inserted into the order one by one; with more, all rows are sorted."""
KEPT = 4096
"""Messages that are kept as values, because the same few are asked for repeatedly."""


class MessageHead(msgspec.Struct, frozen=True, gc=False):
    """The fields that many messages have in common; `file` is None for a message without a file."""

    recipients: tuple[str, ...] = ()
    ttl_hours: float | None = None
    type: str = ""
    tags: tuple[str, ...] = ()
    read_by: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    file: str | None = None
    archived: bool = False
    timed: bool = True
    is_tracked: bool = True
    is_listed: bool = False
    style: int = 0

    def channels(self) -> list[str]:
        """Return the tags of the channels that a message is sent to."""
        return [name for name in self.recipients if is_channel(name)]

    def message(
        self,
        message_id: str,
        sender: str,
        timestamp: str,
        time: float,
        subject: str,
        thread: str | None,
        offset: int,
        length: int,
    ) -> Message:
        """Return a message, given the fields that are its own."""
        return Message(
            message_id,
            sender,
            self.recipients,
            timestamp,
            time,
            subject,
            thread,
            self.ttl_hours,
            self.type,
            self.tags,
            self.read_by,
            self.mentions,
            None if self.file is None else Location(self.file, offset, length),
            self.archived,
            self.timed,
            self.is_tracked,
            self.is_listed,
        )


def head_of(message: Message) -> MessageHead:
    """Return the fields that a message may share with others."""
    where = message.location
    return MessageHead(
        message.recipients,
        message.ttl_hours,
        message.type,
        message.tags,
        message.read_by,
        message.mentions,
        None if where is None else where.file,
        message.archived,
        message.timed,
        message.is_tracked,
        message.is_listed,
        style_of(message.timestamp, message.time),
    )


class MessageTable:
    """A table of messages; a row belongs to an id, whether or not its message has arrived (`is_there`)."""

    def __init__(self) -> None:
        self.ids = IdColumn()
        self.names: InternTable[str] = InternTable()
        self.head_values: InternTable[MessageHead] = InternTable()
        self.head_values.number(MessageHead(style=NOT_THERE))
        self.heads = array("I")
        self.senders = array("I")
        self.times = array("d")
        self.parents = array("i")
        """The row of the message that each one answers, -1 for none."""
        self.offsets = array("q")
        self.lengths = array("Q")
        self.subjects = StringColumn()
        self.odd_stamps: dict[int, str] = {}
        self.number = 0
        """How many messages have arrived."""
        self._made: dict[int, Message] = {}
        self._ordered = array("i")
        self._unordered = array("i")
        """Rows whose messages have arrived and are not in the order yet."""
        self._is_disordered = False

    def __len__(self) -> int:
        return len(self.heads)

    def save(self, out: SnapshotWriter) -> None:
        self.ids.save(out)
        self.subjects.save(out)
        out.value(self.names.values)
        out.value(self.head_values.values)
        out.value(self.odd_stamps)
        out.value(self.number)
        out.column(self.heads, self.senders, self.times, self.parents, self.offsets, self.lengths, self.order())

    def load(self, saved: SnapshotReader) -> None:
        self.ids.load(saved)
        self.subjects.load(saved)
        self.names.fill(saved.value(list[str]))
        self.head_values.fill(saved.value(list[MessageHead]))
        self.odd_stamps = saved.value(dict[int, str])
        self.number = saved.value(int)
        self.heads, self.senders, self.times, self.parents, self.offsets, self.lengths, order = saved.columns(7)
        self.fill_order(order)

    def row(self, message_id: str) -> int:
        """Return the row of an id, a new one for a new id."""
        row = self.ids.own(message_id)
        if row is None:
            row = self.ids.add(message_id)
            self.heads.append(ABSENT)
            self.senders.append(0)
            self.times.append(0.0)
            self.parents.append(NONE)
            self.offsets.append(0)
            self.lengths.append(0)
            self.subjects.append("")
        return row

    def put(self, row: int, message: Message, parent: int) -> None:
        """Store a message in a row, replacing the one that it holds."""
        head = head_of(message)
        if self.heads[row] == ABSENT:
            self.number += 1
            self._unordered.append(row)
        elif self.age(row) != by_age(message):
            self._ordered, self._unordered = array("i"), array("i", self.rows())
        self.heads[row] = self.head_values.number(head)
        self.senders[row] = self.names.number(message.sender)
        self.times[row] = message.time
        self.parents[row] = parent
        if message.location is not None:
            self.offsets[row], self.lengths[row] = message.location.offset, message.location.length
        self.subjects[row] = message.subject
        if head.style == ODD:
            self.odd_stamps[row] = message.timestamp
        self._made.pop(row, None)

    def clear_row(self, row: int) -> None:
        """Empty a row that holds a message."""
        self.heads[row] = ABSENT
        self.number -= 1
        self._is_disordered = True
        self._made.pop(row, None)

    def as_recorded(self, row: int) -> Message:
        """Return a row's message as it was recorded: answering the id that it names, even if that is only a copy."""
        parent = self.parents[row]
        return replace(self[row], thread=None if parent == NONE else self.ids.texts[parent])

    def clear_cache(self) -> None:
        """Forget the messages that were made, after some ids came to stand for other messages."""
        self._made.clear()

    def parent_of(self, message: Message) -> int:
        """Return the row of the id that a message names as its parent, -1 if it names none."""
        return NONE if message.thread is None else self.row(message.thread)

    def parent(self, row: int) -> int:
        """Return the row of the message that a row's message answers, -1 for none."""
        parent = self.parents[row]
        return self.ids.leads.get(parent, parent) if self.ids.leads else parent

    def add(self, message: Message, parent: int) -> int:
        """Add a message whose id has no row; return its row."""
        head = head_of(message)
        row = self.ids.add(message.id)
        self.heads.append(self.head_values.number(head))
        self.senders.append(self.names.number(message.sender))
        self.times.append(message.time)
        self.parents.append(parent)
        where = message.location
        self.offsets.append(where.offset if where else 0)
        self.lengths.append(where.length if where else 0)
        self.subjects.append(message.subject)
        if head.style == ODD:
            self.odd_stamps[row] = message.timestamp
        self.number += 1
        self._unordered.append(row)
        return row

    def is_there(self, row: int) -> bool:
        """Return whether the message of a row has arrived."""
        return self.heads[row] != ABSENT

    def head(self, row: int) -> MessageHead:
        """Return the shared fields of a row's message."""
        return self.head_values.values[self.heads[row]]

    def sender(self, row: int) -> str:
        """Return the sender of a row's message."""
        return self.names.values[self.senders[row]]

    def age(self, row: int) -> Age:
        """Return the key by which messages are sorted (`by_age`); a message that has not arrived is the oldest."""
        return self.times[row], self.head(row).file or "", self.offsets[row], self.ids.texts[row]

    def timed(self, rows: list[int]) -> list[int]:
        """Return those of some rows whose messages have arrived and say when they were sent."""
        heads, values = self.heads, self.head_values.values
        odd = {head for head in set(map(heads.__getitem__, rows)) if head == ABSENT or not values[head].timed}
        return [row for row in rows if heads[row] not in odd] if odd else rows

    def oldest(self, rows: Iterable[int]) -> int:
        """Return the row of the oldest of some messages."""
        rows = list(rows)
        first = min(map(self.times.__getitem__, rows))
        return min((row for row in rows if self.times[row] == first), key=self.age)

    def younger(self, row: int, other: int) -> int:
        """Return the row of the newer of two messages."""
        time, another = self.times[row], self.times[other]
        if time == another:
            return max(row, other, key=self.age)
        return row if time > another else other

    def order(self) -> array[int]:
        """Return the rows of all messages, the oldest first; do not change the array."""
        if self._is_disordered:
            self._ordered, self._unordered, self._is_disordered = array("i"), array("i", self.rows()), False
        if self._unordered:
            known, fresh = self._ordered, self._in_order(self._unordered)
            if not known or self.age(fresh[0]) > self.age(known[-1]):
                known = known + fresh
            elif len(fresh) <= FEW:
                known = known[:]
                for row in fresh:
                    insort(known, row, key=self.age)
            else:
                known = self._in_order((*known, *fresh))
            self._ordered, self._unordered = known, array("i")
        return self._ordered

    def _in_order(self, rows: Iterable[int]) -> array[int]:
        time, ordered = self.times.__getitem__, array("i")
        for _, alike in groupby(sorted(rows, key=time), time):
            ordered.extend(sorted(alike, key=self.age))
        return ordered

    def fill_order(self, rows: array[int]) -> None:
        """Set the order: the rows of all messages, the oldest first."""
        self._ordered, self._unordered = rows, array("i")

    def rows(self) -> Iterator[int]:
        """Yield the rows whose messages have arrived."""
        heads = self.heads
        return (row for row in range(len(heads)) if heads[row] != ABSENT)

    def __getitem__(self, row: int) -> Message:
        message = self._made.get(row)
        if message is None:
            if len(self._made) >= KEPT:
                self._made.clear()
            message = self._made[row] = self._make(row)
        return message

    def _make(self, row: int) -> Message:
        head, time, parent = self.head(row), self.times[row], self.parent(row)
        return head.message(
            self.ids.texts[row],
            self.names.values[self.senders[row]],
            self.odd_stamps[row] if head.style == ODD else written(time, head.style),
            time,
            self.subjects[row],
            None if parent == NONE else self.ids.texts[parent],
            self.offsets[row],
            self.lengths[row],
        )
