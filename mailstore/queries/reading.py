"""How far each member of a channel has read it, and how soon agents read their mail."""

from __future__ import annotations

from statistics import median

import msgspec

from mailstore.records.message import Message
from mailstore.rules.delivery import State
from mailstore.state.mailbox import Mailbox
from mailstore.state.views import View
from mailstore.steps import MailboxReloaded, Steps

MOST_MESSAGES = 2_000
LOOK_SECONDS = 0.002
MOST_READS = 20
"""The latest so many reads of an agent count."""
FEWEST = 3
"""Of fewer reads than that, nothing is said."""


class Frontier(msgspec.Struct):
    """How far one member has read: the newest message it read, how many it has not, and the oldest of those.

    Messages whose reads are not recorded, or that expired or were archived unread, are not counted.
    """

    name: str
    newest_read: Message | None = None
    unread: int = 0
    oldest_unread: Message | None = None
    is_recorded: bool = False


class Frontiers(msgspec.Struct, frozen=True):
    """Members and other readers, those furthest behind first, of so many of the newest messages, or of all."""

    members: tuple[Frontier, ...]
    messages: int
    is_all: bool


OPEN = (State.UNREAD, State.FROZEN, State.DEAD)


def read_frontiers(mailbox: Mailbox, tag: str, now: float) -> Steps[Frontiers]:
    """Yield how far the members of a channel have read its newest messages, and None before that.

    Raises MailboxReloaded.
    """
    mail = mailbox.view_messages(View("channel", tag))
    while not mail.is_whole and len(mail) < MOST_MESSAGES:
        mail = mail.look(LOOK_SECONDS)
        yield None
    frontiers = {bearer.session_id: Frontier(bearer.session_id) for bearer in mailbox.roster.bearers(tag)}
    ids = mail[-MOST_MESSAGES:]
    for message_id in reversed(ids):
        message = mailbox.message(message_id)
        if message is None:
            raise MailboxReloaded
        for name, state in mailbox.bare_states(message, now).items():
            member = frontiers.setdefault(name, Frontier(name))
            member.is_recorded |= state is not State.UNRECORDED
            if state is State.READ:
                member.newest_read = member.newest_read or message
            elif state in OPEN:
                member.unread += 1
                member.oldest_unread = message
        yield None
    members = sorted(
        frontiers.values(),
        key=lambda frontier: (frontier.oldest_unread.time if frontier.oldest_unread else now, frontier.name),
    )
    yield Frontiers(tuple(members), len(ids), mail.is_whole and len(ids) == len(mail))


def reading_pace(mailbox: Mailbox) -> Steps[dict[str, float]]:
    """Yield the median time, in seconds, from a message to its read, by reader, and None before that.

    Only dated reads of the newest messages count. Raises MailboxReloaded.
    """
    delays: dict[str, list[float]] = {}
    for number, message in enumerate(mailbox.newest()):
        if number == MOST_MESSAGES:
            break
        for receipt in mailbox.receipts(message.id) if message.timed else ():
            of_reader = delays.setdefault(receipt.reader, [])
            if receipt.time is not None and receipt.time >= message.time and len(of_reader) < MOST_READS:
                of_reader.append(receipt.time - message.time)
        yield None
    yield {reader: median(value) for reader, value in delays.items() if len(value) >= FEWEST}
