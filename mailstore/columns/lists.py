"""Lists of threads and of messages in order of time, which are looked up and never copied."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress, repeat
from operator import or_
from time import perf_counter
from typing import overload

from mailstore.columns.messages import MessageHead, MessageTable
from mailstore.columns.rows import SortedRows


class ThreadList(Sequence[str]):
    """The ids of roots, the newest first, always up to date."""

    def __init__(self, messages: MessageTable, ranking: SortedRows) -> None:
        self._messages = messages
        self._ranking = ranking

    def __len__(self) -> int:
        return len(self._ranking)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self._at(place) for place in range(*at.indices(len(self)))]
        return self._at(at + len(self) if at < 0 else at)

    def _at(self, place: int) -> str:
        if not 0 <= place < len(self._ranking):
            raise IndexError(place)
        return self._messages.ids[self._ranking[place]]

    def __iter__(self) -> Iterator[str]:
        return (self._messages.ids[row] for row in self._ranking)

    def rows(self) -> array[int]:
        """Return the rows of all roots, the newest first."""
        return self._ranking.rows()[::-1]

    def __contains__(self, root: object) -> bool:
        return isinstance(root, str) and self.place(root) is not None

    def index(self, root: str, start: int = 0, stop: int | None = None) -> int:
        """Return the position of a root; raises ValueError for one that is not listed."""
        place = self.place(root)
        if place is None or not start <= place < (len(self) if stop is None else stop):
            raise ValueError(root)
        return place

    def place(self, root: str) -> int | None:
        """Return the position of a root, None for one that is not listed."""
        row = self._messages.ids.row(root)
        try:
            return None if row is None else self._ranking.place(row)
        except (KeyError, IndexError):
            return None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


class ViewThreads:
    """The threads of a view, sorted by their newest message that belongs to it, as `newest` lists them."""

    def __init__(self, messages: MessageTable, matches: Callable[[int], bool], newest: dict[int, int]) -> None:
        self.matches = matches
        self._age = messages.age
        self._newest = newest
        self.ranking = SortedRows.of_sorted(lambda root: messages.age(newest[root]), array("i", newest))

    def newest(self, root: int) -> int | None:
        """Return the message by which a thread is sorted, None for a thread that is not listed."""
        return self._newest.get(root)

    def touch(self, root: int, row: int) -> None:
        """List a thread, or move it, after a message of the view was added to it."""
        known = self._newest.get(root)
        if known is not None:
            if self._age(row) <= self._age(known):
                return
            self.ranking.drop(root)
        self._newest[root] = row
        self.ranking.put(root)

    def merge(self, absorbed: int, root: int) -> None:
        """Replace a thread that became part of another one."""
        if absorbed in self._newest:
            self.ranking.drop(absorbed)
            self.touch(root, self._newest.pop(absorbed))


AT_ONCE = 8192
"""Rows looked at between two looks at the clock: less than a millisecond."""
KEPT = 4096
FEW = 32_768
"""How far from the end arrivals are looked for: those of a message that is dated later than others come there."""


class Membership:
    """Which messages belong to a view: by the fields that many share, and by sender."""

    def __init__(
        self,
        messages: MessageTable,
        concerns: Callable[[MessageHead], bool],
        sends: Callable[[str], bool] | None = None,
    ) -> None:
        self.messages = messages
        self._concerns = concerns
        self._sends = sends
        self._heads, self._senders = bytearray(), bytearray()

    def among(self, rows: Sequence[int]) -> Iterable[int]:
        """Return which of some rows, whose messages have arrived, belong to the view."""
        messages, heads, senders = self.messages, self._heads, self._senders
        for head in messages.head_values.values[len(heads) :]:
            heads.append(len(heads) > 0 and self._concerns(head))
        roots = map(heads.__getitem__, map(messages.heads.__getitem__, rows))
        if self._sends is None:
            return compress(rows, roots)
        for name in messages.names.values[len(senders) :]:
            senders.append(self._sends(name))
        sent = map(senders.__getitem__, map(messages.senders.__getitem__, rows))
        return compress(rows, map(or_, roots, sent))


class MarkedRows:
    """Some messages, such as those that a search found, in place of those of a view."""

    def __init__(self, messages: MessageTable) -> None:
        self.messages = messages
        self._marks = bytearray()

    def add(self, ids: Iterable[str]) -> None:
        """Mark messages."""
        self._grow()
        for row in map(self.messages.ids.row, ids):
            if row is not None:
                self._marks[row] = 1

    def among(self, rows: Sequence[int]) -> Iterable[int]:
        """Return which of some rows are marked; those that came later are not."""
        self._grow()
        return compress(rows, map(self._marks.__getitem__, rows))

    def _grow(self) -> None:
        self._marks.extend(bytes(len(self.messages) - len(self._marks)))


class MessageList(Sequence[str]):
    """The ids of a view's messages, the oldest first; those that were not looked up yet are missing at the beginning.

    A list does not change: `look` and `follow` return others.
    """

    def __init__(
        self, messages: MessageTable, members: Membership | MarkedRows, is_current: Callable[[], bool]
    ) -> None:
        self.messages = messages
        self._members = members
        self._is_current = is_current
        self._order = messages.order()
        self._ahead = len(self._order)
        self._older, self._newer = array("i"), array("i")
        """Rows that were looked up, the newest first; and those that came after them, the oldest first."""
        self._places: dict[str, int] = {}
        """Positions of ids that were asked for."""

    @property
    def is_whole(self) -> bool:
        """Whether every message was looked at."""
        return self._ahead == 0

    def look(self, seconds: float) -> MessageList:
        """Look at older messages for some seconds; return the list with those of them that belong to the view."""
        until = perf_counter() + seconds
        older, ahead = self._older[:], self._ahead
        while ahead:
            start = max(0, ahead - AT_ONCE)
            rows = self._order[start:ahead]
            rows.reverse()
            older.extend(self._members.among(rows))
            ahead = start
            if perf_counter() >= until:
                break
        return self._changed(older, self._newer, ahead, self._order)

    def follow(self) -> MessageList | None:
        """Return the list with what arrived, itself if nothing did; None if a new list must be made."""
        if not self._is_current():
            return None
        order, old = self.messages.order(), self._order
        if order is old:
            return self
        arrived = _inserted(order, old)
        if arrived is None:
            return None
        looked_at = [row for place, row in arrived if place >= self._ahead]
        ahead = self._ahead + len(arrived) - len(looked_at)
        grown = self._changed(self._older, self._newer[:], ahead, order)
        for row in self._members.among(looked_at):
            grown._insert(row)
        return grown

    def _changed(self, older: array[int], newer: array[int], ahead: int, order: array[int]) -> MessageList:
        changed = MessageList(self.messages, self._members, self._is_current)
        changed._older, changed._newer, changed._ahead, changed._order = older, newer, ahead, order
        return changed

    def _insert(self, row: int) -> None:
        at = self._place_of_age(row)
        if at < len(self._older):
            self._older = self._older[:]
            self._older.insert(len(self._older) - at, row)
        else:
            self._newer.insert(at - len(self._older), row)

    def _place_of_age(self, row: int) -> int:
        table, places, times = self.messages, range(len(self)), self.messages.times
        begin = bisect_left(places, times[row], key=lambda at: times[self.row(at)])
        end = bisect_right(places, times[row], begin, key=lambda at: times[self.row(at)])
        return bisect_left(places, table.age(row), begin, end, key=lambda at: table.age(self.row(at)))

    def __len__(self) -> int:
        return len(self._older) + len(self._newer)

    def row(self, at: int) -> int:
        """Return the row of a message by its position."""
        from_end = len(self._older) - 1 - at
        return self._older[from_end] if from_end >= 0 else self._newer[-1 - from_end]

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        ids = self.messages.ids
        if isinstance(at, slice):
            return [ids[self.row(place)] for place in range(*at.indices(len(self)))]
        place = at + len(self) if at < 0 else at
        if not 0 <= place < len(self):
            raise IndexError(at)
        message_id = ids[self.row(place)]
        if len(self._places) >= KEPT:
            self._places.clear()
        self._places[message_id] = place
        return message_id

    def extends(self, other: object) -> bool:
        """Return whether this is another list with nothing but some messages added at its end."""
        return (
            isinstance(other, MessageList)
            and self._older is other._older
            and self._newer[: len(other._newer)] == other._newer
        )

    def place(self, message_id: str) -> int | None:
        """Return the position of a message, None for one that is not listed."""
        if (known := self._places.get(message_id)) is not None:
            return known
        row = self.messages.ids.row(message_id)
        if row is None or not self.messages.is_there(row):
            return None
        at = self._place_of_age(row)
        return at if at < len(self) and self.row(at) == row else None

    @property
    def has_begun(self) -> bool:
        """Whether any messages were looked at."""
        return self._ahead < len(self._order) or self.is_whole

    def marked(self, marks: bytes, start: int, step: int, value: int = 1) -> Iterator[int]:
        """Yield the positions from one on, upwards (1) or downwards (-1), of messages whose row has a mark: a byte."""
        mark_of = marks.ljust(len(self.messages), b"\0").__getitem__
        begin = max(0, start) if step > 0 else min(start + 1, len(self))
        while begin < len(self) if step > 0 else begin > 0:
            end = min(len(self), begin + AT_ONCE) if step > 0 else max(0, begin - AT_ONCE)
            first = min(begin, end)
            found = bytes(map(mark_of, self._rows(first, max(begin, end))))
            at = found.find(value) if step > 0 else found.rfind(value)
            while at >= 0:
                yield first + at
                at = found.find(value, at + 1) if step > 0 else found.rfind(value, 0, at)
            begin = end

    def _rows(self, start: int, stop: int) -> array[int]:
        """Return the rows at some positions."""
        size = len(self._older)
        older = self._older[max(0, size - stop) : max(0, size - start)]
        older.reverse()
        return older + self._newer[max(0, start - size) : max(0, stop - size)]

    def __contains__(self, message_id: object) -> bool:
        return isinstance(message_id, str) and self.place(message_id) is not None


def _inserted(order: array[int], old: array[int]) -> list[tuple[int, int]] | None:
    """Return what an order has more than an older one, as (place in the old one, row); None if that is far back."""
    more = len(order) - len(old)
    inserted: list[tuple[int, int]] = []
    at, was = len(order) - 1, len(old) - 1
    for _ in repeat(None, FEW + max(0, more)):
        if len(inserted) == more:
            break
        if at < 0:
            return None
        if was >= 0 and order[at] == old[was]:
            was -= 1
        else:
            inserted.append((was + 1, order[at]))
        at -= 1
    is_alike = at == was and (at < 0 or order[at] == old[was])
    return inserted[::-1] if len(inserted) == more and is_alike else None
