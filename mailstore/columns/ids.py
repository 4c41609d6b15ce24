"""The row of each message id."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from zlib import crc32

from mailstore.columns.snapshot_parts import SnapshotReader, SnapshotWriter
from mailstore.columns.strings import StringColumn


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
