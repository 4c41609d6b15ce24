"""What became of mail, and who has what to read: asked of what was folded. No I/O, no clock."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from mailstore.columns.messages import Messages
from mailstore.records.address import BROADCAST, DIRECT, ROLE, TAG, role_key
from mailstore.records.message import Delivery, Intervention, Message, Receipt, by_age
from mailstore.records.protocol import PERSON
from mailstore.rules.audience import Facts, Recipient, expires_at, recipients
from mailstore.rules.delivery import Standing, State, standing, state, state_of_open
from mailstore.rules.unread import own_of
from mailstore.state.fold import NO_FACTS, Fold
from mailstore.state.views import DeadLetter
from mailstore.steps import ReadAnew

__all__ = ["Fates"]


class Fates(Fold):
    """What is known of messages' fates; times are seconds since the epoch."""

    def states(self, message: Message, now: float) -> dict[str, Standing]:
        """Return what became of a message for each of its recipients."""
        facts = self._facts_of(message.id)
        return {
            recipient.name: standing(recipient, message, facts, self.roster, now)
            for recipient in recipients(message, facts, self.roster, self.user)
        }

    def bare_states(self, message: Message, now: float) -> dict[str, State]:
        """Return a message's state for each of its recipients, without since when and why."""
        facts, roster = self._facts_of(message.id), self.roster
        return {
            recipient.name: state(recipient, message, facts, roster, now)
            for recipient in recipients(message, facts, roster, self.user)
        }

    def _facts_of(self, message_id: str) -> Facts:
        row = self._messages.ids.row(message_id)
        return NO_FACTS if row is None else self._facts(row)

    def receipts(self, message_id: str) -> list[Receipt]:
        """Return who read a message, under the names that the records use, the earliest first."""
        names = self._messages.names
        told = (receipt for row in self._rows_of(message_id) for receipt in self._receipts.of(row))
        found = [Receipt(message_id, names[number], time) for number, time in told]
        return sorted(found, key=lambda receipt: receipt.time or 0.0)

    def has_read(self, message_id: str, reader: str) -> bool:
        """Say whether there is a record that somebody read a message, under whichever of their names."""
        return self._party(reader) in self._facts_of(message_id).readers

    def _check(self, messages: Messages) -> None:
        """Raise ReadAnew unless messages are still those that are there."""
        if messages is not self._messages:
            raise ReadAnew

    def deliveries(self, message_id: str) -> list[str]:
        """Return for whom a message was when it was sent, where that was recorded, under the names in the records."""
        told = (number for row in self._rows_of(message_id) for number in self._deliveries.names_of(row))
        return list(dict.fromkeys(map(self._messages.names.__getitem__, told)))

    def delivered(self, message_id: str) -> list[Delivery]:
        """Return the records of for whom a message was when it was sent, as they stand."""
        told = (record for row in self._rows_of(message_id) for record in self._deliveries.of(row))
        return [Delivery(message_id, self._messages.names[name], time) for name, time in told]

    def put_away_by(self, message_id: str) -> dict[str, float | None]:
        """Return who put a message away itself, and when, in seconds since the epoch, where that is known."""
        return {name: time for row in self._rows_of(message_id) for name, time in self._put_away.get(row, {}).items()}

    def _rows_of(self, message_id: str) -> tuple[int, ...]:
        """Return the rows of all records of a letter."""
        row = self._messages.ids.row(message_id)
        return () if row is None else self._joined.rows(row)

    def expiry(self, message: Message) -> float | None:
        """Return when a message expires for the last of its recipients; None when it never does."""
        return expires_at(message, self.roster, self.user)

    # An agent's mail

    def inbox(self, reader: str, now: float) -> list[Message]:
        """Return all mail of an agent, or of the user, oldest first; archived mail is not polled."""
        name = self._party(reader)
        rows = self._index.postings.candidates(name, self.roster.get(name))
        rows.update(self._receipts.rows_of(self._numbers(name)))
        found = (self._messages[row] for row in rows if self._messages.is_there(row))
        return sorted((message for message in found if self.is_for(message, name)), key=by_age)

    def _numbers(self, name: str) -> set[int]:
        """Return under which numbers a name stands in records: the person's are several."""
        names = self._messages.names
        if name == PERSON:
            return {number for number, each in enumerate(names.values) if self._party(each) == PERSON}
        known = names.known(name)
        return set() if known is None else {known}

    def is_for(self, message: Message, reader: str) -> bool:
        """Say whether a message is mail of an agent, or of the user: what it has read and was delivered always is.

        Archived mail is not, nor what it sent, but for what it sent to itself; nor mail to a role from a time in which
        it did not hold the role.
        """
        name, facts = self._party(reader), self._facts_of(message.id)
        is_told = not message.archived and (name in facts.readers or name in facts.delivered)
        return (is_told and self._party(message.sender) != name) or bool(self._own(message, reader))

    def _own(self, message: Message, reader: str) -> list[Recipient]:
        """Return as which recipients of a message an agent, or the user, has it; an archived one as none."""
        if message.archived:
            return []
        found = recipients(message, self._facts_of(message.id), self.roster, self.user)
        return own_of(found, self._party(reader), self._party(message.sender), message.time, self.roster)

    def unread(self, reader: str, now: float) -> list[Message]:
        """Return what an agent, or the user, has still to read, oldest first."""
        self.advance(now)
        found = [self._messages[row] for row in self._unread_rows(reader)]
        return sorted(found, key=by_age)

    def has_unrecorded(self) -> bool:
        """Say whether there is any mail of which the mailbox does not record who has read it."""
        return any(not head.is_tracked for head in self._messages.head_values.values)

    def unrecorded(self, reader: str, now: float) -> list[Message]:
        """Return mail of an agent, or of the user, of which nothing tells whether they have read it, oldest first."""
        return [message for message in self.inbox(reader, now) if self._is_unrecorded(message, reader, now)]

    def _is_unrecorded(self, message: Message, reader: str, now: float) -> bool:
        facts = self._facts_of(message.id)
        return not message.is_tracked and any(
            state(recipient, message, facts, self.roster, now) is State.UNRECORDED and now < recipient.expiry
            for recipient in self._own(message, reader)
        )

    def is_talk(self, message: Message, reader: str) -> bool:
        """Say whether an agent has a message only as everybody in a channel, or everywhere, has it."""
        return {recipient.kind for recipient in self._own(message, reader)} <= {TAG, BROADCAST}

    def unread_count(self, session_id: str) -> int:
        """Return how much mail an agent has still to read."""
        known = self._ledger.unread_count(self._party(session_id))
        return len(self._unread_rows(session_id)) if known is None else known

    def unread_of_types(self, session_id: str, types: Collection[str]) -> int:
        """Return how much mail of some types an agent has still to read."""
        known = self._ledger.unread_count(self._party(session_id), types)
        if known is None:
            return sum(self._messages.head(row).type in types for row in self._unread_rows(session_id))
        return known

    def _unread_rows(self, name: str) -> list[int]:
        return self._ledger.unread_of(self._party(name))

    def late(self, reader: str, before: float) -> tuple[int, Message | None]:
        """Return how much mail from before a moment an agent has still to read, and the oldest of it."""
        messages, times = self._messages, self._messages.times
        rows = [row for row in self._unread_rows(reader) if times[row] < before and messages.head(row).timed]
        return len(rows), self._oldest(rows) if rows else None

    def _oldest(self, rows: list[int]) -> Message:
        return self._messages[self._messages.oldest(rows)]

    def open_mail(self, now: float) -> Iterator[tuple[Message, str, State]]:
        """Yield what somebody has still to read: the message, for whom, and whether unread, frozen or waiting."""
        self.advance(now)
        for (is_role, name), _ in self._ledger.open.holders():
            key = self._role_key(name) if is_role else name
            one = Recipient(key, ROLE, role=name) if is_role else Recipient(key, DIRECT)
            state = state_of_open(one, self.roster)
            for row in self._ledger.open.of((is_role, name)):
                yield self._messages[row], key, state

    # What waits for somebody to act

    def dead_letters(self, now: float) -> list[DeadLetter]:
        """Return the letters that nobody will read unless somebody acts, the newest first."""
        return newest_first(self.letters(now))

    def letters(self, now: float) -> Iterator[DeadLetter]:
        """Yield the letters that nobody will read unless somebody acts, in no order that matters. Raises ReadAnew."""
        self.advance(now)
        return self._letters(dict.fromkeys(row for row, _ in self._ledger.dead), now)

    def dead_letters_in(self, root: str, now: float) -> list[DeadLetter]:
        """Return the dead letters of a thread, the newest first."""
        return newest_first(self._letters(self._members_of(root), now))

    def _letters(self, rows: Iterable[int], now: float) -> Iterator[DeadLetter]:
        messages = self._messages
        for row in rows:
            self._check(messages)
            if not (names := self._ledger.dead_for(row)):
                continue
            message, facts = messages[row], self._facts(row)
            for recipient in recipients(message, facts, self.roster, self.user):
                if recipient.name in names:
                    found = standing(recipient, message, facts, self.roster, now)
                    yield DeadLetter(message, recipient.name, found.state, found.since, found.reason)

    def waiting_in(self, root: str) -> list[str]:
        """Return the roles that nobody holds, and for which mail of a thread waits."""
        rows, waiting = self._members_of(root), self._ledger.waiting()
        return sorted({role for row in rows for role in self._ledger.open.roles_on(row)} & waiting.keys())

    def deaths(self) -> list[tuple[str, str]]:
        """Return message and recipient of every letter that died since this was asked last."""
        deaths, self._ledger.deaths = self._ledger.deaths, []
        return [(self._messages.ids[row], name) for row, name in deaths if (row, name) in self._ledger.dead]

    def waiting(self) -> list[tuple[str, list[Message]]]:
        """Return mail to roles that no living or frozen agent holds, by role, the oldest first."""
        found = [(role, self._ledger.open.of((True, role))) for role in sorted(self._ledger.waiting())]
        return [
            (self._role_key(role), sorted((self._messages[row] for row in mail), key=by_age)) for role, mail in found
        ]

    def _role_key(self, role: str) -> str:
        return role_key(role, self.roster, self.user)

    def vacant(self) -> Iterator[tuple[str, int, Message]]:
        """Yield the roles that mail waits for and nobody holds, sorted, with how much and the oldest of it."""
        for role in sorted(self._ledger.waiting()):
            if rows := [] if self.roster.holders(role) else self._ledger.open.of((True, role)):
                yield role, len(rows), self._oldest(rows)

    def interventions(self) -> list[Intervention]:
        """Return the oversight journal, the newest first."""
        return sorted(self._journal.values(), key=lambda record: record.time)[::-1]

    def is_undone(self, intervention_id: str) -> bool:
        """Say whether a later record in the journal takes an intervention back."""
        return intervention_id in self._undone

    def is_intervention(self, message_id: str) -> bool:
        """Say whether the journal says that the person stepped in with this message."""
        return message_id in self._stepped_in

    def _members_of(self, root: str) -> list[int]:
        row = self._messages.ids.row(root)
        if row is None or row >= len(self._index.sizes) or not self._index.sizes[row]:
            raise KeyError(root)
        return self._members(row)

    def _members(self, root: int) -> list[int]:
        return [row for row in self._index.forest.members(root) if self._messages.is_there(row)]


def newest_first(letters: Iterable[DeadLetter]) -> list[DeadLetter]:
    """Sort dead letters by when they died, the last first."""
    return sorted(letters, key=lambda it: (it.since or 0.0, by_age(it.message), it.recipient), reverse=True)
