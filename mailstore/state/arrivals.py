"""Tells which messages are new, each once: a store may yield a message again, a copy of it, or everything.

A module by itself, because the console, the commands that follow and the plain mode ask it.
"""

from __future__ import annotations

from collections.abc import Sequence

from mailstore.records.events import Event, Reset
from mailstore.records.message import Message
from mailstore.state.mailbox import Mailbox


class Arrivals:
    """The messages of one mailbox that were there before its files were read again, and those that are not whole."""

    def __init__(self) -> None:
        self._again: set[str] = set()
        """Ids that may come once more, because everything is yielded again."""
        self._partly: set[str] = set()
        """Ids of copies whose message was not there yet."""

    def fold(self, mailbox: Mailbox, events: Sequence[Event], now: float) -> list[Message]:
        """Fold events; return the messages that are new by them, as they are then; `now` in seconds since the epoch."""
        if any(isinstance(event, Reset) for event in events):
            self._again |= mailbox.recorded_ids()
        new = mailbox.fold(events, now)
        if not (self._again or mailbox.has_copies):
            return new
        fresh = self._partly | {record.id for record in new}
        self._partly = set()
        arrived: dict[str, Message] = {}
        for each in fresh:
            message = mailbox.message(each)
            if message is None:
                self._partly.add(each)
                continue
            copies = {message.id, *(trace.message_id for trace in mailbox.traces(each))}
            if copies.isdisjoint(self._again) and not any(map(mailbox.is_recorded, copies - fresh)):
                arrived[message.id] = message
        return [*arrived.values()]
