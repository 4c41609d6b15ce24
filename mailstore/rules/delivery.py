"""What became of a message for each recipient: pure functions of records and a clock (docs/semantics.md, States)."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from mailstore.records.address import LITERAL, ROLE
from mailstore.records.intervals import FOREVER
from mailstore.records.message import Message
from mailstore.records.roster import Roster
from mailstore.rules import outcome
from mailstore.rules.audience import Facts, Recipient
from mailstore.rules.outcome import end_of, has_expired, readers_of, state_unless_read

NO_TIMES = "was frozen at unknown times, so it does not expire"


class State(StrEnum):
    """What a message is to one recipient, in the order in which the rules apply."""

    READ = outcome.READ
    UNDELIVERED = outcome.UNDELIVERED
    UNKNOWN = outcome.UNKNOWN
    DEAD = outcome.DEAD
    WAITING = outcome.WAITING
    FROZEN = outcome.FROZEN
    ARCHIVED = outcome.ARCHIVED
    UNRECORDED = outcome.UNRECORDED
    EXPIRED = outcome.EXPIRED
    UNREAD = outcome.UNREAD


REASONS = {
    State.UNRECORDED: "reads are not recorded",
    State.DEAD: "recipient ended before reading",
    State.FROZEN: "frozen; the message is held",
    State.ARCHIVED: "archived unread",
    State.EXPIRED: "expired unread",
}
STATES: dict[str, State] = {state.value: state for state in State}


class Standing(msgspec.Struct, frozen=True, gc=False):
    """A recipient's state, since when (seconds since the epoch, if known), why, and who read or holds it.

    `is_lost` says that the message is a dead letter for them, unless it has been settled: mail to a channel never is.
    `is_told` says that the sender knows.
    """

    state: State
    since: float | None = None
    reason: str = ""
    by: tuple[str, ...] = ()
    is_lost: bool = False
    is_told: bool = False


def state(recipient: Recipient, message: Message, facts: Facts, roster: Roster, now: float) -> State:
    """Return the first state that applies."""
    if facts.readers and readers_of(recipient, message.sender, facts, roster):
        return State.READ
    if recipient.name in facts.undelivered:
        return State.UNDELIVERED
    is_tracked = message.is_tracked or recipient.name in facts.held
    found = state_of_open(recipient, roster, is_tracked=is_tracked)
    if found is not State.UNREAD and found is not State.UNRECORDED:
        return found
    if recipient.name in facts.put_away:
        return State.ARCHIVED
    if found is State.UNRECORDED:
        return found
    if has_expired(recipient, message.time, roster, now):
        return State.EXPIRED
    return State.ARCHIVED if message.archived else State.UNREAD


def state_of_open(recipient: Recipient, roster: Roster, *, is_tracked: bool = True) -> State:
    """Return the state of mail that a recipient has not read, as long as it has not expired and is not archived."""
    return STATES[state_unless_read(recipient, roster, is_tracked=is_tracked)]


def standing(recipient: Recipient, message: Message, facts: Facts, roster: Roster, now: float) -> Standing:
    """Return a recipient's state with its beginning, its reason, and who read or holds the message."""
    found = state(recipient, message, facts, roster, now)
    if found is State.READ:
        readers = readers_of(recipient, message.sender, facts, roster)
        times = [time for name in readers if (time := facts.readers[name]) is not None]
        return Standing(found, min(times, default=None), "", tuple(readers))
    if found is State.UNDELIVERED:
        record = facts.undelivered[recipient.name]
        return Standing(found, record.time, record.cause, is_lost=True, is_told=record.is_told)
    since = _since(found, recipient, message, roster)
    is_suspended = (
        found is State.UNREAD
        and now >= recipient.expiry
        and end_of(recipient, message.time, recipient.expiry, roster) == FOREVER
    )
    if recipient.kind is ROLE:
        holders = tuple(holder.session_id for holder in roster.holders(recipient.role))
        past = roster.held(recipient.role)
        reasons = {
            State.WAITING: f"no agent holds the role; last held by {past[-1]}" if past else "no agent holds the role",
            State.FROZEN: "all holders are frozen",
            State.UNREAD: NO_TIMES if is_suspended else f"held by {', '.join(holders)}",
        }
        return Standing(found, since, reasons.get(found, REASONS.get(found, "")), holders)
    if found is State.UNKNOWN:
        reason = "an address of another system" if recipient.kind is LITERAL else "no agent by this name"
    else:
        reason = NO_TIMES if is_suspended else REASONS.get(found, "")
    return Standing(found, since, reason, is_lost=outcome.is_dead_letter(recipient, found))


def _since(found: State, recipient: Recipient, message: Message, roster: Roster) -> float | None:
    agent = roster.get(recipient.name)
    if found is State.EXPIRED:
        return end_of(recipient, message.time, recipient.expiry, roster)
    if found is State.DEAD and agent is not None:
        return max(agent.ended_at, message.time) if agent.ended_at is not None and message.timed else None
    if found is State.FROZEN and agent is not None:
        return agent.updated
    return message.time if message.timed else None
