"""What is still open: who has what to read, which letters are dead, which mail waits for a role.

The ledger keeps what `delivery` says of each message, so that counts are there without a recount. One
message is filed at a time, and filed anew when a record about it, or its recipient's life, changes.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection

from mailstore.address import Kind, party
from mailstore.columns.flags import Flags
from mailstore.columns.messages import Messages
from mailstore.columns.open_mail import OpenMail
from mailstore.delivery import FOREVER, Facts, Recipient, State, message_expiry, recipients, state
from mailstore.message import Message
from mailstore.roster import Roster, Status

__all__ = ["Ledger"]

FROZEN_CHECK_SECONDS = 60.0
"""How soon to look again at mail that outlived its TTL because its recipient was frozen."""


def _is_dead_letter(recipient: Recipient, found: State) -> bool:
    if not recipient.is_addressed:
        return False
    return found is State.UNKNOWN or (recipient.kind is Kind.DIRECT and found in (State.DEAD, State.EXPIRED))


class Ledger:
    """Open mail by recipient name, as rows of messages."""

    def __init__(self, roster: Roster, user: str, messages: Messages) -> None:
        self._roster = roster
        self._user = user
        self.due: list[tuple[float, int]] = []
        self.open = OpenMail(lambda row: party(messages.sender(row), roster, user), lambda row: messages.head(row).type)
        self.dead: dict[tuple[int, str], State] = {}
        self._dead_of: dict[int, tuple[str, ...]] = {}
        self.expired = Flags()
        self.deaths: list[tuple[int, str]] = []
        """The dead letters that nobody was told of yet."""

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
            name = recipient.name
            if recipient.kind is Kind.ROLE:
                if found is not State.EXPIRED and not message.archived:
                    self.open.open(row, (True, name))
            elif found in (State.UNREAD, State.FROZEN):
                if not message.archived:
                    self.open.open(row, (False, name))
            elif _is_dead_letter(recipient, found) and not settled & {"", name}:
                self.mark_dead(row, name, found)
            if found is State.UNREAD:
                due = min(due, max(recipient.expiry, now + FROZEN_CHECK_SECONDS))
        if due < FOREVER:
            heapq.heappush(self.due, (due, row))

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

    def read(self, row: int, reader: str) -> None:
        """Take a message out of what a reader, and the roles it ever held, have open."""
        if row >= self.open.size:
            return
        roles = {reader, *self._roster.ever_held(reader)}
        self.open.close(row, (False, reader))
        for role in roles:
            self.open.close(row, (True, role))
        if left := self._dead_of.get(row):
            kept = tuple(name for name in left if name not in roles)
            for name in set(left) - set(kept):
                del self.dead[row, name]
                self._dead_of[row] = kept

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
        """Return what a name has to read, in order: its own mail and that of the roles it holds."""
        own, *roles = [self.open.of(each) for each in self._names(name)]
        return sorted(set(own).union(*roles)) if any(roles) else own

    def unread_count(self, name: str, types: Collection[str] | None = None) -> int | None:
        """Return how much a name has to read that it did not send, of some types only if any are given.

        None where it must be counted row by row.
        """
        return self.open.tally(self._names(name), name, None if types is None else frozenset(types))

    def waiting(self) -> dict[str, int]:
        """Return how much mail to a role waits because no living or frozen agent holds it, by role."""
        waiting = {}
        for (is_role, role), number in self.open.holders():
            if is_role and not self._roster.holders(role):
                waiting[role] = number
        return waiting
