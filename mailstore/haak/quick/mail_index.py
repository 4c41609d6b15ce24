"""What was noted of a long mailbox when it was folded: which of its lines name whom, and who has read them.

It holds for the lines before an offset, under the condition that a console relies on while it is open: the file is the
same one, and the bytes before the offset are unchanged. Imports next to nothing (docs/decisions/0015).
"""

from __future__ import annotations

import os
from bisect import bisect_left

from mailstore.files.scan import Unusual, decoded
from mailstore.files.user_folders import user_folder
from mailstore.files.whole import open_binary
from mailstore.haak_records.values import id_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator
    from typing import Any

    Record = dict[str, Any]
    Stamp = tuple[int, int, int, int, int]

VERSION = 1
LONG = 1 << 25
"""Bytes: a longer mailbox is not read from its beginning."""
FAR = 1 << 22
"""Bytes: where more came since, the mailbox is folded, and the index is rewritten."""
DAY = 86_400.0
HEADER = 1 << 16


def index_name(device: int, inode: int) -> str:
    """Return the name of the index of a mailbox file."""
    return f"{device:x}-{inode:x}.index"


def kept_index(mailbox: str, reads: str, now: float) -> MailIndex | None:
    """Return the index of a mailbox file and of the file of its reads, None for one that is short.

    Raises Unusual for a long one without an index that holds, and OSError.
    """
    facts = _stamp(mailbox)
    if facts is None:
        return None
    try:
        index = MailIndex(f"{_folder()}/{index_name(facts[0], facts[1])}", now)
    except (OSError, ValueError, KeyError, IndexError, TypeError, Unusual):
        if facts[2] > LONG:
            raise Unusual("a long mailbox without an index") from None
        return None
    if _holds(mailbox, facts, index.mail) and _holds(reads, _stamp(reads), index.reads):
        return index
    if facts[2] > LONG:
        raise Unusual("a long mailbox whose index no longer holds")
    return None


class MailIndex:
    """Rows, one for each message, by name and by reader. Raises OSError, ValueError and Unusual for no index."""

    def __init__(self, path: str, now: float) -> None:
        from mmap import ACCESS_READ, mmap

        with open_binary(path, 0) as file:
            facts = os.fstat(file.fileno())
            if now - facts.st_mtime > DAY:
                os.utime(path)  # files in use are not deleted
            data = memoryview(mmap(file.fileno(), 0, access=ACCESS_READ))
        head = bytes(data[:HEADER])
        if (end := head.find(b"\n") + 1) == 0:
            head = bytes(data)
            end = head.index(b"\n") + 1
        header = decoded(head[: end - 1].rstrip())
        if header["version"] != VERSION:
            raise ValueError("written by another version")
        self.mail: list[Any] = header["mail"]
        self.reads: list[Any] | None = header["reads"]
        self._names: dict[str, list[int]] = header["names"]
        self._readers: dict[str, list[int]] = header["readers"]
        self.unarrived: dict[str, int] = header["unarrived"]
        """The rows of ids that records named before their messages came."""
        columns: list[Any] = []
        for kind, size, number in (
            ("q", 8, header["rows"]),
            ("d", 8, header["rows"]),
            ("I", 4, header["rows"]),
            ("I", 4, header["ids"]),
            ("i", 4, header["ids"]),
            ("i", 4, header["postings"]),
            ("i", 4, header["read"]),
        ):
            columns.append(data[end : end + size * number].cast(kind))  # type: ignore[call-overload]
            end += -(-size * number // 8) * 8
        if end != len(data):
            raise ValueError("truncated")
        self._offsets, self._ends, self._lengths, self._hashes, self._rows, self._postings, self._read = columns

    @property
    def mail_end(self) -> int:
        """The offset up to which the mailbox was read."""
        end: int = self.mail[-2]
        return end

    @property
    def reads_end(self) -> int:
        """The offset up to which the reads were read."""
        return self.reads[-2] if self.reads else 0

    def naming(self, is_wanted: Callable[[str], bool], open_after: Callable[[str], float]) -> set[int]:
        """Return the rows that name anyone who is wanted, and that may be open for that name after some time."""
        places: set[int] = set()
        ends = self._ends
        for name, (start, end) in self._names.items():
            if is_wanted(name):
                least = open_after(name)
                places.update(row for row in self._postings[start:end] if ends[row] >= least)
        return places

    def read_by(self, reader: str) -> frozenset[int]:
        """Return the rows that have a read record."""
        start, end = self._readers.get(reader, (0, 0))
        return frozenset(self._read[start:end])

    def has(self, message_id: str) -> bool:
        """Say whether a message probably has an id; where it says no, none has."""
        return any(True for _ in self.rows_of(message_id))

    def rows_of(self, message_id: str) -> Iterator[int]:
        """Yield the rows of messages that may have an id."""
        from binascii import crc32

        wanted = crc32(message_id.encode("utf-8", "surrogatepass"))
        at = bisect_left(self._hashes, wanted)
        while at < len(self._hashes) and self._hashes[at] == wanted:
            if self._rows[at] not in self.unarrived.values():
                yield self._rows[at]
            at += 1

    def records(
        self, mailbox: str, named: set[int], ids: Iterable[str], read: Container[int | str]
    ) -> Iterator[tuple[int, Record]]:
        """Yield the records of rows and of ids, but for the rows and ids that were read, in the order of the file.

        Raises Unusual and OSError.
        """
        rows = [row for row in named.union(*map(self.rows_of, ids)) if row not in read]
        with open_binary(mailbox, 0) as file:
            for row in sorted(rows, key=self._offsets.__getitem__):
                record = decoded(os.pread(file.fileno(), self._lengths[row], self._offsets[row]))
                message_id = id_in(record)
                if row not in self.rows_of(message_id):
                    raise Unusual("a mailbox that was rewritten")
                if message_id not in read:
                    yield row, record


def _stamp(path: str) -> Stamp | None:
    try:
        facts = os.stat(path)  # noqa: PTH116
    except FileNotFoundError:
        return None
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns


def _holds(path: str, now: Stamp | None, place: list[Any] | None) -> bool:
    """Say whether what was noted of a file still holds, and not much has come since."""
    if place is None:
        return now is None or now[2] <= FAR
    *before, offset, witness = place
    if now is None or tuple(before[:2]) != now[:2] or not before[2] <= now[2] <= offset + FAR:
        return False
    if now[2] == before[2]:
        return now == tuple(before)
    with open_binary(path, 0) as file:
        last = bytes.fromhex(witness)
        return os.pread(file.fileno(), len(last), offset - len(last)) == last


def _folder() -> str:
    return f"{user_folder('CACHE')}/folded"
