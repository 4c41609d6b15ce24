"""Fills a mailbox with many records at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mailstore.bulk.column_buffer import MessageBuffer, ReadBuffer
from mailstore.bulk.keys import NO_KEY, KeyIndex, PackedTexts, texts_at
from mailstore.bulk.open_mail import FEWEST, FilerOfMany
from mailstore.bulk.parts import MailColumns, ReadColumns
from mailstore.bulk.threads import (
    by_age,
    column,
    in_order,
    last_of_each,
    newest_of_each,
    previous_of_each,
    rings,
    roots,
)
from mailstore.columns.messages import ABSENT, NONE, MessageTable
from mailstore.columns.strings import MOST, IdColumn, StringColumn, checksum
from mailstore.records.address import is_person
from mailstore.rules.unread import is_for_user, never_unseen
from mailstore.state.contents import MailboxContents
from mailstore.state.filing import Filing

Rows = NDArray[np.int32]
Mask = NDArray[np.bool_]


class KeyCollision(Exception):
    """Two ids have the same key, so that keys can't stand for ids."""


def fill_mail(contents: MailboxContents, buffer: MessageBuffer) -> KeyIndex:
    """Fill a mailbox that holds only a roster with messages; return the row of each key. Raises KeyCollision."""
    keys, parents = _settle(buffer)
    columns, table = buffer.columns(), contents.messages
    _fill_table(table, columns)
    table.odd_stamps = buffer.odd_stamps
    _name_missing(table, parents, columns.parents, buffer.answered_by)
    table.parents[: len(parents)] = column("i", parents)
    _fill_threads(contents)
    _fill_postings(contents)
    _fill_counts(contents)
    return keys


def fill_reads(contents: MailboxContents, keys: KeyIndex, reads: ReadBuffer, now: float) -> None:
    """Fill a mailbox that holds its messages with their read records."""
    records = reads.columns()
    rows = keys.find(records.keys)
    _name_missing(contents.messages, rows, records.keys, reads.id_at)
    contents.index.grow(len(contents.messages))
    _fill_ledger(contents, _fill_receipts(contents, rows, records), now)


def _settle(buffer: MessageBuffer) -> tuple[KeyIndex, Rows]:
    """Leave to the fold what only it can decide: repeated ids, and cycles of replies.

    Return the rows of the other messages, and the row of each one's parent.
    """
    columns = buffer.columns()
    keys = KeyIndex(columns.keys)
    if not keys.are_unique:
        first = keys.find(columns.keys)
        again = np.flatnonzero(first != np.arange(len(first)))
        ids = PackedTexts(columns.ids, columns.id_sizes)
        if texts_at(ids, first[again].tolist()) != texts_at(ids, again.tolist()):
            raise KeyCollision("two ids have one key")
        return _without(buffer, again)
    parents = keys.find(columns.parents)
    on_ring = rings(parents)
    return _without(buffer, on_ring) if len(on_ring) else (keys, parents)


def _without(buffer: MessageBuffer, places: NDArray[np.int64]) -> tuple[KeyIndex, Rows]:
    buffer.leave(places.tolist())
    return _settle(buffer)


def _name_missing(table: MessageTable, rows: Rows, keys: NDArray[np.uint64], id_at: Callable[[int], str]) -> None:
    """Make rows for ids that are only named; equal keys stand for the same id."""
    missing = np.flatnonzero((rows == NONE) & (keys != NO_KEY))
    if len(missing):
        _, first, which = np.unique(keys[missing], return_index=True, return_inverse=True)
        rows[missing] = np.array([table.row(id_at(int(at))) for at in missing[first]], np.int32)[which]
        ids = table.ids
        fresh = range(len(ids.rows), len(ids))
        hashes = np.array([checksum(ids[row]) for row in fresh], np.uint32)
        _load_ids(ids, ids.texts, np.append(np.array(ids.hashes), hashes), np.append(np.array(ids.rows), fresh))


