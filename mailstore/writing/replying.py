"""Address replies, and tell when a reply intervenes in a conversation between agents."""

from __future__ import annotations

import msgspec

from mailstore.records.address import Kind, resolve
from mailstore.records.message import Message
from mailstore.state.mailbox import Mailbox


class Reply(msgspec.Struct, frozen=True):
    """Recipients and subject of a reply; `is_intervention` if the user was not a party to the thread."""

    recipients: tuple[str, ...]
    subject: str
    thread: str
    is_intervention: bool


def reply_to(mailbox: Mailbox, message: Message, *, to_all_sides: bool = False) -> Reply:
    """Address a reply by the user to a message.

    In a conversation that the user is a party to, or in a channel, it goes where the message came from; between
    agents, or with `to_all_sides`, to the sender and all recipients.
    """
    is_party = _is_party(mailbox, message)
    kinds = [(text, resolve(text, mailbox.roster, mailbox.user)) for text in message.recipients]
    channels = [text for text, address in kinds if address.kind is Kind.TAG]
    sides = [message.sender, *(text for text, address in kinds if address.kind is not Kind.USER)]
    if to_all_sides or not (is_party or channels):
        recipients = sides
    elif channels:
        recipients = channels
    elif message.sender == mailbox.user:
        recipients = [text for text, _ in kinds]
    else:
        recipients = [message.sender]
    found = tuple(dict.fromkeys(name for name in recipients if name != mailbox.user)) or (message.sender,)
    subject = message.subject if message.subject.lower().startswith("re:") else f"Re: {message.subject}"
    return Reply(found, subject, message.id, not (is_party or channels))


def _is_party(mailbox: Mailbox, message: Message) -> bool:
    """Return whether the user sent, received or was mentioned in a message or one of its ancestors."""
    at: Message | None = message
    hops = 0
    while at is not None and hops < 1000:
        if at.sender == mailbox.user or mailbox.is_mine(at):
            return True
        at = mailbox.message(at.thread) if at.thread else None
        hops += 1
    return False
