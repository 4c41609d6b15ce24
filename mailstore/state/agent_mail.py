"""The mail of one agent, or of the user."""

from __future__ import annotations

from collections.abc import Collection

from mailstore.records.address import BROADCAST, TAG
from mailstore.records.message import Message, by_age
from mailstore.records.protocol import PERSON
from mailstore.rules.audience import Recipient, recipients
from mailstore.rules.delivery import State, state
from mailstore.rules.unread import own_of
from mailstore.state.filing import FiledMail


class AgentMail(FiledMail):
    """Inboxes and unread mail; `reader` is an agent or the user, times are seconds since the epoch."""

    def inbox(self, reader: str, now: float) -> list[Message]:
        """Return all mail of a reader, oldest first; archived mail is not part of an inbox."""
        contents, name = self.contents, self._party(reader)
        messages = contents.messages
        rows = contents.index.postings.candidates(name, contents.roster.get(name))
        rows.update(contents.receipts.reads.rows_of(self._numbers(name)))
        found = (messages[row] for row in rows if messages.is_there(row))
        return sorted((message for message in found if self.is_for(message, name)), key=by_age)

    def _numbers(self, name: str) -> set[int]:
        """Return the numbers of a name in records: the user has several names."""
        names = self.contents.messages.names
        if name == PERSON:
            return {number for number, each in enumerate(names.values) if self._party(each) == PERSON}
        known = names.known(name)
        return set() if known is None else {known}

    def is_for(self, message: Message, reader: str) -> bool:
        """Return whether a message is a reader's mail: what they have read, or was delivered to them, always is.

        Archived mail never is, nor what the reader sent to others, nor mail to a role that they did not hold in time.
        """
        name, facts = self._party(reader), self._facts(message.id)
        is_recorded = not message.archived and (name in facts.readers or name in facts.delivered)
        return (is_recorded and self._party(message.sender) != name) or bool(self._as_recipient(message, reader))

    def _as_recipient(self, message: Message, reader: str) -> list[Recipient]:
        """Return as which recipients of a message a reader has it; none for an archived message."""
        if message.archived:
            return []
        contents = self.contents
        found = recipients(message, self._facts(message.id), contents.roster, contents.user)
        return own_of(found, self._party(reader), self._party(message.sender), message.time, contents.roster)

    def unread(self, reader: str, now: float) -> list[Message]:
        """Return a reader's unread mail, oldest first."""
        self._filing.advance(now)
        return sorted(map(self.contents.messages.__getitem__, self._unread_rows(reader)), key=by_age)

    def has_unrecorded(self) -> bool:
        """Return whether there is mail of which the mailbox does not record who has read it."""
        return any(not head.is_tracked for head in self.contents.messages.head_values.values)

    def unrecorded(self, reader: str, now: float) -> list[Message]:
        """Return a reader's mail of which no record can say whether they have read it, oldest first."""
        return [message for message in self.inbox(reader, now) if self._is_unrecorded(message, reader, now)]

    def _is_unrecorded(self, message: Message, reader: str, now: float) -> bool:
        facts, roster = self._facts(message.id), self.contents.roster
        return not message.is_tracked and any(
            state(recipient, message, facts, roster, now) is State.UNRECORDED and now < recipient.expiry
            for recipient in self._as_recipient(message, reader)
        )

    def is_talk(self, message: Message, reader: str) -> bool:
        """Return whether a reader has a message only because everybody, or everybody in a channel, has it."""
        return {recipient.kind for recipient in self._as_recipient(message, reader)} <= {TAG, BROADCAST}

    def unread_count(self, reader: str) -> int:
        """Return how many unread messages a reader has."""
        known = self.contents.ledger.unread_count(self._party(reader))
        return len(self._unread_rows(reader)) if known is None else known

    def unread_of_types(self, reader: str, types: Collection[str]) -> int:
        """Return how many unread messages of some types a reader has."""
        contents = self.contents
        known = contents.ledger.unread_count(self._party(reader), types)
        if known is None:
            return sum(contents.messages.head(row).type in types for row in self._unread_rows(reader))
        return known

    def late(self, reader: str, before: float) -> tuple[int, Message | None]:
        """Return how many messages sent before a moment a reader has not read, and the oldest of them."""
        messages, times = self.contents.messages, self.contents.messages.times
        rows = [row for row in self._unread_rows(reader) if times[row] < before and messages.head(row).timed]
        return len(rows), messages[messages.oldest(rows)] if rows else None

    def _unread_rows(self, reader: str) -> list[int]:
        return self.contents.ledger.unread_of(self._party(reader))
