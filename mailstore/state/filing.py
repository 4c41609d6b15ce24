"""Keeps threads, counts and open mail up to date as messages and records arrive, and as time passes."""

from __future__ import annotations

from collections.abc import Collection

from mailstore.records.address import ROLE, party
from mailstore.records.message import Message
from mailstore.rules.audience import Facts, Recipient, recipients, ways
from mailstore.state.contents import MailboxContents
from mailstore.state.quieting import Quieting
from mailstore.state.receipts import NO_FACTS


class Filing:
    """Files the messages of a mailbox in its index and its ledger; times are seconds since the epoch."""

    def __init__(self, contents: MailboxContents) -> None:
        self._contents = contents
        self.quieting = Quieting(contents)

    def add(self, row: int, message: Message, now: float) -> None:
        """Add a message that is in its row to threads, counts and open mail."""
        contents = self._contents
        if message.read_by:
            contents.receipts.add_readers(row, message.read_by)
        root = contents.index.add(row, contents.is_unseen(row))
        self.quieting.arrived(row)
        contents.summaries.extend(root, message)
        self.file(row, message, now)

    def file(self, row: int, message: Message, now: float) -> None:
        """File the message of a row under everyone who has it open."""
        contents = self._contents
        self.forget_asked(row)
        settled = contents.journal.settled(message.id)
        contents.ledger.file(row, message, contents.receipts.facts(row), settled, now)

    def forget_asked(self, row: int) -> None:
        """Forget who was asked in a message's thread, because a record about the message may change it."""
        index = self._contents.index
        if index.asked:
            index.asked.pop(index.forest.root(row), None)

    def refile(self, row: int | None, now: float) -> None:
        """File a message again after a record about it arrived; do nothing unless the message has arrived."""
        if row is not None and self._contents.messages.is_there(row):
            self.file(row, self._contents.messages[row], now)

    def advance(self, now: float) -> bool:
        """Let time pass; return whether anything ran out."""
        due = self._contents.ledger.come_due(now)
        for row in due:
            self.file(row, self._contents.messages[row], now)
        return bool(due)

    def _count_unseen(self, row: int, by: int) -> None:
        index = self._contents.index
        index.count_unseen(row, by)
        self._contents.summaries.update_unseen(index.forest.root(row))

    def mark_seen(self, message_id: str) -> None:
        """Record that the user has seen a message, whether or not it has arrived."""
        contents = self._contents
        ids, seen = contents.messages.ids, contents.seen
        row, own = ids.row(message_id), ids.own(message_id)
        if row is None or own is None or not contents.messages.is_there(row):
            seen.early.add(message_id)
            return
        was_unseen = contents.is_unseen(row)
        seen.rows.add(own)
        if was_unseen:
            self._count_unseen(row, -1)

    def mark_unseen(self, message_id: str) -> None:
        """Take back that the user has seen a message."""
        contents = self._contents
        contents.seen.early.discard(message_id)
        row = contents.messages.ids.row(message_id)
        if row is None:
            return
        was_seen = [contents.seen.rows.discard(copy) for copy in contents.copies_of(row)]
        if any(was_seen) and contents.is_unseen(row):
            self._count_unseen(row, 1)

    def rebuild_later(self) -> None:
        """Have everything filed again before the next question: what it was sorted by has changed."""
        self._contents.must_rebuild = True
        self._contents.index.forget_orders()

    def rebuild(self, now: float) -> None:
        """File everything again."""
        contents = self._contents
        contents.reset_indexes()
        messages, deliveries = contents.messages, contents.receipts.deliveries
        leads = messages.ids.leads
        for row in range(len(messages)):
            for name in deliveries.names_of(row):
                recipient = party(messages.names[name], contents.roster, contents.user)
                contents.index.postings.deliver(leads.get(row, row), recipient)
        for row in messages.rows():
            self.add(row, messages[row], now)


class FiledMail:
    """What the classes that answer the questions of a mailbox share: its contents, and what keeps them filed."""

    def __init__(self, contents: MailboxContents) -> None:
        self.contents = contents
        """The columns, for modules that fill, save or guard them."""
        self._filing = Filing(contents)

    def advance(self, now: float) -> bool:
        """Let time pass, in seconds since the epoch; return whether anything ran out."""
        return self._filing.advance(now)

    def _recipients(self, message: Message, names: Collection[str] | None = None) -> list[Recipient]:
        """Return the recipients of a message; where names are given, those among them and all roles are enough."""
        contents = self.contents
        opened = ways(message, contents.roster, contents.user)
        if names is not None:
            opened = [way for way in opened if way.name in names or way.kind is ROLE]
        return recipients(message, self._facts(message.id), contents.roster, contents.user, opened)

    def _party(self, name: str) -> str:
        return party(name, self.contents.roster, self.contents.user)

    def _facts(self, message_id: str) -> Facts:
        """Return what the records say about a message."""
        row = self.contents.messages.ids.row(message_id)
        return NO_FACTS if row is None else self.contents.receipts.facts(row)
