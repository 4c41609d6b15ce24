"""Whom a message is for: one rule for one message and for many (semantics: recipients)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import msgspec

from mailstore.records.address import DEFAULT_TTL_HOURS, Address, Kind, party, resolve
from mailstore.records.intervals import FOREVER, LAST_SECOND
from mailstore.records.message import Message
from mailstore.records.protocol import PERSON
from mailstore.records.roster import Agent, Roster, Status

__all__ = [
    "HOUR",
    "Facts",
    "Recipient",
    "Way",
    "expires_at",
    "longest_ttl",
    "message_expiry",
    "readers_of",
    "recipients",
    "ways",
]

HOUR = 3600.0

BROADCAST, USER, TAG, ROLE, DIRECT, UNKNOWN, LITERAL = Kind
ASLEEP = Status.FROZEN
"""Members under names of their own: looking one up in its class costs more than most of the rules below."""


class Headed(Protocol):
    """What decides whom messages are for: a message has it, and what many messages share."""

    @property
    def recipients(self) -> tuple[str, ...]: ...
    @property
    def mentions(self) -> tuple[str, ...]: ...
    @property
    def ttl_hours(self) -> float | None: ...
    @property
    def timed(self) -> bool: ...
    @property
    def is_listed(self) -> bool: ...


class Facts(msgspec.Struct, frozen=True, gc=False):
    """What the records say of one message: who read it and when, for whom it was when sent, and who put it away.

    The person bears one name in it, whichever the records use.
    """

    readers: Mapping[str, float | None] = {}
    delivered: tuple[str, ...] = ()
    put_away: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()
    """In whose own inbox a copy lies, which tells whether it was read."""


class Way(msgspec.Struct, frozen=True, gc=False):
    """One way in which a message reaches one recipient; its TTL in seconds, infinity where it never expires.

    It is no way to its own sender unless `is_open_to_sender`, and to an agent only where its life overlaps the
    message's. `is_direct` holds of an address that names the agent itself: what it doesn't read is a dead letter.
    """

    name: str
    kind: Kind
    ttl: float
    role: str = ""
    agent: Agent | None = None
    is_direct: bool = False
    is_open_to_sender: bool = False


class Recipient(msgspec.Struct, frozen=True, gc=False):
    """One recipient of one message: its name, what it is, and when the mail expires for it if it is never frozen.

    The name of a role is that under which its state is kept; `role` is what it is called. A recipient that is reached
    in several ways keeps the longest time, and is direct where one of them is.
    """

    name: str
    kind: Kind
    expiry: float = FOREVER
    is_direct: bool = False
    role: str = ""


def _ttl(head: Headed, kind: Kind) -> float:
    hours = head.ttl_hours if head.ttl_hours is not None else DEFAULT_TTL_HOURS[kind]
    return FOREVER if hours is None or not head.timed else hours * HOUR


def longest_ttl(head: Headed, roster: Roster, user: str = PERSON) -> float:
    """Return the longest TTL of a message's addresses, in seconds, infinity where it never expires."""
    return max((_ttl(head, resolve(text, roster, user).kind) for text in head.recipients), default=FOREVER)


def message_expiry(message: Message, roster: Roster, user: str = PERSON) -> float:
    """Return when the message expires for the last of its recipients, infinity when it never does."""
    return message.time + longest_ttl(message, roster, user)


def expires_at(message: Message, roster: Roster, user: str = PERSON) -> float | None:
    """Return when a message expires for the last of its recipients; None when it never does, or past all calendars."""
    expiry = message_expiry(message, roster, user)
    return expiry if expiry <= LAST_SECOND else None


def ways(head: Headed, roster: Roster, user: str = PERSON) -> Sequence[Way]:
    """Return the ways that addresses and mentions open, in their order.

    Tags and broadcasts lead to each agent in their audience; a role is one recipient under its own name.
    """
    if head.mentions:
        return [*_addressed(head, roster, user), *_named(head, roster, user)]
    key = (head.recipients, head.ttl_hours, head.timed, head.is_listed, user)
    known: Sequence[Way] | None = roster.resolved.get(key)
    if known is None:
        known = roster.resolved[key] = tuple(_addressed(head, roster, user))
    return known