def _load_ids(ids: IdColumn, texts: StringColumn, hashes: NDArray[np.uint32], rows: Rows) -> None:
    ordered, order = in_order(hashes)
    ids.fill(texts, column("I", ordered), column("i", rows[order]))


def _fill_table(table: MessageTable, columns: MailColumns) -> None:
    number = len(columns.keys)
    _load_ids(table.ids, _strings(columns.ids, columns.id_sizes), columns.hashes, np.arange(number, dtype=np.int32))
    table.subjects = _strings(columns.subjects, columns.subject_sizes)
    table.heads, table.senders = column("I", columns.heads), column("I", columns.senders)
    table.times, table.parents = column("d", columns.times), column("i", np.full(number, NONE))
    table.offsets, table.lengths = column("q", columns.offsets), column("Q", columns.lengths)
    table.number = number


def _strings(cells: NDArray[np.uint8], sizes: NDArray[np.number]) -> StringColumn:
    strings, ends = StringColumn(), np.cumsum(sizes, dtype=np.int64)
    typecode = "I" if not len(ends) or ends[-1] <= MOST else "Q"
    strings.fill(bytearray(cells), column(typecode, ends))
    return strings


def _fill_receipts(contents: MailboxContents, rows: Rows, records: ReadColumns) -> Rows:
    """Fill the read records; return the row of each."""
    receipts, number = contents.receipts.reads, len(contents.messages)
    pairs = rows.astype(np.int64) * (len(contents.messages.names) + 1) + records.readers
    places, times = _first_and_least(pairs, records.times)
    rows, names = rows[places], records.readers[places]
    before, sorted_places = previous_of_each(rows)
    owners, last = last_of_each(rows, sorted_places)
    first = np.full(number, NONE, np.int32)
    first[owners] = last
    receipts.first, receipts.following = column("i", first), column("i", before)
    receipts.names, receipts.times = column("I", names), column("d", times)
    contents.receipts.deliveries.first = column("i", np.full(number, NONE, np.int32))
    table = contents.messages
    added: list[int] = []
    listing = [head for head, value in enumerate(table.head_values.values) if value.read_by]
    for row in np.flatnonzero(np.isin(np.array(table.heads, np.uint32), listing)).tolist() if listing else ():
        for reader in table.head(row).read_by:
            number = table.names.number(reader)
            if receipts.find(row, number) == NONE:
                receipts.add(row, number)
                added.append(row)
    return np.append(rows, np.array(added, np.int32))


