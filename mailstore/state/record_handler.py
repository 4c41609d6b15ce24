"""Folds records about messages: reads, deliveries, interventions."""

from __future__ import annotations

from mailstore.records.address import party
from mailstore.records.events import PutAway
from mailstore.records.message import Delivery, Intervention, Receipt, Trace
from mailstore.state.contents import MailboxContents
from mailstore.state.filing import Filing


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

    def trace(self, trace: Trace, now: float) -> None:
        """Fold what one copy of a letter says about the letter."""
        self._contents.joined.add(trace)
        self._filing.refile(self._contents.messages.ids.row(trace.message_id), now)

    def intervene(self, intervention: Intervention, now: float) -> None:
        """Fold a record of the journal."""
        message_id = self._contents.journal.add(intervention)
        if message_id:
            self._filing.refile(self._contents.messages.ids.row(message_id), now)

    def _party(self, name: str) -> str:
        return party(name, self._contents.roster, self._contents.user)
