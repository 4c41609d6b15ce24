"""What is still open: who has what to read, which letters are dead, which mail waits for a role.

The ledger keeps what `delivery` says of each message, so that counts are there without a recount. One
message is filed at a time, and filed anew when a record about it, or its recipient's life, changes.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Collection

from mailstore.columns.flags import Flags
from mailstore.columns.messages import Messages
from mailstore.columns.open_mail import OpenMail
from mailstore.records.address import Kind, party, role_key
from mailstore.records.intervals import FOREVER
from mailstore.records.message import Message
from mailstore.records.roster import Roster, Status
from mailstore.rules.audience import Facts, message_expiry, recipients
from mailstore.rules.delivery import State, end_of, is_dead_letter, state

__all__ = ["Ledger"]


class Ledger:
    """Open mail by recipient name, as rows of messages."""

    def __init__(self, roster: Roster, user: str, messages: Messages) -> None:
        self._roster = roster
        self._user = user
        self.due: list[tuple[float, int]] = []
        self._messages = messages
        self.open = OpenMail(self._sender, lambda row: messages.head(row).type)
        self.dead: dict[tuple[int, str], State] = {}
        self._dead_of: dict[int, tuple[str, ...]] = {}
        self.strange: dict[str, set[int]] = defaultdict(set)
        """By agent, mail to roles it holds that is not its own: its time had run out when it took them."""
        self._strangers: dict[int, tuple[str, ...]] = {}
        self.expired = Flags()
        self.deaths: list[tuple[int, str]] = []
        """The dead letters that nobody was told of yet."""

    def _sender(self, row: int) -> str:
        return party(self._messages.sender(row), self._roster, self._user)

    def file(self, row: int, message: Message, facts: Facts, settled: frozenset[str], now: float) -> None:
        """File a message under all that still have it open; of archived mail only dead letters are open.

        `settled` are the recipients whose dead letter is done with; an empty name stands for all.
        """
        self.open.grow(row + 1)
        self.forget(row)
        due = message_expiry(message, self._roster, self._user)
        if due <= now:
            due = FOREVER
            if not message.archived:
                self.expired.add(row)
        for recipient in recipients(message, facts, self._roster, self._user):
            found = state(recipient, message, facts, self._roster, now)
            if found is State.READ:
                continue
            name, is_live = recipient.name, not message.archived
            if recipient.kind is Kind.ROLE:
                if is_live and found in (State.UNREAD, State.FROZEN, State.WAITING, State.UNRECORDED):
                    self.open.open(row, (True, recipient.role))
                    self._estrange(row, recipient.role, message.time, recipient.expiry)
            elif found is State.UNREAD or found is State.FROZEN:
                if is_live:
                    self.open.open(row, (False, name))
            elif is_dead_letter(recipient, found) and not settled & {"", name}:
                self.mark_dead(row, name, found)
            if (found is State.UNREAD or found is State.ARCHIVED) and recipient.expiry < FOREVER:
                end = recipient.expiry if recipient.expiry > now else end_of(recipient, message.time, self._roster)
                due = min(due, end if end > now else FOREVER)
        if due < FOREVER:
            heapq.heappush(self.due, (due, row))

    def _estrange(self, row: int, role: str, time: float, expiry: float) -> None:
        if expiry == FOREVER:
            return
        for holder in self._roster.holders(role):
            if not self._roster.is_own(holder.session_id, role, time, expiry):
                self.estrange(row, holder.session_id)

    def estrange(self, row: int, name: str) -> None:
        """Keep that a message to a role is not mail of one who holds it."""
        self.strange[name].add(row)
        self._strangers[row] = (*self._strangers.get(row, ()), name)

    def mark_dead(self, row: int, name: str, found: State) -> None:
        """Keep that a message is a dead letter for one of its recipients."""
        self.dead[row, name] = found
        self._dead_of[row] = (*self._dead_of.get(row, ()), name)
        self.deaths.append((row, name))

    def dead_for(self, row: int) -> tuple[str, ...]:
        """Return for whom a message is a dead letter."""
        return self._dead_of.get(row, ())

    def forget(self, row: int) -> None:
        """Take a message out of everything that has it open."""
        self.expired.discard(row)
        self.open.close_all(row)
        for name in self._dead_of.pop(row, ()):
            del self.dead[row, name]
        for name in self._strangers.pop(row, ()):
            self.strange[name].discard(row)

    def read(self, row: int, reader: str) -> None:
        """Take a message out of what a reader, and the roles it ever held, have open; no sender reads for a role."""
        if row >= self.open.size:
            return
        self.open.close(row, (False, reader))
        roles = self._roster.ever_held(reader) if self._sender(row) != reader else ()
        for role in (*roles, reader) if role_key(reader, self._roster, self._user) == reader else roles:
            self.open.close(row, (True, role))
        if self.dead.pop((row, reader), None) is not None:
            self._dead_of[row] = tuple(name for name in self._dead_of[row] if name != reader)

    def is_open(self, row: int) -> bool:
        """Say whether anyone has the message open."""
        return row < self.open.size and (self.open.is_open(row) or bool(self._dead_of.get(row)))

    def come_due(self, now: float) -> list[int]:
        """Return the messages whose time ran out for someone, to be filed anew."""
        due: list[int] = []
        while self.due and self.due[0][0] <= now:
            due.append(heapq.heappop(self.due)[1])
        return due

    def _names(self, name: str) -> list[tuple[bool, str]]:
        """Return under which names somebody finds what they have to read: their own, and those of their roles."""
        agent = self._roster.get(name)
        held = agent.roles() if agent is not None and agent.status is not Status.DEAD else ()
        return [(False, name), *((True, role) for role in held)]

    def unread_of(self, name: str) -> list[int]:
        """Return what a name has to read, in order: its own mail and that of the roles it holds.

        Of mail to roles, what it sent is none of it, nor what was no longer in time when it took the role.
        """
        own, *roles = [self.open.of(each) for each in self._names(name)]
        if not any(roles):
            return own
        strange = self.strange.get(name, ())
        of_roles = (row for rows in roles for row in rows if row not in strange and self._sender(row) != name)
        return sorted({*own, *of_roles})

    def unread_count(self, name: str, types: Collection[str] | None = None) -> int | None:
        """Return how much a name has to read, of some types only if any are given.

        None where it must be counted row by row.
        """
        if self.strange.get(name):
            return None
        return self.open.tally(self._names(name), name, None if types is None else frozenset(types))

    def waiting(self) -> dict[str, int]:
        """Return how much mail to a role waits because no living or frozen agent holds it, by role."""
        waiting = {}
        for (is_role, role), number in self.open.holders():
            if is_role and not self._roster.holders(role):
                waiting[role] = number
        return waiting
