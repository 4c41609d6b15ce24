"""Counts a mailbox's traffic from its columns, a few thousand messages at a step."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from mailstore.columns.messages import ABSENT, NONE
from mailstore.columns.strings import InternTable
from mailstore.overview.arrays import bars_at, together
from mailstore.overview.bars import TimeBars
from mailstore.overview.figures import Traffic, picture_of
from mailstore.overview.picture import TrafficPicture
from mailstore.records.address import is_channel, party, resolve
from mailstore.state.mailbox import Mailbox
from mailstore.state.message_queries import check_current
from mailstore.steps import BackgroundWork, Steps, at_once

if TYPE_CHECKING:
    from mailstore.overview.arrays import Bools, Floats, Ints

CHUNK = 1 << 15
LISTS = 256
BarsOf = Callable[[float], TimeBars]
"""Return the bars, given the time of the oldest message."""
PER_STEP = 512
Spellings = dict[str, tuple[str, ...]]


def traffic_picture(
    mailbox: Mailbox, now: float, bars_of: BarsOf, only: Collection[str] | None = None
) -> TrafficPicture:
    """Return the traffic of a mailbox, on request that of some messages only, by their ids; blocks."""
    [picture] = at_once(traffic_steps(mailbox, now, bars_of, only))
    return picture


def traffic_steps(
    mailbox: Mailbox, now: float, bars_of: BarsOf, only: Collection[str] | None = None
) -> Steps[TrafficPicture]:
    """Like `traffic_picture`, in steps. Raises MailboxReloaded."""
    counter = _Counter(mailbox, only)
    yield from counter.number()
    yield from counter.find_first()
    bars = bars_of(counter.first if counter.first is not None else now)
    yield from counter.count(bars)
    lists = []
    for addressed in counter.heads.addressed(mailbox, counter.parties):
        lists.append(addressed)
        if len(lists) % LISTS == 0:
            yield None
    drawing = BackgroundWork(lambda: picture_of(counter.traffic(bars, lists), now))
    yield drawing
    yield drawing.found()


class _Counter:
    """Collects arrays of the records within some bars; the columns, which grow, are copied a chunk at a time."""

    def __init__(self, mailbox: Mailbox, only: Collection[str] | None) -> None:
        self._mailbox = mailbox
        self._messages = mailbox.contents.messages
        self._size = len(self._messages)
        self._leads = self._messages.ids.leads
        self._has_copies = bool(self._leads)
        self._only: Bools | None = None
        if only is not None:
            self._only = np.zeros(self._size, bool)
            self._only[[row for it in only if (row := mailbox.contents.row(it)) is not None and row < self._size]] = (
                True
            )
        self.parties, self.heads = Parties(), HeadTable()
        self.first: float | None = None
        self._parts: dict[str, list[Ints | Floats]] = {}
        self._undated = self._later = 0

    def number(self) -> Iterator[None]:
        """Number parties and heads."""
        yield from self.parties.number(self._mailbox)
        yield from self.heads.extend(self._mailbox)
        self._party_of = np.array(self.parties.of_name or [0], np.int64)  # records may name ids before any names
        self._timed = np.array(self.heads.timed, bool)
        self._lists = np.array(self.heads.lists, np.int64)

    def _chunks(self) -> Iterator[tuple[int, int]]:
        for start in range(0, self._size, CHUNK):
            check_current(self._mailbox.contents, self._messages)
            yield start, min(self._size, start + CHUNK)

    def _heads(self, start: int, end: int) -> Ints:
        """Return the heads of some rows; a head that came meanwhile counts as absent."""
        heads = np.array(self._messages.heads[start:end], np.int64)
        heads[heads >= len(self._timed)] = ABSENT
        if self._only is not None:
            heads[~self._only[start:end]] = ABSENT
        return heads

    def _times(self, start: int, end: int, heads: Ints) -> Floats:
        """Return the times of some rows, NaN where there is no message or its time is unknown."""
        times = np.array(self._messages.times[start:end], np.float64)
        times[~self._timed[heads] | ~np.isfinite(times)] = np.nan
        return times

    def _senders(self, start: int, end: int) -> Ints:
        senders = np.array(self._messages.senders[start:end], np.int64)
        return self._party_of[np.minimum(senders, len(self._party_of) - 1)]

    def find_first(self) -> Iterator[None]:
        """Find the time of the oldest message."""
        for start, end in self._chunks():
            times = self._times(start, end, self._heads(start, end))
            if not np.isnan(times).all():
                first = float(np.nanmin(times))
                self.first = first if self.first is None else min(self.first, first)
            yield None

    def count(self, bars: TimeBars) -> Iterator[None]:
        """Collect what was sent, read and answered within the bars."""
        wanted = np.zeros(self._size, bool)
        for start, end in self._chunks():
            self._sent(start, end, bars)
            yield None
            self._replies(start, end, bars, wanted)
            yield None
            yield from self._reads(start, end)
        if self.first is not None and self.first < bars.start:
            for start, end in self._chunks():
                self._earlier_replies(start, end, bars, wanted)
                yield None

    def _keep(self, name: str, *columns: Ints | Floats) -> None:
        for at, column in enumerate(columns):
            self._parts.setdefault(f"{name}{at}", []).append(column)

    def _sent(self, start: int, end: int, bars: TimeBars) -> None:
        heads = self._heads(start, end)
        times = self._times(start, end, heads)
        at = bars_at(times, bars)
        inside = at >= 0
        self._keep("sent", self._senders(start, end)[inside], at[inside], self._lists[heads[inside]])
        self._undated += int((np.isnan(times) & (heads != ABSENT)).sum())
        with np.errstate(invalid="ignore"):
            self._later += int((times >= bars.end).sum())

    def _answered(self, start: int, end: int) -> tuple[Ints, Ints, Floats, Floats]:
        """Return the replies to others among some rows: the message answered, by whom, when, and when that was sent."""
        parents = self._leading(np.array(self._messages.parents[start:end], np.int64))
        times = self._times(start, end, self._heads(start, end))
        rows = np.flatnonzero((parents != NONE) & (parents < self._size) & ~np.isnan(times))
        parents = parents[rows]
        if not len(rows):
            return parents, parents, times[rows], times[rows]
        heads = self._taken(self._messages.heads, parents).astype(np.int64)
        heads[heads >= len(self._timed)] = ABSENT
        asked = self._taken(self._messages.times, parents)
        askers = self._party_of[np.minimum(self._taken(self._messages.senders, parents), len(self._party_of) - 1)]
        by = self._senders(start, end)[rows]
        is_answer = self._timed[heads] & np.isfinite(asked) & (askers != by)
        return parents[is_answer], by[is_answer], times[rows][is_answer], asked[is_answer]

    def _replies(self, start: int, end: int, bars: TimeBars, wanted: Bools) -> None:
        parents, by, times, asked = self._answered(start, end)
        inside = bars_at(times, bars) >= 0
        wanted[parents[inside]] = True
        self._keep("answer", *(each[inside] for each in (parents, by, times, asked)))

    def _earlier_replies(self, start: int, end: int, bars: TimeBars, wanted: Bools) -> None:
        """Collect the answers from before the bars: later ones by the same party are no first answers."""
        parents, by, times, asked = self._answered(start, end)
        kept = (times < bars.start) & wanted[parents]
        self._keep("answer", *(each[kept] for each in (parents, by, times, asked)))

    def _reads(self, start: int, end: int) -> Iterator[None]:
        """Collect the read records of some rows, one of each row at a time."""
        reads = self._mailbox.contents.receipts.reads
        entries = np.array(reads.first[start:end], np.int64)
        rows = np.flatnonzero(entries != NONE)
        entries, rows = entries[rows], rows + start
        while len(rows):
            check_current(self._mailbox.contents, self._messages)
            messages = self._leading(rows)
            heads = self._taken(self._messages.heads, messages).astype(np.int64)
            heads[heads >= len(self._timed)] = ABSENT
            if self._only is not None:
                heads[~self._only[messages]] = ABSENT
            sent = self._taken(self._messages.times, messages)
            sent[~self._timed[heads] | ~np.isfinite(sent)] = np.nan
            names = np.minimum(self._taken(reads.names, entries), len(self._party_of) - 1)
            there = heads != ABSENT
            columns = messages, self._party_of[names], self._taken(reads.times, entries), sent
            self._keep("read", *(column[there] for column in columns))
            entries = self._taken(reads.following, entries).astype(np.int64)
            more = entries != NONE
            rows, entries = rows[more], entries[more]
            yield None

    def _taken(self, column: array[int] | array[float], at: Ints) -> Ints | Floats:
        """Return the values of a column at some places; the column must not be held, or it can't grow."""
        return np.frombuffer(column, column.typecode)[at]

    def _leading(self, rows: Ints) -> Ints:
        """Return for each row the one that holds its message."""
        leads = self._leads
        return np.array([leads.get(row, row) for row in rows.tolist()], np.int64) if leads else rows

    def traffic(self, bars: TimeBars, lists: list[tuple[tuple[int, ...], tuple[str, ...]]]) -> Traffic:
        """Return what was collected; touches no mailbox."""

        def kept(name: str) -> Any:
            return together(self._parts.get(name, []))

        as_sender, as_address = self.parties.spellings()
        return Traffic(
            bars=bars,
            names=tuple(self.parties.names.values),
            may_repeat=self._has_copies or len(set(self._party_of.tolist())) < len(self._party_of),
            lists=tuple(lists),
            sent=(kept("sent0"), kept("sent1"), kept("sent2")),
            reads=(kept("read0"), kept("read1"), kept("read2"), kept("read3")),
            answers=(kept("answer0"), kept("answer1"), kept("answer2"), kept("answer3")),
            undated=self._undated,
            later=self._later,
            as_sender=as_sender,
            as_address=as_address,
        )


