"""What became of messages: their state for each recipient, and the records behind it."""

from __future__ import annotations

from mailstore.records.address import party
from mailstore.records.message import Delivery, Message, Receipt
from mailstore.rules.audience import expires_at, recipients
from mailstore.rules.delivery import Standing, State, standing, state
from mailstore.state.filing import FiledMail


class MessageStatus(FiledMail):
    """States and records of one message at a time; times are seconds since the epoch."""

    def states(self, message: Message, now: float) -> dict[str, Standing]:
        """Return the state of a message for each of its recipients, since when and why."""
        contents, facts = self.contents, self._facts(message.id)
        return {
            recipient.name: standing(recipient, message, facts, contents.roster, now)
            for recipient in recipients(message, facts, contents.roster, contents.user)
        }

    def bare_states(self, message: Message, now: float) -> dict[str, State]:
        """Return the state of a message for each of its recipients."""
        facts, roster, user = self._facts(message.id), self.contents.roster, self.contents.user
        return {
            recipient.name: state(recipient, message, facts, roster, now)
            for recipient in recipients(message, facts, roster, user)
        }

    def receipts(self, message_id: str) -> list[Receipt]:
        """Return the read records of a message, with the names as recorded, the earliest first."""
        contents = self.contents
        reads, names = contents.receipts.reads, contents.messages.names
        found = [
            Receipt(message_id, names[number], time)
            for row in contents.recorded(message_id)
            for number, time in reads.of(row)
        ]
        return sorted(found, key=lambda receipt: receipt.time or 0.0)

    def has_read(self, message_id: str, reader: str) -> bool:
        """Return whether a record says that a reader has read a message, under any of their names."""
        contents = self.contents
        return party(reader, contents.roster, contents.user) in self._facts(message_id).readers

    def deliveries(self, message_id: str) -> list[str]:
        """Return the recipients of a message as they were recorded when it was sent."""
        return list(dict.fromkeys(record.recipient for record in self.delivered(message_id)))

    def delivered(self, message_id: str) -> list[Delivery]:
        """Return the delivery records of a message."""
        contents = self.contents
        deliveries, names = contents.receipts.deliveries, contents.messages.names
        return [
            Delivery(message_id, names[name], time)
            for row in contents.recorded(message_id)
            for name, time in deliveries.of(row)
        ]

    def put_away_by(self, message_id: str) -> dict[str, float | None]:
        """Return who put a message away, and when (None where that is not recorded)."""
        contents, put_away = self.contents, self.contents.receipts.put_away
        return {name: time for row in contents.recorded(message_id) for name, time in put_away.get(row, {}).items()}

    def expiry(self, message: Message) -> float | None:
        """Return when a message expires for its last recipient; None if it never does."""
        return expires_at(message, self.contents.roster, self.contents.user)
