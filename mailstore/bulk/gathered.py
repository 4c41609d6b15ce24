"""Records on their way from a file's blocks into columns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import repeat
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from mailstore.columns.interned import Interned
from mailstore.columns.messages import NONE, Messages, head_of
from mailstore.columns.stamps import ODD, written
from mailstore.events import Event
from mailstore.message import Message, Receipt

__all__ = ["Gathered", "Reads", "encoded"]

T = TypeVar("T", bound=Hashable)
Numbers = NDArray[np.uint32]
Integers = NDArray[np.int64]
Places = NDArray[np.int32]


class Columns(NamedTuple):
    """What is known of messages in numbers; parents are places of other messages, -1 for what is not among them."""

    senders: Numbers
    heads: Numbers
    times: NDArray[np.float64]
    offsets: Integers
    lengths: Integers
    parents: Places
    subject_ends: Integers


class Gathered:
    """Messages in the order in which they stand in the files; `events` are left to the fold."""

    def __init__(self, table: Messages) -> None:
        self.table = table
        self._names = table.names.numbering()
        self.events: list[Event] = []
        self._clear()

    def _clear(self) -> None:
        self.ids: list[str] = []
        self.rows: dict[str, int] = {}
        """The place of each id; of one that comes twice, the last."""
        self.subjects = bytearray()
        self.odd_stamps: dict[int, str] = {}
        self.unresolved: dict[int, str] = {}
        """What messages answer that had not come before them, by place."""
        self._parts: list[Columns] = []

    def add(
        self,
        ids: list[str],
        senders: list[str],
        heads: Numbers,
        times: NDArray[np.float64],
        offsets: Integers,
        lengths: Integers,
        parents: list[str | None],
        subjects: list[str],
    ) -> None:
        """Take messages in, given as columns of one length."""
        first = len(self.ids)
        self.rows.update(zip(ids, range(first, first + len(ids)), strict=True))
        self.ids += ids
        above = np.fromiter(map(self.rows.get, parents, repeat(NONE)), np.int32, len(ids))  # type: ignore[arg-type]
        for at in np.flatnonzero(above == NONE).tolist():
            if (parent := parents[at]) is not None:
                self.unresolved[first + at] = parent
        texts = encoded(subjects)
        ends = len(self.subjects) + np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
        self.subjects += b"".join(texts)
        numbers = np.fromiter(map(self._names.__getitem__, senders), np.uint32, len(ids))
        self._parts.append(Columns(numbers, heads, times, offsets, lengths, above, ends))

    def take(self, messages: Sequence[Message]) -> None:
        """Take messages in, given as values."""
        if not messages:
            return
        heads = [head_of(message) for message in messages]
        first = len(self.ids)
        self.odd_stamps.update(
            (first + at, message.timestamp)
            for at, (message, head) in enumerate(zip(messages, heads, strict=True))
            if head.style == ODD
        )
        places = [(it.location.offset, it.location.length) if it.location else (0, 0) for it in messages]
        self.add(
            [message.id for message in messages],
            [message.sender for message in messages],
            np.fromiter(map(self.table.head_values.number, heads), np.uint32, len(heads)),
            np.array([message.time for message in messages], np.float64),
            np.array([offset for offset, _ in places], np.int64),
            np.array([length for _, length in places], np.int64),
            [message.thread for message in messages],
            [message.subject for message in messages],
        )

    def columns(self) -> Columns:
        """Return the numbers that were taken in, as a column each."""
        if not self._parts:
            none = np.empty(0, np.int64)
            self.add([], [], none.astype(np.uint32), np.empty(0), none, none, [], [])
        columns = Columns(*(np.concatenate(part) for part in zip(*self._parts, strict=True)))
        for place, name in self.unresolved.items():
            columns.parents[place] = self.rows.get(name, NONE)
        self._parts = [columns]
        return columns

    def duplicates(self) -> list[int]:
        """Return the places of messages whose ids came before."""
        if len(self.rows) == len(self.ids):
            return []
        first = {name: place for place, name in reversed(list(enumerate(self.ids)))}
        return [place for place, name in enumerate(self.ids) if first[name] != place]

    def leave(self, places: Sequence[int]) -> None:
        """Leave the messages at some places to the fold, in their order."""
        messages = [self._message(place, self.columns()) for place in range(len(self.ids))]
        left = set(places)
        self.events += [message for place, message in enumerate(messages) if place in left]
        self._clear()
        self.take([message for place, message in enumerate(messages) if place not in left])

    def _message(self, place: int, columns: Columns) -> Message:
        time, parent = float(columns.times[place]), int(columns.parents[place])
        head = self.table.head_values[int(columns.heads[place])]
        start = int(columns.subject_ends[place - 1]) if place else 0
        return head.message(
            self.ids[place],
            self.table.names[int(columns.senders[place])],
            self.odd_stamps[place] if head.style == ODD else written(time, head.style),
            time,
            self.subjects[start : int(columns.subject_ends[place])].decode("utf-8", "surrogatepass"),
            self.unresolved.get(place) or (None if parent == NONE else self.ids[parent]),
            int(columns.offsets[place]),
            int(columns.lengths[place]),
        )


class Reads:
    """Read records in the order in which they stand in their file, of messages gathered before."""

    def __init__(self, names: Interned[str], rows: dict[str, int]) -> None:
        self._names = names.numbering()
        self._rows = rows
        self.events: list[Event] = []
        self.strangers: dict[int, str] = {}
        """The ids of which no message was gathered, by place."""
        self.number = 0
        self._parts: list[tuple[Places, Numbers, NDArray[np.float64]]] = []

    def add(self, ids: list[str], readers: list[str], times: NDArray[np.float64]) -> None:
        """Take records in, given as columns of one length."""
        rows = np.fromiter(map(self._rows.get, ids, repeat(NONE)), np.int32, len(ids))
        for at in np.flatnonzero(rows == NONE).tolist():
            self.strangers[self.number + at] = ids[at]
        self.number += len(ids)
        numbers = np.fromiter(map(self._names.__getitem__, readers), np.uint32, len(ids))
        self._parts.append((rows, numbers, times))

    def add_rows(self, rows: Places, readers: Numbers, names: Sequence[str], times: NDArray[np.float64]) -> None:
        """Take records in whose messages are known by their places, and whose readers by theirs among names."""
        numbers = np.fromiter(map(self._names.__getitem__, names), np.uint32, len(names))
        self.number += len(rows)
        self._parts.append((rows, numbers[readers], times))

    def take(self, events: Iterable[Event]) -> None:
        """Take what a line holds: a record with a time is gathered, all else is left to the fold."""
        for event in events:
            if isinstance(event, Receipt) and event.time is not None:
                self.add([event.message_id], [event.reader], np.array([event.time]))
            else:
                self.events.append(event)

    def columns(self) -> tuple[Places, Numbers, NDArray[np.float64]]:
        """Return rows, readers and times, as a column each."""
        none = (np.empty(0, np.int32), np.empty(0, np.uint32), np.empty(0, np.float64))
        rows, readers, times = zip(none, *self._parts, strict=True)
        return np.concatenate(rows), np.concatenate(readers), np.concatenate(times)


def encoded(texts: list[str]) -> list[bytes]:
    """Return texts as UTF-8, half characters kept."""
    try:
        return list(map(str.encode, texts))
    except UnicodeEncodeError:
        return [text.encode("utf-8", "surrogatepass") for text in texts]
