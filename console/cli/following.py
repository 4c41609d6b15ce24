"""Follow a mailbox from a command: each event once, after it is applied to the mailbox."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing

from msgspec.structs import replace

from console.cli.loading import Loaded
from console.cli.terminal_io import run_loop, warn
from console.errors import Refused
from console.words.cut_off_words import back_line, cut_off_line, newly
from mailstore.records.events import Event
from mailstore.records.message import Message, Receipt
from mailstore.records.roster import Agent
from mailstore.state.arrivals import Arrivals
from mailstore.state.connections import CutOff
from mailstore.state.mailbox import Mailbox
from mailstore.store import Capability

News = Message | Receipt | Agent
TellConnection = Callable[[CutOff, bool], None]
"""Hears of a mailbox that is cut off (True) or can be reached again (False)."""


def follow(
    mail: Loaded,
    clock: Callable[[], float],
    tell: Callable[[News], bool],
    timeout: float | None = None,
    tell_connection: TellConnection | None = None,
) -> bool:
    """Pass each event to `tell` until it returns True; return False if `timeout` (seconds) passes first.

    A mailbox that is cut off is waited for; `tell_connection` hears of it, without one a warning is printed. Raises
    Refused if the store can't be followed, StoreError if it can no longer be read at all.
    """
    if why := mail.store.capabilities.why_not(Capability.FOLLOW):
        raise Refused(f"{mail.store.called()} can't be followed", why, "E207")
    return run_loop(_follow(mail, clock, tell, timeout, tell_connection or warn_of_connection))


async def _follow(
    mail: Loaded,
    clock: Callable[[], float],
    tell: Callable[[News], bool],
    timeout: float | None,
    tell_connection: TellConnection,
) -> bool:
    try:
        async with asyncio.timeout(timeout):
            async for news in news_of(mail, clock, tell_connection):
                if tell(news):
                    return True
    except TimeoutError:
        return False
    return False


def warn_of_connection(lost: CutOff, is_lost: bool) -> None:
    """Warn that a mailbox is cut off, or say that it can be reached again."""
    now = time.time()
    if is_lost:
        warn(f"{cut_off_line(lost, now)}; waiting for it")
    else:
        warn(back_line(lost, now))


async def news_of(
    mail: Loaded, clock: Callable[[], float], tell_connection: TellConnection = warn_of_connection
) -> AsyncIterator[News]:
    """Yield events that are new, a message once for all its copies; what a reset of the store repeats is dropped."""
    mailbox, arrivals = mail.mailbox, Arrivals()
    lost = {cut_off.label: cut_off for cut_off in mailbox.cut_off()}
    read = {(name, receipt.reader) for name in mailbox.ids() for receipt in mailbox.receipts(name)}
    agents = {agent.session_id: agent for agent in mailbox.roster}
    changes = mail.store.changes()
    async with aclosing(changes):
        async for batch in changes:
            arrived = {message.id: message for message in arrivals.fold(mailbox, batch, clock())}
            before, lost = lost, {cut_off.label: cut_off for cut_off in mailbox.cut_off()}
            for cut_off in newly(lost, before):
                tell_connection(cut_off, True)
            for cut_off in newly(before, lost):
                tell_connection(cut_off, False)
            for event in batch:
                if (news := _news_in(event, mailbox, arrived, read, agents)) is not None:
                    yield news
            for message in arrived.values():
                yield message


def _news_in(
    event: Event,
    mailbox: Mailbox,
    arrived: dict[str, Message],
    read: set[tuple[str, str]],
    agents: dict[str, Agent],
) -> News | None:
    """Return the event if it is new, and remember it; None otherwise."""
    match event:
        case Message():
            return arrived.pop(mailbox.lead(event.id), None)
        case Receipt() if (mailbox.lead(event.message_id), event.reader) not in read:
            read.add((mailbox.lead(event.message_id), event.reader))
            return replace(event, message_id=mailbox.lead(event.message_id))
        case Agent() if agents.get(event.session_id) != event:
            agents[event.session_id] = event
            return event
    return None
