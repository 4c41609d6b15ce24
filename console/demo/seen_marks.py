"""What the person of the demo remembers: the mail of the days before, and what they have read since."""

from __future__ import annotations

from console.demo.personas import PERSON
from console.state import PersonalState
from mailstore.state.mailbox import Mailbox
from mailstore.store import Store

DAY = 86_400.0


def remember(store: Store, state: PersonalState, now: float) -> None:
    """Mark as seen what is older than a day, but for mail that the person has still to read.

    Reads the whole of `store`; does nothing when the person has seen something of it before.
    """
    if state.seen(store.url)[0]:
        return
    mailbox = Mailbox(PERSON)
    for batch in store.scan():
        mailbox.fold(batch, now)
    seen = []
    for message in mailbox.messages():
        has_read = mailbox.has_read(message.id, PERSON)
        is_old = message.time < now - DAY and not mailbox.is_mine(message)
        if mailbox.is_unseen(message) and (is_old or has_read):
            seen.append(message.id)
    state.mark_seen(store.url, seen, now)
