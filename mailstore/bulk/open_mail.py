"""Who has what to read, of many messages at once (semantics: what becomes of a message)."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from mailstore.address import Address, Kind, is_person, party, resolve
from mailstore.bulk.threads import column, in_order
from mailstore.columns.messages import Head, Messages
from mailstore.columns.open_mail import WORD, Name
from mailstore.delivery import FOREVER, State, expiry_of
from mailstore.ledger import FROZEN_CHECK_SECONDS, Ledger
from mailstore.protocol import PERSON
from mailstore.roster import Agent, Roster, Status

__all__ = ["FilerOfMany"]

FEWEST = 8
"""Of messages that share a head: fewer are filed one by one."""
MOST_READERS = 256
"""Readers whose reads are kept as a column each."""
Mask = NDArray[np.bool_]
Rows = NDArray[np.integer]
Times = NDArray[np.float64]


class FilerOfMany:
    """Files messages in the ledger as it files one, for all that share a head together."""

    def __init__(
        self, ledger: Ledger, messages: Messages, readers: array[int], read_rows: Rows, roster: Roster, user: str
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
        """The names of the person, as numbers."""
        self._read: dict[str, Mask] = {}
        self._due = np.full(len(messages), FOREVER)
        self._expired = np.zeros(len(messages), bool)
        self._opened: dict[Name, list[Rows]] = {}

    def file(self, head: Head, rows: Rows, now: float) -> None:
        """File messages that share a head, none of which has a delivery record."""
        times, senders = self._times[rows], self._senders[rows]
        expiries = self._message_expiry(head, times)
        is_over = expiries <= now
        self._expired[rows] = is_over & (not head.archived)
        self._due[rows] = np.where(is_over, FOREVER, expiries)
        claimed: dict[str, Mask] = {}
        for name, kind, ends, is_meant, is_addressed in self._recipients(head, times, senders, expiries):
            before = claimed.get(name)
            fresh = is_meant if before is None else is_meant & ~before
            claimed[name] = is_meant if before is None else before | is_meant
            if fresh.any():
                self._file_for(name, kind, head, rows[fresh], ends[fresh], is_addressed, now)

    def _message_expiry(self, head: Head, times: Times) -> Times:
        found = [self._expiry(head, resolve(text, self._roster, self._user).kind, times) for text in head.recipients]
        return np.maximum.reduce(found) if found else np.full(len(times), FOREVER)

    def _expiry(self, head: Head, kind: Kind, times: Times) -> Times:
        ends: Times = times + expiry_of(0.0, head.ttl_hours, head.timed, kind)
        return ends

    def _recipients(
        self, head: Head, times: Times, senders: NDArray[np.uint32], expiries: Times
    ) -> Iterator[tuple[str, Kind, Times, Mask, bool]]:
        """Yield everyone whom any of the messages is for: name, kind of address, expiry, which ones, and how."""
        everyone = np.ones(len(times), bool)
        for text in head.recipients:
            address = resolve(text, self._roster, self._user)
            ends = self._expiry(head, address.kind, times)
            if address.kind in (Kind.TAG, Kind.BROADCAST):
                for agent in () if head.is_listed else self._audience(address):
                    is_meant = overlaps(agent, times, ends) & self._not_sent_by(agent.session_id, senders)
                    yield agent.session_id, address.kind, ends, is_meant, True
            else:
                is_meant = everyone if address.kind is Kind.ROLE else self._not_sent_by(address.name, senders)
                yield address.name, address.kind, ends, is_meant, True
        for text in head.mentions:
            address = resolve(text, self._roster, self._user)
            if address.kind is Kind.USER:
                yield address.name, Kind.DIRECT, expiries, self._not_sent_by(PERSON, senders), False
            for agent in self._mentioned(address):
                is_meant = overlaps(agent, times, expiries) & self._not_sent_by(agent.session_id, senders)
                yield agent.session_id, Kind.DIRECT, expiries, is_meant, False

    def _audience(self, address: Address) -> list[Agent]:
        if address.kind is Kind.TAG:
            return self._roster.bearers(address.name)
        start = "" if address.name == "all" else address.name.removesuffix("all")
        return [it for it in self._roster if it.status is not Status.FROZEN and it.session_id.startswith(start)]

    def _mentioned(self, address: Address) -> list[Agent]:
        if address.kind is Kind.ROLE:
            return self._roster.holders(address.name)
        agent = self._roster.get(address.name) if address.kind is Kind.DIRECT else None
        return [agent] if agent else []

    def _not_sent_by(self, name: str, senders: NDArray[np.uint32]) -> Mask:
        numbers = self._numbers(name)
        return ~np.isin(senders, numbers) if numbers else np.ones(len(senders), bool)

    def _numbers(self, name: str) -> list[int]:
        """Return the numbers under which a name stands in records: the person's are several."""
        if name == PERSON:
            return self._person
        number = self._messages.names.known(name)
        return [] if number is None else [number]

    def _file_for(
        self, name: str, kind: Kind, head: Head, rows: Rows, ends: Times, is_addressed: bool, now: float
    ) -> None:
        roster, is_role = self._roster, kind is Kind.ROLE
        is_agent = not is_role and name != PERSON
        agent = roster.get(name) if is_agent else None
        holders = roster.holders(name) if is_role else []
        for reader in (name, *roster.held(name)) if is_role else (name,):
            unread = ~self._was_read(reader)[rows]
            rows, ends = rows[unread], ends[unread]
        if kind in (Kind.UNKNOWN, Kind.LITERAL):
            self._bury(rows, name, State.UNKNOWN, kind, is_addressed)
        elif is_role and not (holders and head.is_tracked):
            self._open(head, (True, name), rows)
        elif not head.is_tracked:
            return
        elif _are_frozen(holders or [agent]):
            self._open(head, (is_role, name), rows)
        elif is_agent and agent is None:
            self._bury(rows, name, State.UNKNOWN, kind, is_addressed)
        elif agent is not None and agent.status is Status.DEAD:
            self._bury(rows, name, State.DEAD, kind, is_addressed)
        else:
            is_over = now >= ends
            if agent is not None and roster.was_frozen(name):
                for at in np.flatnonzero(is_over).tolist():
                    frozen = roster.frozen_seconds(name, float(self._times[rows[at]]), now)
                    is_over[at] = now >= ends[at] + frozen
            self._bury(rows[is_over], name, State.EXPIRED, kind, is_addressed)
            rows, ends = rows[~is_over], ends[~is_over]
            self._due[rows] = np.minimum(self._due[rows], np.maximum(ends, now + FROZEN_CHECK_SECONDS))
            self._open(head, (is_role, name), rows)

    def _bury(self, rows: Rows, name: str, state: State, kind: Kind, is_addressed: bool) -> None:
        if is_addressed and (state is State.UNKNOWN or kind is Kind.DIRECT):
            for row in rows.tolist():
                self._ledger.mark_dead(row, name, state)

    def _open(self, head: Head, name: Name, rows: Rows) -> None:
        if len(rows) and not head.archived:
            self._opened.setdefault(name, []).append(rows)

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
        """Write what was found into the ledger."""
        self._ledger.expired.load(bytearray(self._expired.tobytes()))
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
        """Count what roles and others have open both."""
        mail = self._ledger.open
        for at, (is_role, _) in enumerate(mail.names):
            if is_role:
                rows = np.array(mail.rows[at], np.int64)
                beside = np.zeros(len(rows), bool)
                for number, word in enumerate(mail.words):
                    own = np.uint64(1 << at % WORD if number == at // WORD else 0)
                    beside |= (np.array(word, np.uint64)[rows] & ~own) != 0
                mail.count_together(at, rows[beside].tolist())


def _are_frozen(agents: Sequence[Agent | None]) -> bool:
    return all(agent is not None and agent.status is Status.FROZEN for agent in agents)


def overlaps(agent: Agent, starts: Times, ends: Times) -> Mask:
    """Say which spans of time an agent's life has any of."""
    begun = -FOREVER if agent.started_at is None else agent.started_at
    ended = FOREVER if agent.status is not Status.DEAD or agent.ended_at is None else agent.ended_at
    found: Mask = (begun <= ends) & (ended >= starts)
    return found