def _addressed(head: Headed, roster: Roster, user: str) -> Iterator[Way]:
    for text in head.recipients:
        address = resolve(text, roster, user)
        kind, ttl = address.kind, _ttl(head, address.kind)
        if kind is TAG or kind is BROADCAST:
            for agent in () if head.is_listed else _audience(address, roster):
                yield Way(party(agent.session_id, roster, user), kind, ttl, agent=agent)
        elif kind is ROLE:
            yield Way(address.name, kind, ttl, address.role, is_open_to_sender=True)
        else:
            yield Way(address.name, kind, ttl, is_direct=kind is DIRECT, is_open_to_sender=True)


def _named(head: Headed, roster: Roster, user: str) -> Iterator[Way]:
    ttl = longest_ttl(head, roster, user)
    for text in head.mentions:
        address = resolve(text, roster, user)
        if address.kind is USER:
            yield Way(address.name, USER, ttl)
        for agent in _mentioned(address, roster):
            yield Way(party(agent.session_id, roster, user), DIRECT, ttl, agent=agent)


def _audience(address: Address, roster: Roster) -> Iterable[Agent]:
    if address.kind is TAG:
        return roster.bearers(address.name)
    start = "" if address.name == "all" else address.name.removesuffix("all")
    return [it for it in roster if it.status is not ASLEEP and it.session_id.startswith(start)]


def _mentioned(address: Address, roster: Roster) -> list[Agent]:
    if address.kind is ROLE:
        return roster.holders(address.role)
    agent = roster.get(address.name) if address.kind is DIRECT else None
    return [agent] if agent is not None else []


def recipients(message: Message, facts: Facts, roster: Roster, user: str = PERSON) -> list[Recipient]:
    """Return everyone the message is for: those of its addresses, mentions, delivery records and read records."""
    found: dict[str, Recipient] = {}
    sender = party(message.sender, roster, user)
    for way in ways(message, roster, user):
        _join(found, way, message.time, sender, roster)
    if facts.delivered or facts.readers:
        held = {it.role for it in found.values() if it.kind is ROLE}
        ttl = longest_ttl(message, roster, user)
        for text in facts.delivered:
            way = _delivery(text, ttl, roster, user)
            if way.name in found or held.isdisjoint(roster.ever_held(way.name)):
                _join(found, way, message.time, sender, roster)
        for name in sorted(facts.readers):
            if name not in found and held.isdisjoint(roster.ever_held(name)):
                _join(found, Way(name, USER if name == PERSON else DIRECT, ttl), message.time, sender, roster)
    return list(found.values())


def _delivery(text: str, ttl: float, roster: Roster, user: str) -> Way:
    """Return the way that a delivery record opens: it names whom it means like an address."""
    address = resolve(text, roster, user)
    if address.kind is ROLE:
        return Way(address.name, ROLE, ttl, address.role)
    is_one = address.kind is DIRECT or address.kind is USER
    return Way(address.name, address.kind, ttl) if is_one else Way(text, UNKNOWN, ttl, is_open_to_sender=True)


def _join(found: dict[str, Recipient], way: Way, time: float, sender: str, roster: Roster) -> None:
    """Let a way lead to its recipient, if it does at that time."""
    name, expiry = way.name, time + way.ttl
    if name == sender and not way.is_open_to_sender:
        return
    if (agent := way.agent) is not None:
        born, died = agent.life()
        if died < time or (born > expiry and born > roster.end_for(agent.session_id, time, expiry)):
            return
    known = found.get(name)
    if known is None:
        found[name] = Recipient(name, way.kind, expiry, way.is_direct, way.role)
    else:
        kind = way.kind if way.kind is UNKNOWN or way.is_direct else known.kind
        found[name] = Recipient(
            name, kind, max(expiry, known.expiry), way.is_direct or known.is_direct, known.role or way.role
        )


def readers_of(recipient: Recipient, message: Message, facts: Facts, roster: Roster) -> list[str]:
    """Return who read a message as a recipient: itself, or for a role whoever held it, its sender excepted."""
    found = [recipient.name] if recipient.name in facts.readers else []
    if recipient.kind is ROLE and facts.readers:
        held = roster.held(recipient.role)
        found += [name for name in held if name in facts.readers and name != message.sender]
    return found
