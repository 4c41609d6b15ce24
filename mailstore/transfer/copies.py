"""Turns records about the copies of messages into records about the messages, as a reader sees them.

Usage:

    joined = JoinedCopies()
    for batch in store.scan():
        use(joined.take(batch))
    use(joined.settled())
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from mailstore.records.events import Event, PutAway, Reset, Undelivered
from mailstore.records.message import Delivery, Intervention, Location, Message, Receipt, Trace
from mailstore.state.mailbox import Mailbox


def _nowhere(message_id: str) -> bool:
    return False


class JoinedCopies:
    """The copies of a mailbox, which come from few kinds; what others yield is passed on as it is.

    `is_elsewhere` says whether another mailbox has a message with an id: then that copy's id names the message, else
    the id of the sender's own copy, or of the earliest.
    """

    def __init__(self, is_elsewhere: Callable[[str], bool] = _nowhere) -> None:
        self._is_elsewhere = is_elsewhere
        self._begin(None)

    def _begin(self, mailbox: Mailbox | None) -> None:
        self._mailbox = mailbox
        self._changed: dict[str, None] = {}
        self._journal: list[Intervention] = []
        self._locations: dict[str, Location | None] = {}
        """By name of a message, the copy that it was first read from: all have the same text."""

    def take(self, events: Iterable[Event]) -> list[Event]:
        """Take in what a store yields; return what says nothing about messages of which there may be copies."""
        came = list(events)
        if self._mailbox is None:
            if not any(isinstance(event, Trace) for event in came):
                return came
            self._begin(Mailbox())
        passed: list[Event] = []
        about: list[Event] = []
        for event in came:
            match event:
                case Reset():
                    self._begin(Mailbox())
                    passed, about = [event], []
                case Message():
                    about.append(event)
                    self._changed[event.id] = None
                case Receipt() | Delivery() | PutAway() | Undelivered() | Trace():
                    about.append(event)
                    self._changed[event.message_id] = None
                case Intervention():
                    self._journal.append(event)
                case _:
                    passed.append(event)
        if self._mailbox is not None:
            self._mailbox.fold(about, 0.0)
        return passed

    def settled(self) -> list[Event]:
        """Return what is recorded of each message about which something came since the last call."""
        mailbox = self._mailbox
        if mailbox is None:
            return []
        changed, self._changed = self._changed, {}
        journal, self._journal = self._journal, []
        leads = dict.fromkeys(map(mailbox.lead, changed))
        twins = [twin for twin in mailbox.duplicates if twin.id in changed]
        told = (event for lead in leads for event in self._told(mailbox, lead))
        renamed = (
            replace(record, message_id=self._name(mailbox, record.message_id)) if record.message_id else record
            for record in journal
        )
        return [*told, *twins, *renamed]

    def places(self, message_id: str) -> tuple[str, ...]:
        """Return the files of a message's copies; nothing where a mailbox has none."""
        return () if self._mailbox is None else self._mailbox.places(message_id)

    def _told(self, mailbox: Mailbox, lead: str) -> Iterator[Event]:
        name, message = self._name(mailbox, lead), mailbox.message(lead)
        if message is not None:
            thread = None if message.thread is None else self._name(mailbox, message.thread)
            location = self._locations.setdefault(name, message.location)
            yield replace(message, id=name, thread=thread, location=location)
        for receipt in mailbox.receipts(lead):
            yield replace(receipt, message_id=name)
        for delivery in mailbox.delivered(lead):
            yield replace(delivery, message_id=name)
        for recipient, time in mailbox.put_away_by(lead).items():
            yield PutAway(name, recipient, time)
        for undelivered in mailbox.undelivered(lead):
            yield replace(undelivered, message_id=name)

    def _name(self, mailbox: Mailbox, message_id: str) -> str:
        ids = (trace.message_id for trace in mailbox.traces(message_id))
        return next(filter(self._is_elsewhere, ids), mailbox.lead(message_id))
