"""What became of a message, for each recipient: pure functions of records and a clock.

Nothing here is stored; see semantics: what becomes of a message, audience, dead letters.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from mailstore.records.address import Kind
from mailstore.records.intervals import FOREVER
from mailstore.records.message import Message
from mailstore.records.protocol import PERSON
from mailstore.records.roster import Roster, Status
from mailstore.rules.audience import Facts, Recipient, readers_of

__all__ = ["Standing", "State", "end_of", "is_dead_letter", "standing", "state"]

ROLE, DIRECT, UNKNOWN, LITERAL = Kind.ROLE, Kind.DIRECT, Kind.UNKNOWN, Kind.LITERAL
ASLEEP, GONE = Status.FROZEN, Status.DEAD
"""Members under names of their own: looking one up in its class costs more than most of the rules below."""
UNTOLD = "was frozen, and the roster does not tell from when to when: it does not expire"


class State(StrEnum):
    """What a message is to one recipient, in the order in which the rules apply."""

    READ = "read"
    UNKNOWN = "unknown"
    DEAD = "dead"
    WAITING = "waiting"
    FROZEN = "frozen"
    ARCHIVED = "archived"
    UNRECORDED = "unrecorded"
    EXPIRED = "expired"
    UNREAD = "unread"


class Standing(msgspec.Struct, frozen=True, gc=False):
    """A recipient's state, since when (seconds since the epoch, if known), why, and who read or holds it."""

    state: State
    since: float | None = None
    reason: str = ""
    by: tuple[str, ...] = ()


def state(recipient: Recipient, message: Message, facts: Facts, roster: Roster, now: float) -> State:
    """Return the first state that applies (semantics: what becomes of a message)."""
    if facts.readers and readers_of(recipient, message, facts, roster):
        return State.READ
    if recipient.kind is UNKNOWN or recipient.kind is LITERAL:
        return State.UNKNOWN
    holders = roster.holders(recipient.role) if recipient.kind is ROLE else []
    if recipient.kind is ROLE and not holders:
        return State.WAITING
    is_put_away = recipient.name in facts.put_away
    if not message.is_tracked and recipient.name not in facts.held:
        return State.ARCHIVED if is_put_away else State.UNRECORDED
    if recipient.kind is ROLE:
        if all(holder.status is ASLEEP for holder in holders):
            return State.FROZEN
    elif recipient.name != PERSON:
        agent = roster.get(recipient.name)
        if agent is None:
            return State.UNKNOWN
        if agent.status is GONE:
            return State.DEAD
        if agent.status is ASLEEP:
            return State.FROZEN
    if is_put_away:
        return State.ARCHIVED
    if now >= recipient.expiry and now >= end_of(recipient, message.time, roster):
        return State.EXPIRED
    return State.ARCHIVED if message.archived else State.UNREAD


def end_of(recipient: Recipient, time: float, roster: Roster) -> float:
    """Return when a message of a time expires for a recipient; the time for which it is frozen does not count."""
    if recipient.kind is ROLE:
        return roster.end_for_role(recipient.role, time, recipient.expiry)
    return roster.end_for(recipient.name, time, recipient.expiry)


def is_dead_letter(recipient: Recipient, found: State) -> bool:
    """Say whether a message in some state is a dead letter, unless somebody settled it."""
    return found is State.UNKNOWN or (recipient.is_direct and (found is State.DEAD or found is State.EXPIRED))


def standing(recipient: Recipient, message: Message, facts: Facts, roster: Roster, now: float) -> Standing:
    """Return a recipient's state with since when, why, and who read or holds it."""
    found = state(recipient, message, facts, roster, now)
    if found is State.READ:
        readers = readers_of(recipient, message, facts, roster)
        times = [time for name in readers if (time := facts.readers[name]) is not None]
        return Standing(found, min(times, default=None), "", tuple(readers))
    since = _since(found, recipient, message, roster)
    untold = found is State.UNREAD and now >= recipient.expiry and end_of(recipient, message.time, roster) == FOREVER
    if recipient.kind is ROLE:
        holders = tuple(holder.session_id for holder in roster.holders(recipient.role))
        past = roster.held(recipient.role)
        reasons = {
            State.WAITING: f"no one holds the role; last held by {past[-1]}" if past else "no one holds the role",
            State.FROZEN: "all holders are frozen",
            State.ARCHIVED: "put away before anyone read it",
            State.UNRECORDED: "who read it is not recorded",
            State.EXPIRED: "expired before anyone read it",
            State.UNREAD: UNTOLD if untold else f"held by {', '.join(holders)}",
        }
        return Standing(found, since, reasons.get(found, ""), holders)
    reasons = {
        State.UNKNOWN: "an address of another system"
        if recipient.kind is LITERAL
        else "no one has ever borne this name",
        State.UNRECORDED: "who read it is not recorded",
        State.DEAD: "died before reading it",
        State.FROZEN: "frozen: the message waits",
        State.ARCHIVED: "put away before it was read",
        State.EXPIRED: "expired before it was read",
        State.UNREAD: UNTOLD if untold else "",
    }
    return Standing(found, since, reasons.get(found, ""))


def _since(found: State, recipient: Recipient, message: Message, roster: Roster) -> float | None:
    agent = roster.get(recipient.name)
    if found is State.EXPIRED:
        return end_of(recipient, message.time, roster)
    if found is State.DEAD and agent is not None:
        return max(agent.ended_at, message.time) if agent.ended_at is not None and message.timed else None
    if found is State.FROZEN and agent is not None:
        return agent.updated
    return message.time if message.timed else None
