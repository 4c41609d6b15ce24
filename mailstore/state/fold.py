"""The fold: takes a store's events in, one at a time, and hands each to the class that keeps what it says."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from mailstore.records.address import party
from mailstore.records.events import (
    Back,
    Event,
    Gone,
    Mailboxes,
    OwnMarks,
    Person,
    Progress,
    PutAway,
    Reset,
    Seen,
    Undelivered,
    Unseen,
)
from mailstore.records.message import Delivery, Intervention, Message, Problem, Receipt, Trace
from mailstore.records.protocol import BROADCAST_NAMES
from mailstore.records.roster import Agent
from mailstore.rules.audience import message_expiry
from mailstore.state.contents import MailboxContents
from mailstore.state.filing import Filing
from mailstore.state.joining import MergedCopies, RowChange
from mailstore.steps import at_once


class Fold:
    """Folds events in any order; one event costs the same at any size of the mailbox."""

    def __init__(self, contents: MailboxContents, filing: Filing) -> None:
        self._contents = contents
        self._filing = filing
        self._messages = MessageHandler(contents, filing)
        self._records = RecordHandler(contents, filing)
        self._roster = RosterHandler(contents, filing)

    def fold(self, events: Iterable[Event], now: float) -> list[Message]:
        """Fold events in the order in which the store reported them; return the records of messages that are new.

        `now` is in seconds since the epoch.
        """
        contents = self._contents
        new: list[Message] = []
        for event in events:
            match event:
                case Message():
                    if self._messages.add(event, now):
                        new.append(event)
                case Receipt():
                    self._records.read(event)
                case Delivery():
                    self._records.deliver(event, now)
                case PutAway():
                    self._records.put_away(event, now)
                case Undelivered():
                    self._records.undelivered(event, now)
                case Trace():
                    self._records.trace(event, now)
                case Agent():
                    self._roster.agent(event, now)
                case Intervention():
                    self._records.intervene(event, now)
                case Seen():
                    self._filing.mark_seen(event.message_id)
                case Unseen():
                    self._filing.mark_unseen(event.message_id)
                case OwnMarks():
                    list(at_once(self._filing.quieting.change(event)))
                case Problem():
                    contents.problems.add(event)
                case Mailboxes():
                    self._roster.mailboxes(event)
                case Person():
                    self._roster.person(event)
                case Progress():
                    contents.progress = event
                case Reset():
                    contents.reset()
                case Gone():
                    contents.connections.lose(event, now)
                case Back():
                    contents.connections.restore(event)
        if contents.copies is not None:
            self._messages.join(contents.copies, now)
        if contents.must_rebuild:
            self._filing.rebuild(now)
        return new


class MessageHandler:
    """Puts messages into their rows; times are seconds since the epoch."""

    def __init__(self, contents: MailboxContents, filing: Filing) -> None:
        self._contents = contents
        self._filing = filing

    def add(self, message: Message, now: float) -> bool:
        """Fold a message, a new one, a copy or a record that changed; return whether its record was not there."""
        contents = self._contents
        copies = contents.copies
        if copies is not None:
            self.join(copies, now)
        messages = contents.messages
        parent = messages.parent_of(message)
        row = messages.ids.own(message.id)
        if row is None:
            row = messages.add(message, parent)
        elif copies is not None and copies.is_copy(row):
            is_new = row not in copies.recorded
            self._add_copy(copies, row, message, now)
            return is_new
        elif not messages.is_there(row):
            messages.put(row, message, parent)
        else:
            contents.receipts.make_room()
            self._add_again(row, message, parent, now)
            return False
        contents.receipts.make_room()
        contents.seen.arrive(row, message.id)
        self._filing.add(row, message, now)
        return True

    def _add_again(self, row: int, message: Message, parent: int, now: float) -> None:
        """Fold a message whose id is known: the same record again, or another one that claims the id."""
        contents = self._contents
        old = contents.messages[row]
        if old.position == message.position or (old.location and old.location == message.location):
            if old != message and old.location:
                self._update(row, old, message, parent, now)
            return
        first, second = (message, old) if message.position < old.position else (old, message)
        if first.archived == second.archived:
            contents.duplicates.append(second)
        if first is message:
            contents.messages.put(row, message, parent)
            self._filing.rebuild_later()

    def _update(self, row: int, old: Message, message: Message, parent: int, now: float) -> None:
        """Fold a message whose record was changed in its place: the newest version counts."""
        contents, index = self._contents, self._contents.index
        if contents.is_unseen(row) and old.archived != message.archived:
            index.count_unseen(row, -1)
        contents.messages.put(row, message, parent)
        contents.summaries.forget(index.forest.root(row))
        expected = replace(old, type=message.type, tags=message.tags, archived=message.archived)
        if expected != message or old.archived > message.archived:
            self._filing.rebuild_later()
        elif old.archived != message.archived:
            index.archive(row)
            self._filing.file(row, message, now)
        self._filing.quieting.judge(row, old)

    # Copies of one message

    def join(self, copies: MergedCopies, now: float) -> None:
        """Join records that are copies of one message, so that any of their ids finds it.

        Not during a scan: all of its messages might have to be filed again.
        """
        contents = self._contents
        if copies.is_settled:
            return
        progress = contents.progress
        if progress is not None and progress.done < progress.total:
            return
        changes = copies.settle()
        contents.receipts.make_room()
        for change in changes:
            self._apply(change, now)

    def _add_copy(self, copies: MergedCopies, row: int, message: Message, now: float) -> None:
        """Fold one of several copies of a message."""
        contents = self._contents
        change = copies.put(row, message)
        contents.receipts.make_room()
        if change.before is None and change.now is not None:
            self._filing.add(change.row, change.now, now)
        else:
            self._apply(change, now)
        early = contents.seen.early
        seen = {contents.messages.ids[each] for each in copies.rows(change.row)} & early
        if seen and change.now is not None:
            early -= seen
            for message_id in seen:
                self._filing.mark_seen(message_id)

    def _apply(self, change: RowChange, now: float) -> None:
        """File a row again after its message changed; rebuild if records or replies depend on what changed."""
        contents = self._contents
        row, before, message = change
        is_named = contents.receipts.has_any(row) or contents.index.forest.has_replies(row)
        if not change.is_slight or (before is None and is_named):
            self._filing.rebuild_later()
        elif before is not None and before != message and not contents.must_rebuild:
            contents.index.update_recipients(row, before)
            self._filing.quieting.judge(row, before)
            contents.summaries.forget(contents.index.forest.root(row))
            self._filing.refile(row, now)


class RosterHandler:
    """Updates the roster, and what depends on it; times are seconds since the epoch."""

    def __init__(self, contents: MailboxContents, filing: Filing) -> None:
        self._contents = contents
        self._filing = filing

    def agent(self, agent: Agent, now: float) -> None:
        """Fold a line about an agent, and file the mail again that it may change."""
        contents = self._contents
        before = contents.roster.get(agent.session_id)
        if not contents.roster.put(agent):
            return
        if before is None or before.name != agent.name:
            self._filing.quieting.agents_changed()
        contents.summaries.clear()
        contents.index.views.forget_agents()
        contents.index.asked.clear()
        messages, ledger = contents.messages, contents.ledger
        for row in sorted(contents.index.postings.touched_by(agent, before)):
            if messages.is_there(row) and (ledger.is_open(row) or not self._is_over(row, agent.session_id, now)):
                self._filing.file(row, messages[row], now)

    def _is_over(self, row: int, session_id: str, now: float) -> bool:
        """Return whether a message is only a broadcast and has expired: no change of an agent concerns it."""
        contents = self._contents
        head = contents.messages.head(row)
        if head.mentions or contents.receipts.deliveries.has(row) or not BROADCAST_NAMES.issuperset(head.recipients):
            return False
        message, roster = contents.messages[row], contents.roster
        return roster.end_for(session_id, message.time, message_expiry(message, roster, contents.user)) <= now

    def person(self, person: Person) -> None:
        """Fold further names of the user; everything is filed again if one is new."""
        roster = self._contents.roster
        if not roster.person.issuperset(person.names):
            roster.person.update(person.names)
            roster.resolved.clear()
            self._filing.rebuild_later()

    def mailboxes(self, mailboxes: Mailboxes) -> None:
        """Fold the labels of mailboxes that are open side by side."""
        roster = self._contents.roster
        roster.scopes.update(mailboxes.labels)
        roster.resolved.clear()


class RecordHandler:
    """Takes in records about messages, whether or not the messages have arrived; times are seconds since the epoch."""

    def __init__(self, contents: MailboxContents, filing: Filing) -> None:
        self._contents = contents
        self._filing = filing

    def read(self, receipt: Receipt) -> None:
        """Fold a record that a message was read."""
        contents = self._contents
        row = contents.make_row(receipt.message_id)
        if not contents.receipts.add_read(row, receipt.reader, receipt.time):
            return
        row = contents.messages.ids.leads.get(row, row)
        if contents.messages.is_there(row):
            self._filing.forget_asked(row)
            contents.ledger.read(row, self._party(receipt.reader))

    def deliver(self, delivery: Delivery, now: float) -> None:
        """Fold the record that a message was delivered."""
        contents = self._contents
        row = contents.make_row(delivery.message_id)
        contents.receipts.add_delivery(row, delivery.recipient, delivery.time)
        row = contents.messages.ids.leads.get(row, row)
        contents.index.postings.deliver(row, self._party(delivery.recipient))
        self._filing.refile(row, now)

    def put_away(self, record: PutAway, now: float) -> None:
        """Fold the record that a recipient put a message away."""
        contents = self._contents
        row = contents.make_row(record.message_id)
        contents.receipts.add_put_away(row, record.recipient, record.time)
        self._filing.refile(contents.messages.ids.leads.get(row, row), now)

    def undelivered(self, record: Undelivered, now: float) -> None:
        """Fold the record that a message was not delivered to a recipient, or then was."""
        contents = self._contents
        row = contents.make_row(record.message_id)
        contents.receipts.add_undelivered(row, record)
        self._filing.refile(contents.messages.ids.leads.get(row, row), now)

    def trace(self, trace: Trace, now: float) -> None:
        """Fold what one copy of a message says about the message."""
        self._contents.keep_copies().add(trace)
        self._filing.refile(self._contents.messages.ids.row(trace.message_id), now)

    def intervene(self, intervention: Intervention, now: float) -> None:
        """Fold a record of the journal."""
        message_id = self._contents.journal.add(intervention)
        if message_id:
            self._filing.refile(self._contents.messages.ids.row(message_id), now)

    def _party(self, name: str) -> str:
        return party(name, self._contents.roster, self._contents.user)
