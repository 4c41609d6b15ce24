"""Finds the messages of a mailbox: by id, by type, in order."""

from __future__ import annotations

from collections.abc import Iterator

from mailstore.columns.messages import MessageHead, MessageTable
from mailstore.records.intervals import FOREVER
from mailstore.records.message import Message, Trace, by_age
from mailstore.state.contents import MailboxContents
from mailstore.state.filing import FiledMail
from mailstore.steps import MailboxReloaded


class MessageLookup(FiledMail):
    """The messages that have arrived, live and archived unless a method says otherwise."""

    def ids(self) -> set[str]:
        """Return the ids of all messages."""
        messages = self.contents.messages
        return {messages.ids[row] for row in messages.rows()}

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

    def newest(self, since: float = -FOREVER) -> Iterator[Message]:
        """Yield the messages that have arrived by now, the newest first, back to a time. Raises MailboxReloaded."""
        messages = self.contents.messages
        times, order = messages.times, messages.order()
        for at in range(len(order) - 1, -1, -1):
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
        messages, postings = self.contents.messages, self.contents.index.postings

        def is_wanted(head: MessageHead) -> bool:
            return head.type == kind and (archived or not head.archived)

        for number in list(postings.heads(is_wanted)):
            for row in postings.with_head(number):
                if is_wanted(messages.head(row)):  # it may have been archived since
                    yield messages[row]
                    check_current(self.contents, messages)

    def times(self) -> list[float]:
        """Return the times of all messages in seconds since the epoch, the earliest first."""
        messages = self.contents.messages
        return list(map(messages.times.__getitem__, messages.order()))


def check_current(contents: MailboxContents, messages: MessageTable) -> None:
    """Raise MailboxReloaded unless these are still the messages of a mailbox."""
    if messages is not contents.messages:
        raise MailboxReloaded
