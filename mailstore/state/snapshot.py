"""A folded mailbox as bytes: its columns one after another, behind a header that says what they are."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from operator import attrgetter
from typing import Any, BinaryIO

import msgspec

from mailstore.columns.messages import Head
from mailstore.columns.ranking import Ranking
from mailstore.records.message import Intervention, Message, Problem
from mailstore.records.roster import RosterImage
from mailstore.rules.delivery import State
from mailstore.state.mailbox import Mailbox

__all__ = ["Unfit", "load", "save"]

VERSION = 6
MAGIC = b"signalbox folded mailbox\n"
BYTES = "b"
"""The typecode of what is a buffer of bytes."""
COLUMNS = (
    "_messages.ids.texts.blob",
    "_messages.ids.texts.ends",
    "_messages.ids.hashes",
    "_messages.ids.rows",
    "_messages.heads",
    "_messages.senders",
    "_messages.times",
    "_messages.parents",
    "_messages.offsets",
    "_messages.lengths",
    "_messages.subjects.blob",
    "_messages.subjects.ends",
    "_receipts.first",
    "_receipts.names",
    "_receipts.times",
    "_receipts.following",
    "_deliveries.first",
    "_deliveries.names",
    "_deliveries.times",
    "_deliveries.following",
    "_index.forest.parents",
    "_index.forest.ups",
    "_index.forest.children",
    "_index.forest.siblings",
    "_index.sizes",
    "_index.unseen",
    "_index.latest",
    "_index.postings.by_sender",
    "_index.postings.by_head",
    "_ledger.expired.marks",
)
"""Where a mailbox keeps what it knows of every message."""


JOURNAL = msgspec.json.Decoder(list[Intervention])


class Unfit(Exception):
    """Some bytes are no folded mailbox that this version can take over."""


class Header(msgspec.Struct):
    """What a mailbox knows besides its columns; `position` belongs to the store that was read."""

    version: int
    user: str
    position: bytes
    columns: list[tuple[str, int]]
    names: list[str]
    heads: list[Head]
    odd_stamps: dict[int, str]
    late_subjects: dict[int, str]
    number: int
    duplicates: list[Message]
    problems: list[Problem]
    unreadable: int
    archived: int
    roster: RosterImage
    put_away: dict[int, dict[str, float | None]]
    settled: dict[str, dict[str, str]]
    undone: dict[str, str]
    journal: bytes
    """As JSON: its records hold numbers of any size."""
    stepped_in: set[str]
    rings: list[tuple[tuple[int, ...], int]]
    strays: list[int]
    last_of_sender: dict[int, int]
    last_of_head: dict[int, int]
    delivered: list[str]
    channel_mail: dict[str, int]
    unseen_channel: dict[str, int]
    unseen_total: int
    unseen_for_user: int
    openers: list[tuple[bool, str]]
    counts: list[int]
    together: list[tuple[int, int, int]]
    sent: list[tuple[int, str, str, int]]
    types: list[tuple[int, str, int]]
    dead: list[tuple[int, str, State]]
    strange: list[tuple[int, str]]
    due: list[tuple[float, int]]


def save(mailbox: Mailbox, position: bytes, file: BinaryIO) -> None:
    """Write a mailbox of which the person has marked nothing as seen yet. Raises OSError."""
    messages, index, ledger = mailbox._messages, mailbox._index, mailbox._ledger
    messages.ids.settle()
    index.grow(len(messages))
    ledger.open.grow(len(messages))
    columns = list(_columns(mailbox))
    header = Header(
        version=VERSION,
        user=mailbox.user,
        position=position,
        columns=[(it.typecode if isinstance(it, array) else BYTES, len(it)) for it in columns],
        names=messages.names.values,
        heads=messages.head_values.values,
        odd_stamps=messages.odd_stamps,
        late_subjects=dict(messages.subjects.changed()),
        number=messages.number,
        duplicates=mailbox.duplicates,
        problems=mailbox.problems,
        unreadable=mailbox._unreadable,
        archived=mailbox._archived,
        roster=mailbox.roster.image(),
        put_away=mailbox._put_away,
        settled=mailbox._settled,
        undone=mailbox._undone,
        journal=msgspec.json.encode(list(mailbox._journal.values())),
        stepped_in=mailbox._stepped_in,
        rings=index.forest.rings,
        strays=index.strays,
        last_of_sender=index.postings.last_of_sender,
        last_of_head=index.postings.last_of_head,
        delivered=list(index.postings.delivered),
        channel_mail=index.channel_mail,
        unseen_channel=index.unseen_channel,
        unseen_total=index.unseen_total,
        unseen_for_user=index.unseen_for_user,
        openers=ledger.open.names,
        counts=ledger.open.counts,
        together=[(*pair, number) for pair, number in ledger.open.together.items() if number],
        sent=[(*key, number) for key, number in ledger.open.sent.items() if number],
        types=[(*key, number) for key, number in ledger.open.types.items() if number],
        dead=[(*key, state) for key, state in ledger.dead.items()],
        strange=[(row, name) for name, rows in ledger.strange.items() for row in rows],
        due=ledger.due,
    )
    data = msgspec.msgpack.encode(header)
    file.write(MAGIC + len(data).to_bytes(8, "little") + data)
    for each in columns:
        file.write(memoryview(each))


def _columns(mailbox: Mailbox) -> Iterator[array[Any] | bytearray]:
    yield from (attrgetter(path)(mailbox) for path in COLUMNS)
    yield mailbox._messages.order()
    yield mailbox._index.order().rows()
    yield from mailbox._index.postings.delivered.values()
    yield from mailbox._ledger.open.words
    yield from mailbox._ledger.open.rows


def load(file: BinaryIO, user: str) -> tuple[Mailbox, bytes]:
    """Return the mailbox that was written, and the position with it. Raises Unfit and OSError."""
    try:
        return _load(file, user)
    except (msgspec.MsgspecError, EOFError, ValueError) as error:
        raise Unfit(str(error)) from error


def _load(file: BinaryIO, user: str) -> tuple[Mailbox, bytes]:
    if file.read(len(MAGIC)) != MAGIC:
        raise Unfit("not a folded mailbox")
    header = msgspec.msgpack.decode(file.read(int.from_bytes(file.read(8), "little")), type=Header)
    if header.version != VERSION or header.user != user:
        raise Unfit("of another version, or another person's")
    columns = [_read(file, typecode, size) for typecode, size in header.columns]
    if file.read(1):
        raise Unfit("longer than it says")
    mailbox = Mailbox(user)
    rest = iter(columns)
    for path, found in zip(COLUMNS, rest, strict=False):
        owner, _, name = path.rpartition(".")
        setattr(attrgetter(owner)(mailbox), name, found)
    messages, index, ledger = mailbox._messages, mailbox._index, mailbox._ledger
    messages.load_order(next(rest))
    order = next(rest)
    index.load_order(Ranking.of_sorted(index.last_age, order))
    index.postings.delivered = {name: next(rest) for name in header.delivered}
    words = [next(rest) for _ in range(-(-len(header.openers) // 64))]
    ledger.open.load(len(messages), header.openers, header.counts, words, list(rest))
    messages.names.load(header.names)
    messages.head_values.load(header.heads)
    messages.odd_stamps = header.odd_stamps
    for at, text in header.late_subjects.items():
        messages.subjects[at] = text
    messages.number = header.number
    mailbox.duplicates, mailbox.problems = header.duplicates, header.problems
    mailbox._unreadable, mailbox._archived = header.unreadable, header.archived
    mailbox.roster.load(header.roster)
    mailbox._put_away = header.put_away
    mailbox._settled, mailbox._undone = header.settled, header.undone
    mailbox._journal = {it.id: it for it in JOURNAL.decode(header.journal)}
    mailbox._stepped_in = header.stepped_in
    index.forest.rings, index.strays = header.rings, header.strays
    index.postings.last_of_sender, index.postings.last_of_head = header.last_of_sender, header.last_of_head
    index.channel_mail.update(header.channel_mail)
    index.unseen_channel.update(header.unseen_channel)
    index.unseen_total, index.unseen_for_user = header.unseen_total, header.unseen_for_user
    ledger.open.together.update(((a, b), number) for a, b, number in header.together)
    ledger.open.sent.update(((at, sender, kind), number) for at, sender, kind, number in header.sent)
    ledger.open.types.update(((at, kind), number) for at, kind, number in header.types)
    for row, name, state in header.dead:
        ledger.mark_dead(row, name, state)
    for row, name in header.strange:
        ledger.estrange(row, name)
    ledger.expired.load(ledger.expired.marks)
    ledger.due = header.due
    return mailbox, header.position


def _read(file: BinaryIO, typecode: str, size: int) -> Any:
    if typecode == BYTES:
        data = bytearray(size)
        if file.readinto(data) != size:  # type: ignore[attr-defined]
            raise EOFError("cut short")
        return data
    found: array[Any] = array(typecode)
    found.fromfile(file, size)
    return found
