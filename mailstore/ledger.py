"""What is still open: who has what to read, which letters are dead, which mail waits for a role.

The ledger keeps what `delivery` says of each message, so that counts are there without a recount. One
message is filed at a time, and filed anew when a record about it, or its recipient's life, changes.
"""

from __future__ import annotations

import heapq

from mailstore.address import Kind
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
    """Open mail by recipient name, as indices of messages in the order in which they were filed."""

    def __init__(self, roster: Roster, user: str) -> None:
        self._roster = roster
        self._user = user
        self._filed: dict[int, tuple[str, ...]] = {}
        self._due: list[tuple[float, int]] = []
        self.unread: dict[str, dict[int, None]] = {}
        self.roles: dict[str, dict[int, None]] = {}
        self.dead: dict[tuple[int, str], State] = {}
        self.expired: set[int] = set()

    def file(self, index: int, message: Message, facts: Facts, settled: frozenset[str], now: float) -> None:
        """File a message under all that still have it open; of archived mail only dead letters are open.

        `settled` are the recipients whose dead letter is done with; an empty name stands for all.
        """
        self.forget(index)
        filed: list[str] = []
        due = message_expiry(message, self._roster, self._user)
        if due <= now:
            due = FOREVER
            if not message.archived:
                self.expired.add(index)
        for recipient in recipients(message, facts, self._roster, self._user):
            found = state(recipient, message, facts, self._roster, now, self._user)
            if found is State.READ:
                continue
            name = recipient.name
            if recipient.kind is Kind.ROLE:
                if found is not State.EXPIRED and not message.archived:
                    self.roles.setdefault(name, {})[index] = None
                    filed.append(name)
            elif found in (State.UNREAD, State.FROZEN):
                if not message.archived:
                    self.unread.setdefault(name, {})[index] = None
                    filed.append(name)
            elif _is_dead_letter(recipient, found) and not settled & {"", name}:
                self.dead[index, name] = found
                filed.append(name)
            if found is State.UNREAD:
                due = min(due, max(recipient.expiry, now + FROZEN_CHECK_SECONDS))
        if filed:
            self._filed[index] = tuple(filed)
        if due < FOREVER:
            heapq.heappush(self._due, (due, index))

    def forget(self, index: int) -> None:
        """Take a message out of everything that has it open."""
        self.expired.discard(index)
        for name in self._filed.pop(index, ()):
            for open_mail in (self.unread, self.roles):
                if (indices := open_mail.get(name)) is not None:
                    indices.pop(index, None)
            self.dead.pop((index, name), None)

    def read(self, index: int, reader: str) -> None:
        """Take a message out of what a reader, and the roles it ever held, have open."""
        filed = self._filed.get(index)
        if filed is None:
            return
        done = [name for name in filed if name == reader or self._roster.has_held(reader, name)]
        for name in done:
            for open_mail in (self.unread, self.roles):
                if (indices := open_mail.get(name)) is not None and (open_mail is self.roles or name == reader):
                    indices.pop(index, None)
            self.dead.pop((index, name), None)
        if done:
            self._filed[index] = tuple(name for name in filed if name not in done)

    def is_open(self, index: int) -> bool:
        """Say whether anyone has the message open."""
        return index in self._filed

    def come_due(self, now: float) -> list[int]:
        """Return the messages whose time ran out for someone, to be filed anew."""
        due: list[int] = []
        while self._due and self._due[0][0] <= now:
            due.append(heapq.heappop(self._due)[1])
        return due

    def unread_of(self, name: str) -> list[int]:
        """Return what a name has to read, in order: its own mail and that of the roles it holds."""
        own = self.unread.get(name, {})
        agent = self._roster.get(name)
        held = agent.roles() if agent is not None and agent.status is not Status.DEAD else ()
        roles = [mail for role in held if (mail := self.roles.get(role))]
        if not roles:
            return list(own)
        return sorted(set(own).union(*roles))

    def waiting(self) -> dict[str, list[int]]:
        """Return role mail that waits because no living or frozen agent holds the role."""
        return {role: list(mail) for role, mail in self.roles.items() if mail and not self._roster.holders(role)}
