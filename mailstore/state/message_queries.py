"""Finds the messages of a mailbox, by id, by type, in order, and says what became of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator

from mailstore.columns.messages import MessageHead, MessageTable
from mailstore.records.address import party
from mailstore.records.events import Undelivered
from mailstore.records.intervals import FOREVER
from mailstore.records.message import Delivery, Message, Receipt, Trace, by_age
from mailstore.rules.audience import expires_at
from mailstore.rules.delivery import Standing, State, standing, state
from mailstore.state.contents import MailboxContents
from mailstore.state.filing import FiledMail
from mailstore.steps import MailboxReloaded


class MessageQueries(FiledMail):
    """Messages that have arrived, live and archived unless a method says otherwise, and the records about them.

    Times are seconds since the epoch.
    """

    def ids(self) -> set[str]:
        """Return the ids of all messages."""
        messages = self.contents.messages
        return {messages.ids[row] for row in messages.rows()}

    @property
    def has_copies(self) -> bool:
        """Whether the mailbox is one in which a message may have several records."""
        return self.contents.copies is not None

    def is_recorded(self, message_id: str) -> bool:
        """Return whether a record with an id has arrived: a message, or one of its copies."""
        contents = self.contents
        row = contents.messages.ids.own(message_id)
        return row is not None and (contents.messages.is_there(row) or row in contents.recorded_copies)

    def recorded_ids(self) -> set[str]:
        """Return the ids of all messages and of their copies."""
        ids = self.contents.messages.ids
        return self.ids() | {ids[row] for row in self.contents.recorded_copies}

    def lead(self, message_id: str) -> str:
        """Return the id of the message that a record is a copy of; the same id for any other record."""
        row = self.contents.messages.ids.row(message_id)
        return message_id if row is None else self.contents.messages.ids[row]

    def message(self, message_id: str) -> Message | None:
        """Return the message with an id."""
        row = self.contents.row(message_id)
        return None if row is None else self.contents.messages[row]

    def find(self, prefix: str) -> list[Message]:
        """Return the messages whose id is a text, or begins with it."""
        exact = self.message(prefix)
        if exact or not prefix:
            return [exact] if exact else []
        messages = self.contents.messages
        leads = messages.ids.leads
        rows = dict.fromkeys(leads.get(row, row) for row in messages.ids.texts.starting_with(prefix))
        return [messages[row] for row in rows if messages.is_there(row)]

    def places(self, message_id: str) -> tuple[str, ...]:
        """Return the files that hold a copy of a message, sorted."""
        row = self.contents.row(message_id)
        if row is None:
            return ()
        where = self.contents.messages[row].location
        files = {trace.file for trace in self.contents.traces(row)} or ({where.file} if where else ())
        return tuple(sorted(files))

    def traces(self, message_id: str) -> list[Trace]:
        """Return what is known about every copy of a message."""
        row = self.contents.row(message_id)
        return [] if row is None else self.contents.traces(row)

    def messages(self) -> list[Message]:
        """Return every message, oldest first."""
        return sorted(self.folded(), key=by_age)

    def folded(self) -> list[Message]:
        """Return every message, roughly in the order in which they were folded."""
        messages = self.contents.messages
        return [messages[row] for row in messages.rows()]

    def live(self) -> list[Message]:
        """Return every message that is not archived, roughly in the order in which they were folded."""
        messages = self.contents.messages
        archived = [head.archived for head in messages.head_values.values]
        return [messages[row] for row in messages.rows() if not archived[messages.heads[row]]]

    def newest(self, since: float = -FOREVER, until: float = FOREVER) -> Iterator[Message]:
        """Yield the messages that have arrived by now, the newest first, from a time back to another one.

        Raises MailboxReloaded.
        """
        messages = self.contents.messages
        times, order = messages.times, messages.order()
        for at in range(bisect_right(order, until, key=times.__getitem__) - 1, -1, -1):
            if times[order[at]] < since:
                return
            if messages.is_there(order[at]):
                yield messages[order[at]]
                check_current(self.contents, messages)

    def each(self) -> Iterator[Message]:
        """Yield every message, roughly in the order in which they were folded, and those that arrive meanwhile.

        Raises MailboxReloaded.
        """
        return self._each(self.contents.messages)

    def _each(self, messages: MessageTable) -> Iterator[Message]:
        row = 0
        while row < len(messages):
            check_current(self.contents, messages)
            if messages.is_there(row):
                yield messages[row]
            row += 1
        check_current(self.contents, messages)

    def of_type(self, kind: str, *, archived: bool = False) -> Iterator[Message]:
        """Yield the live messages of a type, or archived ones too, in no particular order. Raises MailboxReloaded."""
        return map(self.contents.messages.__getitem__, self.rows_of_type(kind, archived=archived))

    def rows_of_type(self, kind: str, *, archived: bool = False) -> Iterator[int]:
        """Yield the rows of `of_type`, for those who need few of the messages. Raises MailboxReloaded."""
        messages, postings = self.contents.messages, self.contents.index.postings

        def is_wanted(head: MessageHead) -> bool:
            return head.type == kind and (archived or not head.archived)

        for number in list(postings.heads(is_wanted)):
            for row in postings.with_head(number):
                if is_wanted(messages.head(row)):  # it may have been archived since
                    yield row
                    check_current(self.contents, messages)

    def times(self) -> list[float]:
        """Return the times of all messages in seconds since the epoch, the earliest first."""
        messages = self.contents.messages
        return list(map(messages.times.__getitem__, messages.order()))

    # What became of one

    def states(self, message: Message, now: float, names: Collection[str] | None = None) -> dict[str, Standing]:
        """Return the state of a message for each of its recipients, or those among some names, since when and why."""
        facts, roster = self._facts(message.id), self.contents.roster
        return {
            recipient.name: standing(recipient, message, facts, roster, now)
            for recipient in self._recipients(message, names)
            if names is None or recipient.name in names
        }

    def bare_states(self, message: Message, now: float) -> dict[str, State]:
        """Return the state of a message for each of its recipients."""
        facts, roster = self._facts(message.id), self.contents.roster
        return {
            recipient.name: state(recipient, message, facts, roster, now) for recipient in self._recipients(message)
        }

    def receipts(self, message_id: str) -> list[Receipt]:
        """Return the read records of a message, with the names as recorded, the earliest first."""
        contents = self.contents
        reads, names = contents.receipts.reads, contents.messages.names
        receipts = [
            Receipt(message_id, names[number], time)
            for row in contents.recorded(message_id)
            for number, time in reads.of(row)
        ]
        return sorted(receipts, key=lambda receipt: receipt.time or 0.0)

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

    def undelivered(self, message_id: str) -> list[Undelivered]:
        """Return the records of whom a message did not reach, or then did."""
        contents, undelivered = self.contents, self.contents.receipts.undelivered
        return [record for row in contents.recorded(message_id) for record in undelivered.get(row, ())]

    def expiry(self, message: Message) -> float | None:
        """Return when a message expires for its last recipient; None if it never does."""
        return expires_at(message, self.contents.roster, self.contents.user)


def check_current(contents: MailboxContents, messages: MessageTable) -> None:
    """Raise MailboxReloaded unless these are still the messages of a mailbox."""
    if messages is not contents.messages:
        raise MailboxReloaded
