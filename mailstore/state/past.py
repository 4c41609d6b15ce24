"""The mailbox as it stood at an earlier time: which messages had arrived, who was alive, who had read what."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from mailstore.records.address import party
from mailstore.records.events import Event, Mailboxes, Person, PutAway, Seen
from mailstore.records.message import Delivery, Message, Receipt
from mailstore.records.roster import Agent, Status
from mailstore.state.mailbox import Mailbox
from mailstore.steps import BackgroundWork, MailboxReloaded, Steps, at_once

ARCHIVE = "archive"
PER_STEP = 32
"""How many agents or messages one step looks at."""
BATCH = 512
"""How many records are folded together."""


def mailbox_at(mailbox: Mailbox, moment: float) -> Mailbox:
    """Return the mailbox as it stood at a time, in seconds since the epoch.

    Only what records date can be undone. A read or delivery record without a time counts from the time of its message.
    An archived message is live again if the journal records that the next archival after it was sent came later. Roles,
    tags and states of agents are known as far as the roster's own lines have times. What the user has seen stays seen,
    and what they muted or starred stays so.
    """
    [past] = at_once(past_in_steps(mailbox, moment))
    return past


def past_in_steps(mailbox: Mailbox, moment: float) -> Steps[Mailbox]:
    """Yield, after some steps, the mailbox as it stood at a time (`mailbox_at`); it may include what arrives meanwhile.

    If the mailbox is reloaded meanwhile, start again with what it holds then.
    """
    while True:
        past = Mailbox(mailbox.user)
        try:
            for batch in _records(mailbox, moment):
                # no other thread knows this mailbox yet
                yield BackgroundWork(partial(past.fold, batch, moment)) if batch else None
        except MailboxReloaded:
            continue
        yield BackgroundWork(partial(past.advance, moment))
        yield past
        return


def _records(mailbox: Mailbox, moment: float) -> Iterator[list[Event]]:
    """Yield batches of messages, each after the records about it; an empty batch marks the end of a step.

    Lines that can't be read have no time: like receipts without one, they were always there.
    """
    every = mailbox.each()
    scopes, person = tuple(mailbox.roster.scopes), tuple(mailbox.roster.person)
    batch: list[Event] = [Mailboxes(scopes), Person(person), mailbox.own_marks()]
    actions = [record for record in mailbox.interventions() if record.time <= moment]
    runs = sorted(record.time for record in mailbox.interventions() if record.action == ARCHIVE)
    roster = mailbox.roster
    for number, agent in enumerate(list(roster), 1):
        batch += lines_at(roster.lines_of(agent.session_id), moment)
        if number % PER_STEP == 0:
            yield []
    batch += actions
    problems = mailbox.problems
    for at in range(0, len(problems), BATCH):
        yield [*batch, *problems[at : at + BATCH]]
        batch = []
    for number, message in enumerate(every, 1):
        if message.time <= moment:
            batch += _known_of(mailbox, message, moment)
            is_archived = message.archived and _archived_at(message, runs) <= moment
            read_by = _undated(mailbox, message)
            is_same = message.archived is is_archived and read_by == message.read_by
            batch.append(message if is_same else replace(message, archived=is_archived, read_by=read_by))
        if len(batch) >= BATCH:
            yield batch
            batch = []
        elif number % PER_STEP == 0:
            yield []
    yield batch


def _archived_at(message: Message, runs: Sequence[float]) -> float:
    """Return when a message was archived, minus infinity if the journal does not record it."""
    at = bisect_left(runs, message.time)
    return runs[at] if at < len(runs) else float("-inf")


def _dated(mailbox: Mailbox, message: Message) -> set[str]:
    """Return the readers whose reads have times: their reads without one are the same."""
    records = mailbox.receipts(message.id)
    return {party(record.reader, mailbox.roster, mailbox.user) for record in records if record.time is not None}


def _undated(mailbox: Mailbox, message: Message) -> tuple[str, ...]:
    """Return the readers that a message itself names, without those whose reads have times."""
    if not message.read_by:
        return ()
    dated = _dated(mailbox, message)
    return tuple(name for name in message.read_by if party(name, mailbox.roster, mailbox.user) not in dated)


def _known_of(mailbox: Mailbox, message: Message, moment: float) -> Iterator[Event]:
    yield from mailbox.traces(message.id)
    reads = mailbox.receipts(message.id)
    if any(read.time is None for read in reads):
        dated = _dated(mailbox, message)
        reads = [
            read
            for read in reads
            if read.time is not None or party(read.reader, mailbox.roster, mailbox.user) not in dated
        ]
    records: list[Receipt | Delivery] = [*reads, *mailbox.delivered(message.id)]
    for record in records:
        if record.time is None or record.time <= moment:
            yield record
    for name, time in mailbox.put_away_by(message.id).items():
        if time is None or time <= moment:
            yield PutAway(message.id, name, time)
    for undelivered in mailbox.undelivered(message.id):
        if undelivered.time is None or undelivered.time <= moment:
            yield undelivered
    if mailbox.was_seen(message.id):
        yield Seen(message.id)


def lines_at(lines: Sequence[Agent], moment: float) -> list[Agent]:
    """Return the roster's lines about an agent that had been written by a time; none before the agent started.

    An agent whose start is not recorded was always there. Before its first line, it is only known to be alive.
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
    """Return from when on a line holds: a death from its own time on, whenever it was written down."""
    return line.updated if line.ended_at is None else line.ended_at
