"""The messages and reads that led to a message: who knew what when.

An answer was caused by the message that it answers; what begins a thread, by the message to its sender that they had
read last, within an hour, else by the last one in a channel or to all (docs/search.md).
"""

from __future__ import annotations

from collections.abc import Generator
from enum import StrEnum

import msgspec

from mailstore.records.address import party
from mailstore.records.message import Message
from mailstore.records.protocol import PERSON
from mailstore.state.mailbox import Mailbox
from mailstore.steps import Steps

LONGEST = 100
"""Messages of a chain."""
WINDOW_SECONDS = 3600.0
"""How long before a message its sender may have read what caused it."""
SENT_SECONDS = 24 * 3600.0
"""How long before it that may have been sent."""
MOST_LOOKED_AT = 20_000


class Because(StrEnum):
    """How a message came about from the one before it."""

    ANSWERS = "answers"
    READ = "read"


class Cause(msgspec.Struct, frozen=True):
    """A message of a chain; `because` is None for the first, and `read` when its sender read the one before it."""

    message: Message
    because: Because | None = None
    read: float | None = None


def causes(mailbox: Mailbox, message: Message) -> Steps[list[Cause]]:
    """Yield the chain of messages that led to one, the earliest first, and None before that.

    What the user began has no cause. Raises MailboxReloaded.
    """
    found: list[Cause] = []
    known = {message.id}
    at: Message | None = message
    while at is not None:
        before, because, read = _answered(mailbox, at), Because.ANSWERS, None
        sender = party(at.sender, mailbox.roster, mailbox.user)
        if before is not None:
            read = _read_time(mailbox, before, sender, at.time)
        elif sender != PERSON and at.timed:
            because = Because.READ
            for step in _read_last(mailbox, sender, at):
                if step is None:
                    yield None
                else:
                    before, read = step
        if before is None or before.id in known or len(found) + 1 == LONGEST:
            found.append(Cause(at))
            break
        known.add(before.id)
        found.append(Cause(at, because, read))
        at = before
        yield None
    yield found[::-1]


def _answered(mailbox: Mailbox, message: Message) -> Message | None:
    return mailbox.message(message.thread) if message.thread is not None else None


def _read_time(mailbox: Mailbox, message: Message, reader: str, latest: float) -> float | None:
    times = [
        receipt.time
        for receipt in mailbox.receipts(message.id)
        if party(receipt.reader, mailbox.roster, mailbox.user) == reader
    ]
    return min((time for time in times if time is not None and time <= latest), default=None)


def _read_last(mailbox: Mailbox, reader: str, message: Message) -> Generator[tuple[Message, float] | None, None, None]:
    """Yield the message that a reader had read last when it wrote another one, and when; nothing if it read none."""
    last: tuple[bool, float, Message] | None = None
    since = message.time - WINDOW_SECONDS
    for number, each in enumerate(mailbox.newest(message.time - SENT_SECONDS, message.time)):
        if number == MOST_LOOKED_AT:
            break
        if each.id != message.id and (read := _read_time(mailbox, each, reader, message.time)) is not None:
            place = not mailbox.is_talk(each, reader), read
            if read >= since and (last is None or place > last[:2]):
                last = *place, each
        yield None
    if last is not None:
        yield last[2], last[1]
