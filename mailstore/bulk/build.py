"""A mailbox filled with many records at once."""

from __future__ import annotations

from array import array
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from mailstore.bulk.gathered import Columns, Gathered, Reads, encoded
from mailstore.bulk.open_mail import FEWEST, FilerOfMany
from mailstore.bulk.threads import column, last_of_each, newest_of_each, previous_of_each, rings, roots
from mailstore.columns.ids import Ids
from mailstore.columns.messages import ABSENT, NONE, Messages
from mailstore.columns.strings import MOST, Strings
from mailstore.events import Event
from mailstore.index import channel_tags, is_for_user
from mailstore.mailbox import Mailbox
from mailstore.ranking import Ranking

__all__ = ["fill"]

Rows = NDArray[np.int32]


def fill(mailbox: Mailbox, gathered: Gathered, reads: Reads, now: float) -> list[Event]:
    """Fill a mailbox that knows the roster and no more; return the records that are left to fold one by one.

    What was gathered must be settled.
    """
    columns = gathered.columns()
    absent = {name: len(gathered.ids) + at for at, name in enumerate(_absent(gathered, columns.parents, reads))}
    _fill_table(mailbox._messages, gathered, columns, absent)
    _fill_receipts(mailbox, reads, absent)
    _fill_threads(mailbox)
    _fill_postings(mailbox)
    _fill_counts(mailbox)
    _fill_ledger(mailbox, now)
    return [*gathered.events, *reads.events]


def settle(gathered: Gathered) -> None:
    """Leave to the fold what only it can decide: ids that come twice, and rings of replies."""
    if twice := gathered.duplicates():
        gathered.leave(twice)
    if len(on_ring := rings(gathered.columns().parents)):
        gathered.leave(on_ring.tolist())


def _absent(gathered: Gathered, parents: Rows, reads: Reads) -> dict[str, None]:
    """Return the ids that others name and of which no message was gathered."""
    answered = (name for place, name in gathered.unresolved.items() if parents[place] == NONE)
    return dict.fromkeys((*answered, *reads.strangers.values()))


def _fill_ids(ids: Ids, names: list[str]) -> None:
    parts = encoded(names)
    hashes = np.fromiter(map(crc32, parts), np.uint32, len(parts))
    order = np.argsort(hashes, kind="stable")
    ids.load(_strings(parts), column("I", hashes[order]), column("i", order))


def _strings(parts: list[bytes]) -> Strings:
    found = Strings()
    ends = np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)))
    found.load(bytearray().join(parts), _ends(ends))
    return found


def _ends(ends: NDArray[np.int64]) -> array[int]:
    return column("I" if not len(ends) or ends[-1] <= MOST else "Q", ends)


def _fill_table(table: Messages, gathered: Gathered, columns: Columns, absent: dict[str, int]) -> None:
    missing = len(absent)
    parents = columns.parents
    for place, name in gathered.unresolved.items():
        if parents[place] == NONE:
            parents[place] = absent[name]
    _fill_ids(table.ids, [*gathered.ids, *absent])
    table.parents = column("i", np.append(parents, np.full(missing, NONE)))
    table.heads = column("I", np.append(columns.heads, np.full(missing, ABSENT)))
    table.senders = column("I", np.append(columns.senders, np.zeros(missing)))
    table.times = column("d", np.append(columns.times, np.zeros(missing)))
    table.offsets = column("q", np.append(columns.offsets, np.zeros(missing)))
    table.lengths = column("Q", np.append(columns.lengths, np.zeros(missing)))
    ends = np.append(columns.subject_ends, np.full(missing, len(gathered.subjects)))
    table.subjects.load(gathered.subjects, _ends(ends))
    table.odd_stamps = gathered.odd_stamps
    table.number = len(gathered.ids)


