"""Follow a mailbox from a command: each event once, after it is applied to the mailbox."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing

from console.cli.loading import Loaded
from console.errors import Refused
from mailstore.errors import StoreError
from mailstore.records.events import Event, Gone
from mailstore.records.message import Message, Receipt
from mailstore.records.roster import Agent
from mailstore.store import Capability

__all__ = ["News", "follow", "news_of"]

News = Message | Receipt | Agent


def follow(
    mail: Loaded, clock: Callable[[], float], tell: Callable[[News], bool], timeout: float | None = None
) -> bool:
    """Pass each event to `tell` until it returns True; return False if `timeout` (seconds) passes first.

    Raises Refused if the store can't be followed, StoreError if it disappears.
    """
    if why := mail.store.capabilities.why_not(Capability.FOLLOW):
        raise Refused(f"{mail.store.called()} can't be followed", why)
    return asyncio.run(_follow(mail, clock, tell, timeout))


async def _follow(
    mail: Loaded, clock: Callable[[], float], tell: Callable[[News], bool], timeout: float | None
) -> bool:
    try:
        async with asyncio.timeout(timeout):
            async for news in news_of(mail, clock):
                if tell(news):
                    return True
    except TimeoutError:
        return False
    return False


async def news_of(mail: Loaded, clock: Callable[[], float]) -> AsyncIterator[News]:
    """Yield events that are new; those that a reset of the store repeats are dropped."""
    known = {message.id for message in mail.mailbox.messages()}
    read = {(message_id, receipt.reader) for message_id in known for receipt in mail.mailbox.receipts(message_id)}
    agents = {agent.session_id: agent for agent in mail.mailbox.roster}
    changes = mail.store.changes()
    async with aclosing(changes):
        async for batch in changes:
            mail.mailbox.fold(batch, clock())
            for event in batch:
                if isinstance(event, Gone):
                    raise StoreError(f"the mailbox is gone ({event.reason})", "if it is being moved, try again later")
                if (news := _news_in(event, known, read, agents)) is not None:
                    yield news


def _news_in(event: Event, known: set[str], read: set[tuple[str, str]], agents: dict[str, Agent]) -> News | None:
    """Return the event if it is new, and remember it; None otherwise."""
    match event:
        case Message(id=message_id) if message_id not in known:
            known.add(message_id)
            return event
        case Receipt(message_id, reader) if (message_id, reader) not in read:
            read.add((message_id, reader))
            return event
        case Agent() if agents.get(event.session_id) != event:
            agents[event.session_id] = event
            return event
        case _:
            return None
