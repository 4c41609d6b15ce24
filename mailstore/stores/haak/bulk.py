"""The lines of a HAAK mailbox, a block of the usual ones at a time; the others as the decoders read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from operator import attrgetter

import msgspec
import numpy as np
from numpy.typing import NDArray

from mailstore.bulk.build import fill, settle
from mailstore.bulk.gathered import Gathered, Reads
from mailstore.bulk.stamps import seconds_of
from mailstore.columns.messages import Head
from mailstore.events import Event
from mailstore.files.lines import Block, Line, LineFile
from mailstore.mailbox import Mailbox
from mailstore.message import Message
from mailstore.stores.bodies import first_line, mentions
from mailstore.stores.haak.decode import LONGEST_TTL, STRING, MessageDecoder, is_text, recipients_in
from mailstore.stores.haak.months import Months
from mailstore.stores.haak.records import decode_receipt

__all__ = ["gather"]

Integers = NDArray[np.int64]
NEWLINE, RETURN = 10, 13
Names = tuple[str, ...]
Shared = tuple[str | Names, float | None, str | None, Names | None, Names | None]


class Usual(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """A line of the protocol's own form; a block in which any line differs is read line by line."""

    id: str
    sender: str
    recipient: str | Names
    timestamp: str
    content: msgspec.Raw
    subject: str | None = None
    thread: str | None = None
    ttl_hours: float | None = None
    type: str | None = None
    tags: Names | None = None
    read_by: Names | None = None
    metadata: msgspec.Raw = msgspec.Raw()


class UsualRead(msgspec.Struct, gc=False):
    """The line that every program writes when it has read a message."""

    message_id: str
    reader_session_id: str
    timestamp: str


MESSAGES = msgspec.json.Decoder(Usual)
READS = msgspec.json.Decoder(UsualRead)
shared_of = attrgetter("recipient", "ttl_hours", "type", "tags", "read_by")


class Unusual(Exception):
    """A block holds something that must be looked at line by line."""


@lru_cache(maxsize=1 << 16)
def head_of(shared: Shared, named: Names, file: str, archived: bool) -> Head:
    """Return what messages have in common; raises Unusual where that must be looked at closely."""
    recipient, ttl, kind, tags, read_by = shared
    recipients = recipients_in(recipient if isinstance(recipient, str) else list(recipient))[0]
    if not recipients or (ttl is not None and not 0 < ttl < LONGEST_TTL):
        raise Unusual
    return Head(recipients, ttl, kind or "", tags or (), read_by or (), named, file, archived)


def gather(
    mailbox: Mailbox, mail: LineFile, decoder: MessageDecoder, reads: LineFile, months: Months, now: float
) -> list[Event]:
    """Fill a mailbox from files; return what is left to fold. Raises Replaced and OSError."""
    gathered = Gathered(mailbox._messages)
    _messages(mail.read_whole(), mail.name, decoder, False, gathered)
    for name, file, of_month in months.look():
        if isinstance(file, LineFile):
            _messages(file.read_whole(), name, of_month, True, gathered)
        else:
            for events in months.read_one(name, file, of_month):
                gathered.take([event for event in events if isinstance(event, Message)])
                gathered.events += [event for event in events if not isinstance(event, Message)]
    settle(gathered)
    read = Reads(mailbox._messages.names, gathered.rows)
    _reads(reads.read_whole(), reads.name, read)
    return fill(mailbox, gathered, read, now)


def _messages(blocks: Iterable[Block], file: str, decoder: MessageDecoder, archived: bool, into: Gathered) -> None:
    """Gather the messages of a file's blocks, in their order."""
    for block in blocks:
        try:
            decoder.last_time = _usual(block, file, archived, into)
        except (Unusual, ValueError, RecursionError):
            for line, number in _lines(block):
                messages, problems = decoder.decode(line, number)
                into.take(messages)
                into.events += problems


def _lines(block: Block) -> Iterator[tuple[Line, int]]:
    at = block.offset
    for number, data in enumerate(block.data.split(b"\n")[:-1], block.number):
        yield Line(at, data), number
        at += len(data) + 1


def _usual(block: Block, file: str, archived: bool, into: Gathered) -> float:
    """Gather a block of usual lines, and return the time of the last; raises Unusual before anything is gathered."""
    data = block.data
    found = MESSAGES.decode_lines(data)
    cells = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(cells == NEWLINE)
    starts = np.concatenate(([0], ends[:-1] + 1))
    if len(found) != len(ends) or (ends == starts).any() or (cells[ends - 1] == RETURN).any() or not is_text(data):
        raise Unusual
    ids, senders = [one.id for one in found], [one.sender for one in found]
    times = seconds_of([one.timestamp for one in found])
    if times is None or not all(ids) or not all(senders):
        raise Unusual
    contents = [one.content for one in found]
    if any(bytes(content)[:1] != b'"' for content in contents):
        raise Unusual
    subjects = [
        one.subject if one.subject and not one.subject.isspace() else first_line(STRING.decode(one.content))
        for one in found
    ]
    heads = [head_of(shared, (), file, archived) for shared in map(shared_of, found)]
    for at, names in _mentions(data, ends, contents).items():
        heads[at] = head_of(shared_of(found[at]), names, file, archived)
    parents = [one.thread or None for one in found]
    into.add(ids, senders, heads, times, block.offset + starts, ends - starts, parents, subjects)
    return float(times[-1])


def _mentions(data: bytes, ends: Integers, contents: list[msgspec.Raw]) -> dict[int, Names]:
    """Return whom the messages of a block mention, by their places in it."""
    found: dict[int, Names] = {}
    at = data.find(b"@")
    while at >= 0:
        place = int(np.searchsorted(ends, at))
        if names := mentions(STRING.decode(contents[place])):
            found[place] = names
        at = data.find(b"@", int(ends[place]))
    return found


def _reads(blocks: Iterable[Block], file: str, into: Reads) -> None:
    """Gather the read records of a file's blocks, in their order."""
    for block in blocks:
        try:
            _usual_reads(block, into)
        except (Unusual, ValueError, RecursionError):
            for line, number in _lines(block):
                into.take(decode_receipt(file, line, number))


def _usual_reads(block: Block, into: Reads) -> None:
    data = block.data
    found = READS.decode_lines(data)
    ids, readers = [one.message_id for one in found], [one.reader_session_id for one in found]
    times = seconds_of([one.timestamp for one in found])
    if times is None or len(found) != block.lines or not data.isascii() or b"\r\n" in data:
        raise Unusual
    if not all(ids) or not all(readers):
        raise Unusual
    into.add(ids, readers, times)
