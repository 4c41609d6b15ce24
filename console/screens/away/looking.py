"""Look for what happened while the person was away, again if the mailbox is replaced meanwhile."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from console.running.stepping import stepped
from mailstore.steps import MailboxReloaded

if TYPE_CHECKING:
    from console.session import Session
    from mailstore.queries.absence import Absence
    from mailstore.state.mailbox import Mailbox


async def absence_since(session: Session, since: float, *, is_live: bool) -> Absence | None:
    """Return what happened since a time until now; without `is_live`, until the moment that is shown."""
    while True:
        mailbox = _mailbox(session, is_live)
        try:
            found = await _look(session, mailbox, since, session.clock() if is_live else session.now())
        except MailboxReloaded:
            continue
        if mailbox is _mailbox(session, is_live):
            return found


def _mailbox(session: Session, is_live: bool) -> Mailbox:
    return session.live if is_live else session.mailbox


async def _look(session: Session, mailbox: Mailbox, since: float, now: float) -> Absence | None:
    from mailstore.queries.absence import look_back

    found: Absence | None = None
    async with aclosing(stepped(look_back(mailbox, since, now), session.rest)) as steps:
        async for step in steps:
            found = step
    return found
