"""The mailbox as it stood at a moment: what was there, who was alive, who had read what."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from mailstore.records.events import Event, Mailboxes, Person, PutAway, Seen
from mailstore.records.message import Delivery, Message, Receipt
from mailstore.records.roster import Agent, Status
from mailstore.state.mailbox import Mailbox
from mailstore.steps import Aside, ReadAnew, Steps, at_once

__all__ = ["lines_at", "mailbox_at", "taken_back"]

ARCHIVE = "archive"
LOOKED_AT = 32
"""How many agents or messages are looked at in one step."""
TOLD_AT_ONCE = 512
"""How many records the past is told at once."""


def mailbox_at(mailbox: Mailbox, moment: float) -> Mailbox:
    """Return the mailbox as it stood at a moment, in seconds since the epoch.

    Only what the records date can be taken back. A record of reading or delivery without a time counts from its
    message's time on. A message is archived unless the journal tells of the archival that came next, and that it came
    later. Of roles, tags and states the roster tells as much as its own lines have times for. What the person has seen
    stays seen.
    """
    [past] = at_once(taken_back(mailbox, moment))
    return past


def taken_back(mailbox: Mailbox, moment: float) -> Steps[Mailbox]:
    """Yield, after some steps, the mailbox as it stood at a moment (`mailbox_at`); what comes meanwhile may be in it.

    Where the mailbox is read anew, that which is there then is taken back.
    """
    while True:
        past = Mailbox(mailbox.user)
        try:
            for told in _records(mailbox, moment):
                # nobody else knows this one yet
                yield Aside(partial(past.fold, told, moment)) if told else None
        except ReadAnew:
            continue
        yield Aside(partial(past.advance, moment))
        yield past
        return


def _records(mailbox: Mailbox, moment: float) -> Iterator[list[Event]]:
    """Yield the messages, each after all that is known of it, many at a time, and now and then nothing."""
    every = mailbox.each()
    told: list[Event] = [Mailboxes(tuple(mailbox.roster.scopes)), Person(tuple(mailbox.roster.person))]
    deeds = [record for record in mailbox.interventions() if record.time <= moment]
    runs = sorted(record.time for record in mailbox.interventions() if record.action == ARCHIVE)
    roster = mailbox.roster
    for number, agent in enumerate(list(roster), 1):
        told += lines_at(roster.lines_of(agent.session_id), moment)
        if number % LOOKED_AT == 0:
            yield []
    told += deeds
    for number, message in enumerate(every, 1):
        if message.time <= moment:
            told += _known_of(mailbox, message, moment)
            is_archived = message.archived and _archived_at(message, runs) <= moment
            told.append(message if message.archived is is_archived else replace(message, archived=is_archived))
        if len(told) >= TOLD_AT_ONCE:
            yield told
            told = []
        elif number % LOOKED_AT == 0:
            yield []
    yield told


def _archived_at(message: Message, runs: Sequence[float]) -> float:
    """Return when a message was archived, of which the journal tells when that was done; minus infinity else."""
    at = bisect_left(runs, message.time)
    return runs[at] if at < len(runs) else float("-inf")


def _known_of(mailbox: Mailbox, message: Message, moment: float) -> Iterator[Event]:
    yield from mailbox.traces(message.id)
    records: list[Receipt | Delivery] = [*mailbox.receipts(message.id), *mailbox.delivered(message.id)]
    for record in records:
        if record.time is None or record.time <= moment:
            yield record
    for name, time in mailbox.put_away_by(message.id).items():
        if time is None or time <= moment:
            yield PutAway(message.id, name, time)
    if mailbox.was_seen(message.id):
        yield Seen(message.id)


def lines_at(lines: Sequence[Agent], moment: float) -> list[Agent]:
    """Return what a roster's lines had said of an agent by a moment; nothing before it was there.

    An agent is there from its start on, or was there always where the roster is silent about that. Of the time before
    its first line no more is known than that it lived.
    """
    said = [line for line in lines if (since := _since(line)) is None or since <= moment]
    latest = said[-1] if said else lines[0]
    if latest.started_at is not None and latest.started_at > moment:
        return []
    if not said:
        said = [replace(latest, status=Status.LIVING, ended_at=None, updated=None)]
    if (seen := said[-1].last_seen) is not None and seen > moment:
        said[-1] = replace(said[-1], last_seen=None)
    return said


def _since(line: Agent) -> float | None:
    """Return from when on a line holds: a death from when it came, whenever it was written down."""
    return line.updated if line.ended_at is None else line.ended_at