def _first_and_least(
    keys: NDArray[np.int64], times: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the positions at which keys occur first, in order, and the earliest time of each."""
    ordered, order = in_order(keys)
    is_new = np.ones(len(keys), bool)
    is_new[1:] = ordered[1:] != ordered[:-1]
    if is_new.all():
        return np.arange(len(keys)), times
    starts = np.flatnonzero(is_new)
    least = np.minimum.reduceat(times[order], starts)
    first = order[starts]
    by_place = np.argsort(first)
    return first[by_place], least[by_place]


def _fill_threads(contents: MailboxContents) -> None:
    table, index = contents.messages, contents.index
    parents = np.array(table.parents, np.int32)
    size, tops = len(parents), roots(parents)
    forest, hung = index.forest, np.flatnonzero(parents != NONE)
    forest.parents = column("i", parents)
    forest.ups = column("i", np.where(parents == NONE, NONE, tops))
    siblings, children = np.full(size, NONE, np.int32), np.full(size, NONE, np.int32)
    before, order = previous_of_each(parents[hung])
    siblings[hung] = np.where(before == NONE, NONE, hung[before]) if len(hung) else before
    owners, last = last_of_each(parents[hung], order)
    children[owners] = hung[last]
    forest.siblings, forest.children = column("i", siblings), column("i", children)
    there = np.flatnonzero(np.array(table.heads, np.uint32) != ABSENT)
    times = np.array(table.times)
    latest = np.full(size, NONE, np.int32)
    heads = np.array(table.heads, np.uint32)[there]
    files = [head.file or "" for head in table.head_values.values]
    number_of = {name: number for number, name in enumerate(sorted(set(files)))}
    numbers = np.array([number_of[name] for name in files], np.uint32)
    order = by_age(times[there], np.array(table.offsets, np.int64)[there], numbers[heads])
    flags, newest = newest_of_each(tops[there], order)
    latest[flags] = there[newest]
    index.sizes, index.latest = column("i", np.bincount(tops[there], minlength=size)), column("i", latest)
    table.fill_order(column("i", there[order]))
    archived = np.array([head.archived for head in table.head_values.values], bool)
    is_unseen = ~never_unseen(archived[heads], _own(contents)[there])
    index.unseen = column("i", np.bincount(tops[there][is_unseen], minlength=size))
    index.archived = int(archived[heads].sum())
    place = np.empty(size, np.int64)
    place[there[order]] = np.arange(len(order))
    ordered = flags[np.argsort(place[latest[flags]])]
    index.fill_order(column("i", ordered))


def _fill_postings(contents: MailboxContents) -> None:
    table, postings = contents.messages, contents.index.postings
    there = np.flatnonzero(np.array(table.heads, np.uint32) != ABSENT)
    for keys, name in ((np.array(table.senders, np.uint32), "sender"), (np.array(table.heads, np.uint32), "head")):
        before, order = previous_of_each(keys[there])
        linked = np.full(len(keys), NONE, np.int32)
        linked[there] = np.where(before == NONE, NONE, there[before]) if len(there) else before
        owners, last = last_of_each(keys[there], order)
        setattr(postings, f"by_{name}", column("i", linked))
        setattr(postings, f"last_of_{name}", dict(zip(owners.tolist(), there[last].tolist(), strict=True)))


def _fill_counts(contents: MailboxContents) -> None:
    """Count unseen messages, and the messages of channels."""
    table, index = contents.messages, contents.index
    heads = np.array(table.heads, np.uint32)
    values = table.head_values.values
    mail = np.bincount(heads, minlength=len(values)).tolist()
    archived = np.array([head.archived for head in values], bool)
    is_unseen = ~never_unseen(archived[heads], _own(contents))
    unseen = np.bincount(heads[is_unseen], minlength=len(values)).tolist()
    for number, head in enumerate(values):
        if number == ABSENT or not mail[number]:
            continue
        index.unseen_total += unseen[number]
        index.unseen_for_user += unseen[number] if is_for_user(head, contents.roster, contents.user) else 0
        for tag in head.channels():
            index.channels.messages[tag] += mail[number]
            index.channels.unseen[tag] += unseen[number]


def _own(contents: MailboxContents) -> Mask:
    """Return which rows hold messages of the user."""
    table = contents.messages
    own = [at for at, name in enumerate(table.names.values) if is_person(name, contents.roster, contents.user)]
    return np.isin(np.array(table.senders, np.uint32), np.array(own, np.uint32))


def _fill_ledger(contents: MailboxContents, read_rows: Rows, now: float) -> None:
    table = contents.messages
    contents.ledger.open.grow(len(table))
    filer = FilerOfMany(
        contents.ledger, table, contents.receipts.reads.names, read_rows, contents.roster, contents.user
    )
    heads = np.array(table.heads, np.uint32)
    order = np.argsort(heads, kind="stable")
    starts = np.searchsorted(heads[order], np.arange(len(table.head_values) + 1))
    few: list[int] = []
    for number, head in enumerate(table.head_values.values):
        rows = order[starts[number] : starts[number + 1]]
        if number == ABSENT or not len(rows):
            continue
        if len(rows) < FEWEST:
            few += rows.tolist()
        else:
            filer.file(head, rows, now)
    filer.settle()
    del filer
    filing = Filing(contents)
    for row in sorted(few):
        filing.file(row, table[row], now)