def _fill_receipts(mailbox: Mailbox, reads: Reads, absent: dict[str, int]) -> None:
    receipts, number = mailbox._receipts, len(mailbox._messages)
    rows, names, times = reads.columns()
    for place, name in reads.strangers.items():
        rows[place] = absent[name]
    places, times = _first_and_least(rows.astype(np.int64) << 32 | names, times)
    rows, names = rows[places], names[places]
    before, sorted_places = previous_of_each(rows)
    owners, last = last_of_each(rows, sorted_places)
    first = np.full(number, NONE, np.int32)
    first[owners] = last
    receipts.first, receipts.following = column("i", first), column("i", before)
    receipts.names, receipts.times = column("I", names), column("d", times)
    mailbox._deliveries.first = column("i", np.full(number, NONE, np.int32))
    table = mailbox._messages
    told = [head for head, value in enumerate(table.head_values.values) if value.read_by]
    for row in np.flatnonzero(np.isin(np.array(table.heads, np.uint32), told)).tolist() if told else ():
        for reader in table.head(row).read_by:
            number = table.names.number(reader)
            if receipts.find(row, number) == NONE:
                receipts.add(row, number)


def _first_and_least(
    keys: NDArray[np.int64], times: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the places at which keys come first, in order, and the least time of each."""
    order = np.argsort(keys, kind="stable")
    is_new = np.ones(len(keys), bool)
    is_new[1:] = keys[order][1:] != keys[order][:-1]
    if is_new.all():
        return np.arange(len(keys)), times
    starts = np.flatnonzero(is_new)
    least = np.minimum.reduceat(times[order], starts)
    first = order[starts]
    by_place = np.argsort(first)
    return first[by_place], least[by_place]


def _fill_threads(mailbox: Mailbox) -> None:
    table, index = mailbox._messages, mailbox._index
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
    found, newest = newest_of_each(tops[there], times[there], lambda at: table.ids[int(there[at])])
    latest[found] = there[newest]
    index.sizes, index.latest = column("i", np.bincount(tops[there], minlength=size)), column("i", latest)
    table.load_order(column("i", there[np.argsort(times[there], kind="stable")]))
    archived = np.array([head.archived for head in table.head_values.values], bool)
    own = table.names.known(mailbox.user)
    heads, senders = np.array(table.heads, np.uint32)[there], np.array(table.senders, np.uint32)[there]
    is_unseen = ~archived[heads] & (senders != (-1 if own is None else own))
    index.unseen = column("i", np.bincount(tops[there][is_unseen], minlength=size))
    mailbox._archived = int(archived[heads].sum())
    ordered = found[np.argsort(times[latest[found]], kind="stable")]
    index.load_order(Ranking.of_sorted(index.last_time, column("i", ordered)))


def _fill_postings(mailbox: Mailbox) -> None:
    table, postings = mailbox._messages, mailbox._index.postings
    there = np.flatnonzero(np.array(table.heads, np.uint32) != ABSENT)
    for keys, name in ((np.array(table.senders, np.uint32), "sender"), (np.array(table.heads, np.uint32), "head")):
        before, order = previous_of_each(keys[there])
        linked = np.full(len(keys), NONE, np.int32)
        linked[there] = np.where(before == NONE, NONE, there[before]) if len(there) else before
        owners, last = last_of_each(keys[there], order)
        setattr(postings, f"by_{name}", column("i", linked))
        setattr(postings, f"last_of_{name}", dict(zip(owners.tolist(), there[last].tolist(), strict=True)))


def _fill_counts(mailbox: Mailbox) -> None:
    """Count what is unseen, and how much mail the channels have."""
    table, index = mailbox._messages, mailbox._index
    own = table.names.known(mailbox.user)
    heads, senders = np.array(table.heads, np.uint32), np.array(table.senders, np.uint32)
    values = table.head_values.values
    mail = np.bincount(heads, minlength=len(values)).tolist()
    foreign = np.bincount(heads[senders != (-1 if own is None else own)], minlength=len(values)).tolist()
    for number, head in enumerate(values):
        if number == ABSENT or not mail[number]:
            continue
        unseen = 0 if head.archived else foreign[number]
        index.unseen_total += unseen
        index.unseen_for_user += unseen if is_for_user(head, mailbox.user) else 0
        for tag in channel_tags(head):
            index.channel_mail[tag] += mail[number]
            index.unseen_channel[tag] += unseen


def _fill_ledger(mailbox: Mailbox, now: float) -> None:
    table = mailbox._messages
    mailbox._ledger.open.grow(len(table))
    filer = FilerOfMany(mailbox._ledger, table, mailbox._receipts, mailbox.roster, mailbox.user)
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
    for row in sorted(few):
        mailbox._file(row, now)
