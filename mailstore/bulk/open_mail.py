"""Files many messages in the ledger at once: masks and times around the rules that file a single one."""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

from mailstore.bulk.threads import column, in_order
from mailstore.columns.messages import MessageHead, MessageTable
from mailstore.columns.postings import WORD, Name
from mailstore.records.address import ROLE, is_person, party
from mailstore.records.intervals import FOREVER
from mailstore.records.protocol import PERSON
from mailstore.records.roster import Roster
from mailstore.rules.audience import Recipient, Way, is_alive_for, longest_ttl, ways
from mailstore.rules.delivery import State, state_of_open
from mailstore.rules.outcome import end_of, is_dead_letter, is_open, may_be_suspended, readers_for
from mailstore.state.ledger import Ledger

FEWEST = 8
"""The fewest messages of one head that are filed together."""
MOST_READERS = 256
"""The most readers whose reads are kept as a column each."""
Mask = NDArray[np.bool_]
Rows = NDArray[np.integer]
Times = NDArray[np.float64]


class FilerOfMany:
    """Files the messages that share a head together, with the same result as `Ledger.file`."""

    def __init__(
        self, ledger: Ledger, messages: MessageTable, readers: array[int], read_rows: Rows, roster: Roster, user: str
    ) -> None:
        self._ledger = ledger
        self._messages = messages
        self._roster = roster
        self._user = user
        self._times = np.frombuffer(messages.times, np.float64)
        self._senders = np.frombuffer(messages.senders, np.uint32)
        self._read_names, order = in_order(np.frombuffer(readers, np.uint32))
        self._read_rows = read_rows[order]
        self._person = [number for number, name in enumerate(messages.names.values) if is_person(name, roster, user)]
        """The numbers of the names of the user."""
        self._read: dict[str, Mask] = {}
        self._due = np.full(len(messages), FOREVER)
        self._expired = np.zeros(len(messages), bool)
        self._opened: dict[Name, list[Rows]] = {}

    def file(self, head: MessageHead, rows: Rows, now: float) -> None:
        """File messages that share a head, none of which has a delivery record."""
        times, senders = self._times[rows], self._senders[rows]
        expiries = times + longest_ttl(head, self._roster, self._user)
        is_over = expiries <= now
        self._expired[rows] = is_over & (not head.archived)
        self._due[rows] = np.where(is_over, FOREVER, expiries)
        by_name: dict[str, list[Way]] = {}
        for way in ways(head, self._roster, self._user):
            by_name.setdefault(way.name, []).append(way)
        for several in by_name.values():
            ends = np.full(len(rows), -FOREVER)
            is_meant, is_direct = np.zeros(len(rows), bool), np.zeros(len(rows), bool)
            for way in several:
                until = times + way.ttl
                leads = self._leads(way, times, until, senders)
                np.maximum(ends, until, out=ends, where=leads)
                is_meant |= leads
                is_direct |= leads & way.is_direct
            for is_message in (False, True):
                chosen = is_meant & (is_direct == is_message)
                if chosen.any():
                    first = several[0]
                    one = Recipient(first.name, first.kind, FOREVER, is_message, first.role)
                    self._file_for(one, head, rows[chosen], ends[chosen], now)

    def _leads(self, way: Way, times: Times, until: Times, senders: NDArray[np.uint32]) -> Mask:
        """Say which messages a way leads to their recipient."""
        leads = np.ones(len(times), bool) if way.is_open_to_sender else self._not_sent_by(way.name, senders)
        if (agent := way.agent) is not None:
            born, died = agent.life()
            is_certain = (died >= times) & (born <= until)
            if self._roster.was_frozen(agent.session_id):
                for at in np.flatnonzero(~is_certain).tolist():
                    is_certain[at] = is_alive_for(agent, float(times[at]), float(until[at]), self._roster)
            leads &= is_certain
        return leads

    def _not_sent_by(self, name: str, senders: NDArray[np.uint32]) -> Mask:
        numbers = self._numbers(name)
        return ~np.isin(senders, numbers) if numbers else np.ones(len(senders), bool)

    def _numbers(self, name: str) -> list[int]:
        """Return the numbers of a name in the records; the user has several."""
        if name == PERSON:
            return self._person
        number = self._messages.names.known(name)
        return [] if number is None else [number]

    def _file_for(self, one: Recipient, head: MessageHead, rows: Rows, ends: Times, now: float) -> None:
        """File messages for one recipient, given the expiry of each."""
        unread = np.ones(len(rows), bool)
        for reader, is_any in readers_for(one, self._roster):
            read = self._was_read(reader)[rows]
            unread &= ~(read if is_any else read & self._not_sent_by(reader, self._senders[rows]))
        rows, ends = rows[unread], ends[unread]
        state = state_of_open(one, self._roster, is_tracked=head.is_tracked)
        if state is State.UNREAD:
            ends = self._suspended(one, rows, ends, now)
            is_over = now >= ends
            self._file_as(State.EXPIRED, one, head, rows[is_over], ends[is_over])
            rows, ends = rows[~is_over], ends[~is_over]
            self._due[rows] = np.minimum(self._due[rows], ends)
        self._file_as(state, one, head, rows, ends)

    def _suspended(self, one: Recipient, rows: Rows, ends: Times, now: float) -> Times:
        """Return when messages expire, given when those would whose TTL was never suspended."""
        if may_be_suspended(one, self._roster):
            for at in np.flatnonzero(now >= ends).tolist():
                ends[at] = end_of(one, float(self._times[rows[at]]), float(ends[at]), self._roster)
        return ends

    def _file_as(self, state: State, one: Recipient, head: MessageHead, rows: Rows, ends: Times) -> None:
        """File messages that have one state for a recipient."""
        if is_open(one, state):
            if not head.archived and len(rows):
                self._open(one, rows, ends)
        elif is_dead_letter(one, state):
            for row in rows.tolist():
                self._ledger.mark_dead(row, one.name, state)

    def _open(self, one: Recipient, rows: Rows, ends: Times) -> None:
        is_role = one.kind is ROLE
        self._opened.setdefault((is_role, one.role if is_role else one.name), []).append(rows)
        for holder in self._roster.holders(one.role) if is_role else ():
            session = holder.session_id
            is_certain = np.zeros(len(rows), bool)
            for start, end in self._roster.tenures(session, one.role):
                is_certain |= (start <= ends) & (end >= self._times[rows])
            for at in np.flatnonzero(~is_certain).tolist():
                row, end = int(rows[at]), float(ends[at])
                if not self._roster.is_own(session, one.role, float(self._times[row]), end):
                    self._ledger.mark_not_own(row, session)

    def _was_read(self, reader: str) -> Mask:
        known = self._read.get(reader)
        if known is None:
            known = np.zeros(len(self._times), bool)
            for number in self._numbers(reader):
                start, end = np.searchsorted(self._read_names, (number, number + 1))
                known[self._read_rows[start:end]] = True
            if len(self._read) >= MOST_READERS:
                self._read.clear()
            self._read[reader] = known
        return known

    def settle(self) -> None:
        """Write the results into the ledger."""
        self._ledger.expired.fill(bytearray(self._expired.tobytes()))
        self._ledger.due = [(float(self._due[row]), row) for row in np.flatnonzero(self._due < FOREVER).tolist()]
        self._ledger.due.sort()
        mail = self._ledger.open
        mail.grow(len(self._messages))
        heads = np.frombuffer(self._messages.heads, np.uint32)
        kinds = [head.type for head in self._messages.head_values.values]
        for name, parts in self._opened.items():
            rows = np.sort(np.concatenate(parts))
            at = mail.ordinal(name)
            mail.rows[at] = column("i", rows)
            mail.counts[at] = len(rows)
            word = np.frombuffer(mail.words[at // WORD], np.uint64)
            word[rows] |= np.uint64(1 << at % WORD)
            del word
            for head, number in zip(*np.unique(heads[rows], return_counts=True), strict=True):
                mail.count_types(at, kinds[int(head)], int(number))
            if name[0]:
                pairs = heads[rows].astype(np.int64) << 32 | self._senders[rows]
                for pair, number in zip(*np.unique(pairs, return_counts=True), strict=True):
                    sender = party(self._messages.names[int(pair) & 0xFFFF_FFFF], self._roster, self._user)
                    mail.count_sent(at, sender, kinds[int(pair) >> 32], int(number))
        self._count_together()

    def _count_together(self) -> None:
        """Count the messages that are open both for a role and for another name."""
        mail = self._ledger.open
        for at, (is_role, _) in enumerate(mail.names):
            if is_role:
                rows = np.array(mail.rows[at], np.int64)
                beside = np.zeros(len(rows), bool)
                for number, word in enumerate(mail.words):
                    own = np.uint64(1 << at % WORD if number == at // WORD else 0)
                    beside |= (np.array(word, np.uint64)[rows] & ~own) != 0
                mail.count_together(at, rows[beside].tolist())
