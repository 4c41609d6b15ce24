"""The mailbox as it stood at a moment: what was there, who was alive, who had read what."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from mailstore.events import Event, Seen
from mailstore.mailbox import Mailbox
from mailstore.message import Delivery, Receipt
from mailstore.roster import Agent, Status

__all__ = ["agent_at", "mailbox_at"]


def mailbox_at(mailbox: Mailbox, moment: float) -> Mailbox:
    """Return the mailbox as it stood at a moment, in seconds since the epoch.

    Only what the records date can be taken back. A read record without a time counts from its message's time on.
    An archived message is shown as live: when it was archived, no record says. Of roles, tags and states the roster
    tells as much as its own lines have times for. What the person has seen stays seen.
    """
    past = Mailbox(mailbox.user)
    past.fold(_records(mailbox, moment), moment)
    past.advance(moment)
    return past


def _records(mailbox: Mailbox, moment: float) -> Iterator[Event]:
    for agent in mailbox.roster:
        found = agent_at(mailbox.roster.lines_of(agent.session_id), moment)
        if found is not None:
            yield found
    for message in mailbox.messages():
        if message.time > moment:
            break
        yield replace(message, archived=False, read_by=())
        for receipt in mailbox.receipts(message.id):
            if receipt.time is None or receipt.time <= moment:
                yield Receipt(message.id, receipt.reader, receipt.time)
        for name in mailbox.deliveries(message.id):
            yield Delivery(message.id, name)
        if mailbox.was_seen(message.id):
            yield Seen(message.id)
    for record in mailbox.interventions():
        if record.time <= moment:
            yield record


def agent_at(lines: list[Agent], moment: float) -> Agent | None:
    """Return what a roster's lines say of an agent at a moment; None before it was there."""
    known = [line for line in lines if line.updated is None or line.updated <= moment]
    agent = known[-1] if known else lines[0]
    if not known and (agent.started_at is None or agent.started_at > moment):
        return None
    if agent.started_at is not None and agent.started_at > moment:
        return None
    if not known or (agent.status is Status.DEAD and agent.ended_at is not None and agent.ended_at > moment):
        agent = replace(agent, status=Status.LIVING, ended_at=None)
    if agent.last_seen is not None and agent.last_seen > moment:
        agent = replace(agent, last_seen=None)
    return agent