class Parties:
    """Parties by number; all names of the user are one, and so are all spellings of an address."""

    def __init__(self) -> None:
        self.names: InternTable[str] = InternTable()
        self.of_name = array("i")
        """The party of each name in records."""
        self._as_sender: dict[str, dict[str, None]] = {}
        self._as_address: dict[str, dict[str, None]] = {}

    def number(self, mailbox: Mailbox) -> Iterator[None]:
        """Number the parties of all names in records, some at a step."""
        names = mailbox.contents.messages.names.values
        for at in range(len(self.of_name), len(names)):
            name = party(names[at], mailbox.roster, mailbox.user)
            self._as_sender.setdefault(name, {})[names[at]] = None
            self.of_name.append(self.names.number(name))
            if at % PER_STEP == 0:
                yield None

    def address(self, mailbox: Mailbox, text: str) -> int:
        """Return the party that an address means."""
        name = resolve(text, mailbox.roster, mailbox.user).name
        self._as_address.setdefault(name, {})[text] = None
        return self.names.number(name)

    def spellings(self) -> tuple[Spellings, Spellings]:
        """Return how parties are written as senders and in addresses, where that is not just by their name."""
        return _other(self._as_sender), _other(self._as_address)


def _other(spelled: dict[str, dict[str, None]]) -> Spellings:
    return {name: tuple(texts) for name, texts in spelled.items() if list(texts) != [name]}


class HeadTable:
    """For each head that messages share: whether its time is known, and the list of recipients by number."""

    def __init__(self) -> None:
        self.timed = array("b")
        self.lists = array("i")
        self._recipients: InternTable[tuple[str, ...]] = InternTable()

    def extend(self, mailbox: Mailbox) -> Iterator[None]:
        """Add the heads that are new, some at a step. Raises MailboxReloaded."""
        messages = mailbox.contents.messages
        heads = messages.head_values.values
        for at in range(len(self.timed), len(heads)):
            head = heads[at]
            self.timed.append(at != ABSENT and head.timed)
            self.lists.append(self._recipients.number(head.recipients))
            if at % PER_STEP == 0:
                yield None
                check_current(mailbox.contents, messages)

    def addressed(self, mailbox: Mailbox, parties: Parties) -> Iterator[tuple[tuple[int, ...], tuple[str, ...]]]:
        """Yield for each list of recipients the parties and the channels in it, each once."""
        for texts in self._recipients.values:
            found = dict.fromkeys(parties.address(mailbox, text) for text in texts)
            yield tuple(found), tuple(dict.fromkeys(text for text in texts if is_channel(text)))
