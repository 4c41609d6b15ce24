"""Decode usual records into columns, a block of lines at a time."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from zlib import crc32

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from mailstore.bulk.keys import NO_KEY, keys_of, texts_of
from mailstore.bulk.parts import MailColumns, ReadColumns, UnusualBlock
from mailstore.bulk.shares import LineBlock
from mailstore.columns.messages import MessageHead
from mailstore.columns.strings import InternTable, style_of
from mailstore.haak_records.usual import READ, Names, UsualMessages
from mailstore.haak_records.values import recipients_in
from mailstore.kit.bodies import first_line, mentions

FORM = np.frombuffer(b"0000-00-00T00:00:00", np.uint8)
DIGITS = np.flatnonzero(ord("0") == FORM)
MARKS = np.flatnonzero(ord("0") != FORM)
SIZE = len(FORM)
SECONDS, MILLISECONDS = SIZE + 1, SIZE + 5
"""The lengths of the two forms of a timestamp: `…:00Z` and `…:00.000Z`."""
THOUSANDS = np.array([100, 10, 1], np.int64)
LEAST = np.array([0, 0, 1, 1, 0, 0, 0], np.uint8)
MOST = np.array([99, 99, 12, 31, 23, 59, 59], np.uint8)
"""The greatest century, year of the century, month, day, hour, minute and second."""
MONTHS = np.arange("0000-01", "10000-02", dtype="datetime64[M]").astype("datetime64[D]").astype(np.int64)
"""The day on which each month begins, counted from the epoch; months are counted from the year 0."""
FIRST_MONTH = 12
"""The first month of the year 1, the earliest that is valid."""
BRACE, END_BRACE = b"{}"
ASCII = 128
FINE = style_of("1970-01-01T00:00:00.000Z", 0.0)
Shared = tuple[str | Names, float | None, str | None, Names | None, Names | None]
shared_of = attrgetter("recipient", "ttl_hours", "type", "tags", "read_by")


def seconds_of(stamps: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]] | None:
    """Return seconds since the epoch for timestamps, and which of them have milliseconds.

    None unless all have the form YYYY-MM-DDTHH:MM:SSZ or YYYY-MM-DDTHH:MM:SS.mmmZ.
    """
    sizes = np.fromiter(map(len, stamps), np.int64, len(stamps))
    is_fine = sizes == MILLISECONDS
    if not (is_fine | (sizes == SECONDS)).all():
        return None
    text = "".join(stamps)
    if not text.isascii():
        return None
    found, cells = np.empty(len(stamps)), np.frombuffer(text.encode(), np.uint8)
    for form, is_of in ((SECONDS, ~is_fine), (MILLISECONDS, is_fine)):
        if is_of.any():
            mine = cells if is_of.all() else cells[np.repeat(is_of, sizes)]
            times = _seconds(mine.reshape(-1, form))
            if times is None:
                return None
            found[is_of] = times
    return found, is_fine


def _seconds(cells: NDArray[np.uint8]) -> NDArray[np.float64] | None:
    """Return seconds since the epoch for timestamps of one length, None if one of them is not valid."""
    digits = cells.take(DIGITS, 1) - np.uint8(ord("0"))
    if (cells.take(MARKS, 1) != FORM[MARKS]).any() or (digits > 9).any() or (cells[:, -1] != ord("Z")).any():
        return None
    pairs = digits[:, ::2] * np.uint8(10) + digits[:, 1::2]
    if (pairs < LEAST).any() or (pairs > MOST).any():
        return None
    century, year, month, day, *rest = pairs.T.astype(np.int64)
    at = (century * 100 + year) * 12 + month - 1
    days = MONTHS[at] + day - 1
    if (at < FIRST_MONTH).any() or (days >= MONTHS[at + 1]).any():
        return None
    hour, minute, second = rest
    seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
    if cells.shape[1] == SECONDS:
        return np.asarray(seconds, np.float64)
    thousandths = cells[:, SIZE + 1 : -1] - np.uint8(ord("0"))
    if (cells[:, SIZE] != ord(".")).any() or (thousandths > 9).any():
        return None
    times: NDArray[np.float64] = (seconds * 1000 + thousandths @ THOUSANDS) / 1000
    return times


class MailDecoder(dict[Shared, int]):
    """Turn blocks into columns; as a dictionary it numbers the combinations of values that messages share."""

    def __init__(self, file: str, is_archived: bool) -> None:
        super().__init__()
        self.names: InternTable[str] = InternTable()
        self.heads: InternTable[MessageHead] = InternTable()
        self._file = file
        self._is_archived = is_archived
        self._names = self.names.numbering()
        self._messages = UsualMessages()

    def __missing__(self, shared: Shared) -> int:
        number = self[shared] = self._mentioning(shared, ())
        return number

    def _mentioning(self, shared: Shared, names: Names) -> int:
        """Return the number of a head with mentions; raises UnusualBlock for names that need a closer look."""
        recipient, ttl, kind, tags, read_by = shared
        recipients = recipients_in(recipient if isinstance(recipient, str) else list(recipient))[0]
        if not recipients or (ttl is not None and not ttl > 0):
            raise UnusualBlock
        head = MessageHead(recipients, ttl, kind or "", tags or (), read_by or (), names, self._file, self._is_archived)
        return self.heads.number(head)

    def _fine(self, number: int) -> int:
        """Return the number of the same head with milliseconds."""
        return self.heads.number(replace(self.heads[number], style=FINE))

    def columns(self, block: LineBlock) -> MailColumns:
        """Return a block's messages; raises UnusualBlock, ValueError and RecursionError for any that is not usual."""
        ends = block.ends
        messages = self._messages.all(block.data, int(ends[0]))
        check_lines(block, len(messages))
        ids, senders = [one.id for one in messages], [one.sender for one in messages]
        stamps = seconds_of([one.timestamp for one in messages])
        if stamps is None or not all(ids) or not all(senders):
            raise UnusualBlock
        times, is_fine = stamps
        subjects = [
            one.subject if one.subject and not one.subject.isspace() else first_line(one.content) for one in messages
        ]
        heads = np.fromiter(map(self.__getitem__, map(shared_of, messages)), np.uint32, len(messages))
        for at, one in enumerate(messages):
            if "@" in one.content and (named := mentions(one.content)):
                heads[at] = self._mentioning(shared_of(one), named)
        if is_fine.any():
            heads[is_fine] = np.fromiter(map(self._fine, heads[is_fine].tolist()), np.uint32)
        texts, answered = texts_of(ids), [one.thread for one in messages]
        parents = np.full(len(messages), NO_KEY, np.uint64)
        parents[np.fromiter(map(bool, answered), bool, len(messages))] = keys_of(texts_of(list(filter(None, answered))))
        starts = np.concatenate(([0], ends[:-1] + 1))
        return MailColumns(
            *texts,
            keys_of(texts),
            np.fromiter(map(crc32, map(str.encode, ids)), np.uint32, len(ids)),
            parents,
            np.fromiter(map(self._names.__getitem__, senders), np.uint32, len(senders)),
            heads,
            times,
            block.offset + starts,
            (ends - starts).astype(np.uint32),
            *texts_of(subjects),
        )


