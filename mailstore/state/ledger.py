"""The ledger of open mail: who has what to read, which messages are dead letters, which mail waits for a role.

It keeps what `mailstore/rules` says of each message, so that no query recounts. A message is
filed again whenever a record about it, or the life of one of its recipients, changes.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Collection

from mailstore.columns.messages import MessageTable
from mailstore.columns.postings import OpenMail
from mailstore.columns.rows import RowSet
from mailstore.columns.snapshot_parts import SnapshotReader, SnapshotWriter
from mailstore.records.address import ROLE, party
from mailstore.records.intervals import FOREVER
from mailstore.records.message import Message
from mailstore.records.roster import Roster
from mailstore.rules.audience import Facts, Recipient, message_expiry, recipients
from mailstore.rules.delivery import State, state
from mailstore.rules.outcome import end_of, is_dead_letter, is_open, recipients_read_by
from mailstore.rules.unread import roles_of


class Ledger:
    """Open mail by the name of its recipient, as rows of messages."""

    def __init__(self, roster: Roster, user: str, messages: MessageTable) -> None:
        self._roster = roster
        self._user = user
        self.due: list[tuple[float, int]] = []
        self._messages = messages
        self.open = OpenMail(self._sender, lambda row: messages.head(row).type)
        self.dead: dict[tuple[int, str], State] = {}
        self._dead_of: dict[int, list[str]] = {}
        self.not_own: dict[str, set[int]] = defaultdict(set)
        """By agent, the mail to roles it holds that is not its own, because it expired before it took them."""
        self._not_own_of: dict[int, list[str]] = {}
        self.expired = RowSet()
        self.deaths: list[tuple[int, str]] = []
        """The dead letters that were not reported yet."""

    def save(self, out: SnapshotWriter) -> None:
        self.open.grow(len(self._messages))
        self.open.save(out)
        self.expired.save(out)
        out.value([(*key, state) for key, state in self.dead.items()])
        out.value([(row, name) for name, rows in self.not_own.items() for row in rows])
        out.value(self.due)

    def load(self, saved: SnapshotReader) -> None:
        self.open.load(saved)
        self.expired.load(saved)
        for row, name, found in saved.value(list[tuple[int, str, State]]):
            self.mark_dead(row, name, found)
        for row, name in saved.value(list[tuple[int, str]]):
            self.mark_not_own(row, name)
        self.due = saved.value(list[tuple[float, int]])

    def _sender(self, row: int) -> str:
        return party(self._messages.sender(row), self._roster, self._user)

    def file(self, row: int, message: Message, facts: Facts, settled: frozenset[str], now: float) -> None:
        """File a message under everyone who still has to read it; archived mail only as dead letters.

        `settled` are the recipients whose dead letter is settled; an empty name stands for all of them.
        """
        self.open.grow(row + 1)
        self.forget(row)
        due = message_expiry(message, self._roster, self._user)
        if due <= now:
            due = FOREVER
            if not message.archived:
                self.expired.add(row)
        for recipient in recipients(message, facts, self._roster, self._user):
            outcome = state(recipient, message, facts, self._roster, now)
            if is_open(recipient, outcome):
                if not message.archived:
                    self._open(row, recipient, message.time)
            elif is_dead_letter(recipient, outcome) and not settled & {"", recipient.name}:
                self.mark_dead(row, recipient.name, outcome)
            if (outcome is State.UNREAD or outcome is State.ARCHIVED) and recipient.expiry < FOREVER:
                expiry = recipient.expiry
                end = expiry if expiry > now else end_of(recipient, message.time, expiry, self._roster)
                due = min(due, end if end > now else FOREVER)
        if due < FOREVER:
            heapq.heappush(self.due, (due, row))

    def _open(self, row: int, recipient: Recipient, time: float) -> None:
        if recipient.kind is not ROLE:
            self.open.open(row, (False, recipient.name))
            return
        role, expiry = recipient.role, recipient.expiry
        self.open.open(row, (True, role))
        if expiry < FOREVER:
            for holder in self._roster.holders(role):
                if not self._roster.is_own(holder.session_id, role, time, expiry):
                    self.mark_not_own(row, holder.session_id)

    def mark_not_own(self, row: int, name: str) -> None:
        """Note that a message to a role is not the mail of one of its holders."""
        self.not_own[name].add(row)
        self._not_own_of.setdefault(row, []).append(name)

    def mark_dead(self, row: int, name: str, outcome: State) -> None:
        """Note that a message is a dead letter for one of its recipients."""
        self.dead[row, name] = outcome
        self._dead_of.setdefault(row, []).append(name)
        self.deaths.append((row, name))

    def dead_rows(self) -> list[int]:
        """Return the messages that are a dead letter for someone, or were."""
        return list(self._dead_of)

    def dead_for(self, row: int) -> set[str]:
        """Return the recipients for whom a message is a dead letter."""
        return {*self._dead_of.get(row, ())}

    def forget(self, row: int) -> None:
        """Remove a message from the ledger."""
        self.expired.discard(row)
        self.open.close_all(row)
        for name in self._dead_of.pop(row, ()):
            del self.dead[row, name]
        for name in self._not_own_of.pop(row, ()):
            self.not_own[name].discard(row)

    def read(self, row: int, reader: str) -> None:
        """Close a message for its reader, and for the roles that its read record counts for."""
        if row >= self.open.size:
            return
        for name in recipients_read_by(reader, self._sender(row), self._roster, self._user):
            self.open.close(row, name)
        if self.dead.pop((row, reader), None) is not None:
            self._dead_of[row].remove(reader)

    def is_open(self, row: int) -> bool:
        """Return whether a message is open for anyone, or a dead letter."""
        return row < self.open.size and (self.open.is_open(row) or bool(self._dead_of.get(row)))

    def come_due(self, now: float) -> list[int]:
        """Return the messages that have expired for someone since, to be filed again."""
        due: list[int] = []
        while self.due and self.due[0][0] <= now:
            due.append(heapq.heappop(self.due)[1])
        return due

    def next_due(self) -> float | None:
        """Return when a message expires next for someone, in seconds since the epoch; None if none will."""
        return self.due[0][0] if self.due else None

    def _names(self, name: str) -> list[tuple[bool, str]]:
        """Return the names under which a reader's mail is open: its own, and those of its roles."""
        return [(False, name), *((True, role) for role in roles_of(self._roster.get(name)))]

    def unread_of(self, name: str) -> list[int]:
        """Return what a reader has to read, in order: its own mail and that of the roles it holds.

        Mail to a role is left out where they sent it, or it expired before they took the role (`unread.own_of`).
        """
        own, *roles = [self.open.of(each) for each in self._names(name)]
        if not any(roles):
            return own
        of_roles = set[int]().union(*roles).difference(self.not_own.get(name, ()))
        senders, names = self._messages.senders, self._messages.names.values
        numbers = set(map(senders.__getitem__, of_roles))
        theirs = {number for number in numbers if party(names[number], self._roster, self._user) == name}
        if theirs:
            of_roles = {row for row in of_roles if senders[row] not in theirs}
        return sorted(of_roles.union(own))

    def unread_count(self, name: str, types: Collection[str] | None = None) -> int | None:
        """Return how many messages a reader has to read, of some types only if any are given.

        None where they must be counted row by row.
        """
        if self.not_own.get(name):
            return None
        return self.open.tally(self._names(name), name, None if types is None else frozenset(types))

    def waiting(self) -> dict[str, int]:
        """Return by role how many messages wait because no living or frozen agent holds it."""
        return {
            role: number
            for (is_role, role), number in self.open.holders()
            if is_role and not self._roster.is_held(role)
        }
