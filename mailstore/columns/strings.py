"""Many texts in one buffer: texts, numbers for values that recur, the row of each message id, and timestamps."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterator
from datetime import UTC, datetime
from typing import Generic, TypeVar
from zlib import crc32

from mailstore.columns.snapshot_parts import SnapshotReader, SnapshotWriter

MOST = 0xFFFF_FFFF
"""The largest buffer whose positions fit into four bytes; a larger one takes eight."""
T = TypeVar("T", bound=Hashable)
ODD = -1
"""The style of a timestamp whose text must be stored, because no style writes it."""
STYLES = (
    ("seconds", "Z"),
    ("auto", "+00:00"),
    ("milliseconds", "Z"),
    ("microseconds", "Z"),
    ("milliseconds", "+00:00"),
)
LENGTHS = ((20,), (25, 32), (24,), (27,), (29,))
"""How many characters each style writes, for a year of four digits."""


class StringColumn:
    """Texts by number; each takes four bytes besides its UTF-8. Unpaired surrogates are kept."""

    __slots__ = ("_changed", "blob", "ends")

    def __init__(self) -> None:
        self.blob = bytearray()
        self.ends = array("I")
        self._changed: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, at: int) -> str:
        if self._changed and (text := self._changed.get(at)) is not None:
            return text
        ends = self.ends
        return self.blob[ends[at - 1] if at else 0 : ends[at]].decode("utf-8", "surrogatepass")

    def __setitem__(self, at: int, text: str) -> None:
        self._changed[at] = text

    def save(self, out: SnapshotWriter) -> None:
        out.column(self.blob, self.ends)
        out.value(self._changed)

    def load(self, saved: SnapshotReader) -> None:
        self.blob, self.ends = saved.columns(2)
        self._changed = saved.value(dict[int, str])

    def fill(self, blob: bytearray, ends: array[int]) -> None:
        """Replace the texts by those in a buffer, given the byte at which each ends."""
        self.blob, self.ends = blob, ends

    def append(self, text: str) -> None:
        """Add a text under the next number."""
        self.blob += text.encode("utf-8", "surrogatepass")
        size = len(self.blob)
        if size > MOST and self.ends.typecode == "I":
            self.ends = array("Q", self.ends)
        self.ends.append(size)

    def starting_with(self, prefix: str) -> Iterator[int]:
        """Yield the numbers of the texts that start with a prefix, which must not be empty."""
        wanted = prefix.encode("utf-8", "surrogatepass")
        at = self.blob.find(wanted)
        while at >= 0:
            number = bisect_right(self.ends, at)
            if at == (self.ends[number - 1] if number else 0) and number not in self._changed:
                yield number
            at = self.blob.find(wanted, at + 1)
        yield from (number for number, text in self._changed.items() if text.startswith(prefix))


class InternTable(Generic[T]):
    """Values by number, in the order in which they were added."""

    __slots__ = ("_numbers", "values")

    def __init__(self) -> None:
        self.values: list[T] = []
        self._numbers: dict[T, int] = {}

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, number: int) -> T:
        return self.values[number]

    def number(self, value: T) -> int:
        """Return the number of a value, a new one for a new value."""
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(self.values)
            self.values.append(value)
        return number

    def numbering(self) -> dict[T, int]:
        """Return a dictionary that numbers each value when it is first looked up."""
        return _Numbering(self)

    def fill(self, values: list[T]) -> None:
        """Replace the values; the number of each is its place in the list."""
        self.values = values
        self._numbers = {value: number for number, value in enumerate(values)}

    def known(self, value: T) -> int | None:
        """Return the number of a value, None for an unknown value."""
        return self._numbers.get(value)


class _Numbering(dict[T, int]):
    """Remembers the numbers that were looked up, so that a repeated lookup costs no call."""

    def __init__(self, table: InternTable[T]) -> None:
        super().__init__()
        self._table = table

    def __missing__(self, value: T) -> int:
        number = self[value] = self._table.number(value)
        return number


class IdColumn:
    """Ids by row and rows by id: sorted checksums for the ids that were loaded, a dictionary for those added since."""

    __slots__ = ("_fresh", "hashes", "leads", "rows", "texts")

    def __init__(self) -> None:
        self.texts = StringColumn()
        self.hashes = array("I")
        self.rows = array("i")
        self._fresh: dict[str, int] = {}
        self.leads: dict[int, int] = {}
        """For each copy of a message, the row that holds the message; no entry for that row itself."""

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, row: int) -> str:
        return self.texts[row]

    def row(self, message_id: str) -> int | None:
        """Return the row of the message that an id stands for, None for an unknown id."""
        row = self.own(message_id)
        return row if row is None or not self.leads else self.leads.get(row, row)

    def own(self, message_id: str) -> int | None:
        """Return the row of an id itself, which may be a copy; None for an unknown id."""
        row = self._fresh.get(message_id)
        if row is not None or not self.hashes:
            return row
        wanted = checksum(message_id)
        at = bisect_left(self.hashes, wanted)
        while at < len(self.hashes) and self.hashes[at] == wanted:
            if self.texts[self.rows[at]] == message_id:
                return self.rows[at]
            at += 1
        return None

    def add(self, message_id: str) -> int:
        """Add an id that has no row; return its row."""
        row = len(self.texts)
        self._fresh[message_id] = row
        self.texts.append(message_id)
        return row

    def save(self, out: SnapshotWriter) -> None:
        """Write this into a snapshot; sorts the ids that were added."""
        self._sort()
        self.texts.save(out)
        out.column(self.hashes, self.rows)
        out.value(self.leads)

    def load(self, saved: SnapshotReader) -> None:
        self.texts.load(saved)
        self.hashes, self.rows = saved.columns(2)
        self.leads = saved.value(dict[int, int])

    def _sort(self) -> None:
        """Move the ids that were added into the sorted column; the cost grows with their number."""
        for message_id, row in self._fresh.items():
            wanted = checksum(message_id)
            at = bisect_left(self.hashes, wanted)
            self.hashes.insert(at, wanted)
            self.rows.insert(at, row)
        self._fresh = {}

    def fill(self, texts: StringColumn, hashes: array[int], rows: array[int]) -> None:
        """Replace the ids, given the sorted checksums of their UTF-8 bytes and the row of each."""
        self.texts, self.hashes, self.rows = texts, hashes, rows
        self._fresh = {}


def checksum(message_id: str) -> int:
    """Return the checksum by which ids are sorted."""
    return crc32(message_id.encode("utf-8", "surrogatepass"))


def written(time: float, style: int) -> str:
    """Return a time, in seconds since the epoch, as a style writes it."""
    spec, zone = STYLES[style]
    return datetime.fromtimestamp(time, UTC).isoformat(timespec=spec)[:-6] + zone


def style_of(timestamp: str, time: float) -> int:
    """Return the style that writes a timestamp exactly as given, or `ODD`."""
    for style, (_, zone) in enumerate(STYLES):
        if len(timestamp) in LENGTHS[style] and timestamp.endswith(zone):
            try:
                if written(time, style) == timestamp:
                    return style
            except (ValueError, OverflowError, OSError):
                return ODD
    return ODD
