"""The fold: takes a store's events in, one at a time, and hands each to the class that keeps what it says."""

from __future__ import annotations

from collections.abc import Iterable

from mailstore.records.events import Back, Event, Gone, Mailboxes, Person, Progress, PutAway, Reset, Seen, Unseen
from mailstore.records.message import Delivery, Intervention, Message, Problem, Receipt, Trace
from mailstore.records.own_marks import OwnMarks
from mailstore.records.roster import Agent
from mailstore.state.contents import MailboxContents
from mailstore.state.filing import Filing
from mailstore.state.message_handler import MessageHandler
from mailstore.state.record_handler import RecordHandler
from mailstore.state.roster_handler import RosterHandler
from mailstore.steps import at_once


class Fold:
    """Folds events in any order; one event costs the same at any size of the mailbox."""

    def __init__(self, contents: MailboxContents, filing: Filing) -> None:
        self._contents = contents
        self._filing = filing
        self._messages = MessageHandler(contents, filing)
        self._records = RecordHandler(contents, filing)
        self._roster = RosterHandler(contents, filing)

    def fold(self, events: Iterable[Event], now: float) -> None:
        """Fold events in the order in which the store reported them; `now` is in seconds since the epoch."""
        contents = self._contents
        for event in events:
            match event:
                case Message():
                    self._messages.add(event, now)
                case Receipt():
                    self._records.read(event)
                case Delivery():
                    self._records.deliver(event, now)
                case PutAway():
                    self._records.put_away(event, now)
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
        self._messages.join(now)
        if contents.must_rebuild:
            self._filing.rebuild(now)
