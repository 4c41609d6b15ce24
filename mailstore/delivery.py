"""What became of a message, for each recipient: pure functions of records and a clock.

Nothing here is stored; see semantics: what becomes of a message, audience, dead letters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

import msgspec

from mailstore.address import DEFAULT_TTL_HOURS, Address, Kind, party, resolve
from mailstore.message import Message
from mailstore.protocol import PERSON
from mailstore.roster import Agent, Roster, Status

__all__ = [
    "FOREVER",
    "Facts",
    "Recipient",
    "Standing",
    "State",
    "expiry_of",
    "message_expiry",
    "recipients",
    "standing",
    "state",
]

HOUR = 3600.0
FOREVER = float("inf")

BROADCAST, USER, TAG, ROLE, DIRECT, UNKNOWN, LITERAL = Kind
ASLEEP, GONE = Status.FROZEN, Status.DEAD
"""Members under names of their own: looking one up in its class costs more than most of the rules below."""


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


class Facts(msgspec.Struct, frozen=True, gc=False):
    """What the records say of one message: who read it and when, for whom it was when sent, and who put it away.

    The person bears one name in it, whichever the records use.
    """

    readers: Mapping[str, float | None] = {}
    delivered: tuple[str, ...] = ()
    put_away: frozenset[str] = frozenset()


class Recipient(msgspec.Struct, frozen=True, gc=False):
    """One recipient of one message: its name, by which kind of address, and when the mail expires for it.

    `is_addressed` is false for those that only a mention, a delivery or a read record brings in.
    """

    name: str
    kind: Kind
    expiry: float = FOREVER
    is_addressed: bool = True


class Standing(msgspec.Struct, frozen=True, gc=False):
    """A recipient's state, since when (seconds since the epoch, if known), why, and who read or holds it."""

    state: State
    since: float | None = None
    reason: str = ""
    by: tuple[str, ...] = ()


def _expiry(message: Message, kind: Kind) -> float:
    return expiry_of(message.time, message.ttl_hours, message.timed, kind)


def expiry_of(time: float, ttl_hours: float | None, timed: bool, kind: Kind) -> float:
    """Return when mail of a time expires for a recipient that is addressed in some way, infinity when it never does."""
    ttl = ttl_hours if ttl_hours is not None else DEFAULT_TTL_HOURS[kind]
    return FOREVER if ttl is None or not timed else time + ttl * HOUR


def message_expiry(message: Message, roster: Roster, user: str = PERSON) -> float:
    """Return when the message expires for the last of its recipients, infinity when it never does."""
    kinds = [resolve(text, roster, user).kind for text in message.recipients]
    return max((_expiry(message, kind) for kind in kinds), default=FOREVER)


def _overlaps(agent: Agent, start: float, end: float) -> bool:
    begun = -FOREVER if agent.started_at is None else agent.started_at
    ended = FOREVER if agent.status is not GONE or agent.ended_at is None else agent.ended_at
    return begun <= end and ended >= start


def recipients(message: Message, facts: Facts, roster: Roster, user: str = PERSON) -> list[Recipient]:
    """Return everyone the message is for, in the order of its addresses; the sender never is.

    Tags and broadcasts give each agent whose life overlaps the message's; a role is one recipient under
    its own name. Mentions, delivery records and read records add those they name.
    """
    found: dict[str, Recipient] = {}
    roles: list[str] = []
    sender = party(message.sender, roster, user)
    for text in message.recipients:
        address = resolve(text, roster, user)
        expiry = _expiry(message, address.kind)
        if address.kind is ROLE:
            roles.append(address.name)
        for name in _reached(message, sender, address, roster, expiry):
            found.setdefault(name, Recipient(name, address.kind, expiry))
    for name, expiry in _mentioned(message, sender, roster, user):
        found.setdefault(name, Recipient(name, DIRECT, expiry, False))
    if facts.delivered or facts.readers:
        claimed = {session for role in roles for session in roster.held(role)}
        for name in (*facts.delivered, *sorted(facts.readers)):
            if name != sender and name not in found and name not in claimed and name not in roles:
                kind = USER if name == PERSON else DIRECT
                found[name] = Recipient(name, kind, FOREVER, False)
    return list(found.values())


