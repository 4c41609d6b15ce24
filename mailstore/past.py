"""The mailbox as it stood at a moment: what was there, who was alive, who had read what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from mailstore.events import Event, Mailboxes, Person, PutAway, Seen
from mailstore.mailbox import Mailbox
from mailstore.message import Delivery, Message
from mailstore.roster import Agent, Status

__all__ = ["lines_at", "mailbox_at"]


def mailbox_at(mailbox: Mailbox, moment: float) -> Mailbox:
    """Return the mailbox as it stood at a moment, in seconds since the epoch.

    Only what the records date can be taken back. A read record without a time counts from its message's time on.
    An archived message is shown as live: when it was archived, no record says. Of roles, tags and states the roster
    tells as much as its own lines have times for. What the person has seen stays seen.
    """
    past = Mailbox(mailbox.user)
    told: list[Event] = [Mailboxes(tuple(mailbox.roster.scopes)), Person(tuple(mailbox.roster.person))]
    past.fold(told, moment)
    past.fold(_records(mailbox, moment), moment)
    past.advance(moment)
    return past


def _records(mailbox: Mailbox, moment: float) -> Iterator[Event]:
    """Yield the messages after all that is known of them: each is then filed once."""
    messages = mailbox.folded()
    sighted: dict[str, float] = {}
    for message in messages:
        sighted[message.sender] = min(message.time, sighted.get(message.sender, message.time))
    for agent in mailbox.roster:
        sight = sighted.get(agent.session_id)
        yield from lines_at(mailbox.roster.lines_of(agent.session_id), moment, sight)
    yield from (record for record in mailbox.interventions() if record.time <= moment)
    there = [message for message in messages if message.time <= moment]
    for message in there:
        yield from _known_of(mailbox, message, moment)
    for message in there:
        yield replace(message, archived=False, read_by=()) if message.archived or message.read_by else message


def _known_of(mailbox: Mailbox, message: Message, moment: float) -> Iterator[Event]:
    for receipt in mailbox.receipts(message.id):
        if receipt.time is None or receipt.time <= moment:
            yield receipt
    for name in mailbox.deliveries(message.id):
        yield Delivery(message.id, name)
    for name, time in mailbox.put_away_by(message.id).items():
        if time is None or time <= moment:
            yield PutAway(message.id, name, time)
    if mailbox.was_seen(message.id):
        yield Seen(message.id)


def lines_at(lines: Sequence[Agent], moment: float, sight: float | None = None) -> list[Agent]:
    """Return what a roster's lines had said of an agent by a moment; nothing before it was there.

    An agent is there from its start on; where the roster is silent about that, from its first line or from `sight`,
    the first message that it sent. Of the time before its first line no more is known than that it lived.
    """
    said = [line for line in lines if (since := _since(line)) is None or since <= moment]
    latest = said[-1] if said else lines[0]
    if latest.started_at is not None:
        if latest.started_at > moment:
            return []
    elif not said and (sight is None or sight > moment):
        return []
    if not said:
        said = [replace(latest, status=Status.LIVING, ended_at=None, updated=None)]
    if (seen := said[-1].last_seen) is not None and seen > moment:
        said[-1] = replace(said[-1], last_seen=None)
    return said


def _since(line: Agent) -> float | None:
    """Return from when on a line holds: a death from when it came, whenever it was written down."""
    return line.updated if line.ended_at is None else line.ended_at
