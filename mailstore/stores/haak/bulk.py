"""The lines of a HAAK mailbox, a block of the usual ones at a time; the others as the decoders read them."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter, itemgetter

import msgspec
import numpy as np
from numpy.typing import NDArray

from mailstore.bulk.build import fill, settle
from mailstore.bulk.gathered import Gathered, Reads
from mailstore.bulk.stamps import seconds_of
from mailstore.columns.messages import Head, Messages
from mailstore.events import Event
from mailstore.files.lines import Block, LineFile
from mailstore.mailbox import Mailbox
from mailstore.message import Message
from mailstore.stores.bodies import first_line, mentions
from mailstore.stores.haak.apart import MANY, Apart, is_there
from mailstore.stores.haak.bulk_reads import Unusual, lines_in, read_all
from mailstore.stores.haak.decode import LONGEST_TTL, STRING, MessageDecoder, is_text, recipients_in
from mailstore.stores.haak.months import Months

__all__ = ["gather"]

Integers = NDArray[np.int64]
NEWLINE, RETURN, QUOTE = 10, 13, 34
FIRST_BYTE = itemgetter(0)
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


MESSAGES = msgspec.json.Decoder(Usual)
shared_of = attrgetter("recipient", "ttl_hours", "type", "tags", "read_by")


class Heads(dict[Shared, int]):
    """The numbers of what a file's messages have in common; raises Unusual for what must be looked at closely."""

    def __init__(self, table: Messages, file: str, is_archived: bool) -> None:
        super().__init__()
        self._table = table
        self._file = file
        self._is_archived = is_archived

    def __missing__(self, shared: Shared) -> int:
        number = self[shared] = self.mentioning(shared, ())
        return number

    def mentioning(self, shared: Shared, names: Names) -> int:
        """Return the number for messages that mention names too."""
        recipient, ttl, kind, tags, read_by = shared
        recipients = recipients_in(recipient if isinstance(recipient, str) else list(recipient))[0]
        if not recipients or (ttl is not None and not 0 < ttl < LONGEST_TTL):
            raise Unusual
        head = Head(recipients, ttl, kind or "", tags or (), read_by or (), names, self._file, self._is_archived)
        return self._table.head_values.number(head)


def gather(
    mailbox: Mailbox, mail: LineFile, decoder: MessageDecoder, reads: LineFile, months: Months, now: float
) -> list[Event]:
    """Fill a mailbox from files; return what is left to fold. Raises Replaced and OSError."""
    apart = Apart(reads) if is_there(reads.path, MANY) else None
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
    if apart is None or not apart.into(read, gathered.ids):
        read_all(reads, read)
    return fill(mailbox, gathered, read, now)


def _messages(blocks: Iterable[Block], file: str, decoder: MessageDecoder, archived: bool, into: Gathered) -> None:
    """Gather the messages of a file's blocks, in their order."""
    heads = Heads(into.table, file, archived)
    for block in blocks:
        try:
            decoder.last_time = _usual(block, heads, into)
        except (Unusual, ValueError, RecursionError):
            for line, number in lines_in(block):
                messages, problems = decoder.decode(line, number)
                into.take(messages)
                into.events += problems


def _usual(block: Block, heads: Heads, into: Gathered) -> float:
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
    if set(map(FIRST_BYTE, map(memoryview, contents))) != {QUOTE}:  # type: ignore[arg-type]
        raise Unusual
    subjects = [
        one.subject if one.subject and not one.subject.isspace() else first_line(STRING.decode(one.content))
        for one in found
    ]
    numbers = np.fromiter(map(heads.__getitem__, map(shared_of, found)), np.uint32, len(found))
    for at, names in _mentions(data, ends, contents).items():
        numbers[at] = heads.mentioning(shared_of(found[at]), names)
    parents = [one.thread or None for one in found]
    into.add(ids, senders, numbers, times, block.offset + starts, ends - starts, parents, subjects)
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