def _reached(message: Message, sender: str, address: Address, roster: Roster, expiry: float) -> Iterator[str]:
    if message.is_listed and address.kind in (TAG, BROADCAST):
        return
    if address.kind is TAG:
        for agent in roster.bearers(address.name):
            if agent.session_id != sender and _overlaps(agent, message.time, expiry):
                yield agent.session_id
    elif address.kind is BROADCAST:
        for agent in roster:
            if agent.status is ASLEEP or agent.session_id == sender:
                continue
            if address.name != "all" and not agent.session_id.startswith(address.name.removesuffix("all")):
                continue
            if _overlaps(agent, message.time, expiry):
                yield agent.session_id
    elif address.name != sender or address.kind is ROLE:
        yield address.name


def _mentioned(message: Message, sender: str, roster: Roster, user: str) -> Iterator[tuple[str, float]]:
    if not message.mentions:
        return
    expiry = message_expiry(message, roster, user)
    for text in message.mentions:
        address = resolve(text, roster, user)
        if address.kind is USER and sender != PERSON:
            yield address.name, expiry
        agents = []
        if address.kind is DIRECT and (agent := roster.get(address.name)):
            agents = [agent]
        elif address.kind is ROLE:
            agents = roster.holders(address.name)
        for agent in agents:
            if agent.session_id != sender and _overlaps(agent, message.time, expiry):
                yield agent.session_id, expiry


def _readers(recipient: Recipient, facts: Facts, roster: Roster) -> list[str]:
    if recipient.kind is not ROLE:
        return [recipient.name] if recipient.name in facts.readers else []
    return [name for name in (recipient.name, *roster.held(recipient.name)) if name in facts.readers]


def state(recipient: Recipient, message: Message, facts: Facts, roster: Roster, now: float) -> State:
    """Return the first state that applies (semantics: what becomes of a message)."""
    if facts.readers and _readers(recipient, facts, roster):
        return State.READ
    if recipient.kind in (UNKNOWN, LITERAL):
        return State.UNKNOWN
    holders = roster.holders(recipient.name) if recipient.kind is ROLE else []
    if recipient.kind is ROLE and not holders:
        return State.WAITING
    is_put_away = recipient.name in facts.put_away
    if not message.is_tracked:
        return State.ARCHIVED if is_put_away else State.UNRECORDED
    frozen_for = 0.0
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
        if now >= recipient.expiry:
            frozen_for = roster.frozen_seconds(agent.session_id, message.time, now)
    if is_put_away:
        return State.ARCHIVED
    if now >= recipient.expiry + frozen_for:
        return State.EXPIRED
    return State.ARCHIVED if message.archived else State.UNREAD


def standing(recipient: Recipient, message: Message, facts: Facts, roster: Roster, now: float) -> Standing:
    """Return a recipient's state with since when, why, and who read or holds it."""
    found = state(recipient, message, facts, roster, now)
    agent = roster.get(recipient.name)
    if found is State.READ:
        readers = _readers(recipient, facts, roster)
        times = [time for name in readers if (time := facts.readers[name]) is not None]
        return Standing(found, min(times, default=None), "", tuple(readers))
    if recipient.kind is ROLE:
        holders = tuple(holder.session_id for holder in roster.holders(recipient.name))
        past = roster.held(recipient.name)
        reasons = {
            State.WAITING: f"no one holds the role; last held by {past[-1]}" if past else "no one holds the role",
            State.FROZEN: "all holders are frozen",
            State.ARCHIVED: "put away before anyone read it",
            State.UNRECORDED: "who read it is not recorded",
            State.EXPIRED: "expired before anyone read it",
            State.UNREAD: f"held by {', '.join(holders)}",
        }
        return Standing(found, _since(found, recipient, message, agent), reasons.get(found, ""), holders)
    reasons = {
        State.UNKNOWN: "an address of another system"
        if recipient.kind is LITERAL
        else "no one has ever borne this name",
        State.UNRECORDED: "who read it is not recorded",
        State.DEAD: "died before reading it",
        State.FROZEN: "frozen: the message waits",
        State.ARCHIVED: "put away before it was read",
        State.EXPIRED: "expired before it was read",
    }
    return Standing(found, _since(found, recipient, message, agent), reasons.get(found, ""))


def _since(found: State, recipient: Recipient, message: Message, agent: Agent | None) -> float | None:
    if found is State.EXPIRED:
        return recipient.expiry
    if found is State.DEAD and agent is not None:
        return agent.ended_at if agent.ended_at is None else max(agent.ended_at, message.time)
    if found is State.FROZEN and agent is not None:
        return agent.updated
    return message.time