class ReadDecoder:
    """Turn blocks into columns."""

    def __init__(self) -> None:
        self.names: InternTable[str] = InternTable()
        self.heads: InternTable[MessageHead] = InternTable()
        self._names = self.names.numbering()

    def columns(self, block: LineBlock) -> ReadColumns:
        """Return a block's records; raises UnusualBlock, ValueError and RecursionError for any that is not usual."""
        reads = READ.decode_lines(block.data)
        check_lines(block, len(reads))
        ids, readers = [one.message_id for one in reads], [one.reader_session_id for one in reads]
        stamps = seconds_of([one.timestamp for one in reads])
        if stamps is None or not all(ids) or not all(readers):
            raise UnusualBlock
        numbers = np.fromiter(map(self._names.__getitem__, readers), np.uint32, len(readers))
        return ReadColumns(keys_of(texts_of(ids)), numbers, stamps[0], block.ends.astype(np.uint32))


def check_lines(block: LineBlock, number: int) -> None:
    """Raise UnusualBlock or ValueError unless each line is one record, without anything around it, and all is UTF-8."""
    cells, ends = np.frombuffer(block.data, np.uint8), block.ends
    if number != len(ends) or cells[0] != BRACE or (cells[ends[:-1] + 1] != BRACE).any():
        raise UnusualBlock
    if (cells[ends - 1] != END_BRACE).any():
        raise UnusualBlock
    if cells.max() >= ASCII:
        str(block.data, "utf-8")
