"""Open mail, mail to vacant roles, and dead letters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mailstore.records.address import DIRECT, ROLE, role_key
from mailstore.records.message import Message, by_age
from mailstore.rules.audience import Recipient, recipients
from mailstore.rules.delivery import State, standing, state_of_open
from mailstore.state.filing import FiledMail
from mailstore.state.message_lookup import check_current
from mailstore.state.views import DeadLetter


class PendingMail(FiledMail):
    """Open mail, dead letters and mail to vacant roles; times are seconds since the epoch."""

    def open_mail(self, now: float) -> Iterator[tuple[Message, str, State]]:
        """Yield open mail: the message, the recipient, and whether it is unread, frozen or waiting."""
        self._filing.advance(now)
        contents = self.contents
        for (is_role, name), _ in contents.ledger.open.holders():
            key = self._role_key(name) if is_role else name
            one = Recipient(key, ROLE, role=name) if is_role else Recipient(key, DIRECT)
            state = state_of_open(one, contents.roster)
            for row in contents.ledger.open.of((is_role, name)):
                yield contents.messages[row], key, state

    def dead_letters(self, now: float) -> list[DeadLetter]:
        """Return the messages that a recipient will not read without intervention, the newest first."""
        return newest_first(self.letters(now))

    def letters(self, now: float) -> Iterator[DeadLetter]:
        """Yield the dead letters in no particular order. Raises MailboxReloaded."""
        self._filing.advance(now)
        return self._letters(self.contents.ledger.dead_rows(), now)

    def dead_letters_in(self, root: str, now: float) -> list[DeadLetter]:
        """Return the dead letters of a thread, the newest first."""
        return newest_first(self._letters(self._members(root), now))

    def _letters(self, rows: Iterable[int], now: float) -> Iterator[DeadLetter]:
        contents, messages = self.contents, self.contents.messages
        for row in rows:
            check_current(contents, messages)
            if not (names := contents.ledger.dead_for(row)):
                continue
            message, facts = messages[row], contents.receipts.facts(row)
            for recipient in recipients(message, facts, contents.roster, contents.user):
                if recipient.name in names:
                    found = standing(recipient, message, facts, contents.roster, now)
                    yield DeadLetter(message, recipient.name, found.state, found.since, found.reason)

    def deaths(self) -> list[tuple[str, str]]:
        """Return message id and recipient of every letter that died since the last call."""
        ledger, ids = self.contents.ledger, self.contents.messages.ids
        deaths, ledger.deaths = ledger.deaths, []
        return [(ids[row], name) for row, name in deaths if (row, name) in ledger.dead]

    # Vacant roles

    def waiting(self) -> list[tuple[str, list[Message]]]:
        """Return the mail to roles that no living or frozen agent holds, by role, the oldest first."""
        ledger, messages = self.contents.ledger, self.contents.messages
        return [
            (self._role_key(role), sorted(map(messages.__getitem__, ledger.open.of((True, role))), key=by_age))
            for role in sorted(ledger.waiting())
        ]

    def waiting_in(self, root: str) -> list[str]:
        """Return the vacant roles that mail of a thread waits for."""
        rows, ledger = self._members(root), self.contents.ledger
        return sorted({role for row in rows for role in ledger.open.roles_on(row)} & ledger.waiting().keys())

    def vacant(self) -> Iterator[tuple[str, int, Message]]:
        """Yield the vacant roles that mail waits for, sorted: role, number of messages, the oldest."""
        contents = self.contents
        for role in sorted(contents.ledger.waiting()):
            if rows := [] if contents.roster.holders(role) else contents.ledger.open.of((True, role)):
                yield role, len(rows), contents.messages[contents.messages.oldest(rows)]

    def _role_key(self, role: str) -> str:
        return role_key(role, self.contents.roster, self.contents.user)

    def _members(self, root: str) -> list[int]:
        return self.contents.index.members(self.contents.thread(root))


def newest_first(letters: Iterable[DeadLetter]) -> list[DeadLetter]:
    """Sort dead letters by the time of their death, the newest first."""
    return sorted(letters, key=lambda it: (it.since or 0.0, by_age(it.message), it.recipient), reverse=True)
