"""Whom messages are for: one rule for a single message, for many at once, and for a hook.

See docs/semantics.md, Recipients. Imports next to nothing: a hook reads it at every start (docs/decisions/0015).
"""

from __future__ import annotations

from mailstore.records.address import (
    BROADCAST,
    DEFAULT_TTL_HOURS,
    DIRECT,
    ROLE,
    TAG,
    UNKNOWN,
    USER,
    party,
    resolve,
)
from mailstore.records.agent_table import FROZEN
from mailstore.records.intervals import FOREVER, LAST_SECOND
from mailstore.records.protocol import PERSON

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any, Protocol

    from mailstore.records.address import Address, Kind
    from mailstore.records.agent_table import AgentTable, Registered
    from mailstore.records.events import Undelivered

    class Headed(Protocol):
        """What decides whom messages are for: a message has it, and so does what many messages share."""

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

    class SentMessage(Headed, Protocol):
        """A message, as far as it decides who its recipients are."""

        @property
        def sender(self) -> str: ...
        @property
        def time(self) -> float: ...


HOUR = 3600.0
NOBODY: frozenset[str] = frozenset()


class Facts:
    """What the records say of one message. Immutable by convention; all names of the user are one in it.

    `readers` are who read it and when, `delivered` for whom it was when it was sent, `put_away` who archived it for
    themselves, `held` in whose own inbox there is a copy, which shows whether it was read, and `undelivered` whom it
    did not reach, each with the record that says so.
    """

    __slots__ = ("delivered", "held", "put_away", "readers", "undelivered")

    def __init__(
        self,
        readers: Mapping[str, float | None] | None = None,
        delivered: tuple[str, ...] = (),
        put_away: frozenset[str] = NOBODY,
        held: frozenset[str] = NOBODY,
        undelivered: Mapping[str, Undelivered] | None = None,
    ) -> None:
        self.readers: Mapping[str, float | None] = {} if readers is None else readers
        self.delivered = delivered
        self.put_away = put_away
        self.held = held
        self.undelivered: Mapping[str, Undelivered] = {} if undelivered is None else undelivered


class Way:
    """One way in which a message reaches one recipient. Immutable by convention.

    Its TTL is in seconds, infinite where the message never expires. It does not lead to the sender unless
    `is_open_to_sender`, and to an agent only if its life overlaps the message's. `is_direct` is set for an address
    that names the agent itself: unless it is read, the message becomes a dead letter.
    """

    __slots__ = ("agent", "is_direct", "is_open_to_sender", "kind", "name", "role", "ttl")

    def __init__(
        self,
        name: str,
        kind: Kind,
        ttl: float,
        role: str = "",
        agent: Registered | None = None,
        *,
        is_direct: bool = False,
        is_open_to_sender: bool = False,
    ) -> None:
        self.name = name
        self.kind = kind
        self.ttl = ttl
        self.role = role
        self.agent = agent
        self.is_direct = is_direct
        self.is_open_to_sender = is_open_to_sender


class Recipient:
    """One recipient of one message, and when the message expires for it if it is never frozen.

    The name of a role is that under which its state is kept; `role` is what it is called. A recipient that is reached
    in several ways has the latest of their expiries, and is direct if one of them is. Immutable by convention.
    """

    __slots__ = ("expiry", "is_direct", "kind", "name", "role")

    def __init__(self, name: str, kind: Kind, expiry: float = FOREVER, is_direct: bool = False, role: str = "") -> None:
        self.name = name
        self.kind = kind
        self.expiry = expiry
        self.is_direct = is_direct
        self.role = role


def _ttl(head: Headed, kind: Kind) -> float:
    hours = head.ttl_hours if head.ttl_hours is not None else DEFAULT_TTL_HOURS[kind]
    return FOREVER if hours is None or not head.timed else hours * HOUR


def longest_ttl(head: Headed, roster: AgentTable[Any], user: str = PERSON) -> float:
    """Return the longest TTL of a message's addresses in seconds, infinite where it never expires."""
    return max((_ttl(head, resolve(text, roster, user).kind) for text in head.recipients), default=FOREVER)


def _ttl_of_records(head: Headed, roster: AgentTable[Any], user: str) -> float:
    """Return the TTL by a mention or a record: the longest of the addresses, but a role is no way to an agent."""
    kinds = {resolve(text, roster, user).kind for text in head.recipients}
    return max((_ttl(head, kind) for kind in kinds - {ROLE}), default=_ttl(head, ROLE))


def message_expiry(message: SentMessage, roster: AgentTable[Any], user: str = PERSON) -> float:
    """Return when the message expires for the last of its recipients, infinite when it never does."""
    return message.time + longest_ttl(message, roster, user)


def expires_at(message: SentMessage, roster: AgentTable[Any], user: str = PERSON) -> float | None:
    """Return when a message expires for the last of its recipients; None for never, or later than a date can state."""
    expiry = message_expiry(message, roster, user)
    return expiry if expiry <= LAST_SECOND else None


def ways(head: Headed, roster: AgentTable[Any], user: str = PERSON) -> Sequence[Way]:
    """Return the ways that a message's addresses and mentions open, in their order, regardless of sender and time.

    Tags and broadcasts lead to each agent in their audience; a role is one recipient under its own name.
    """
    key = (head.recipients, head.ttl_hours, head.timed, head.is_listed, user)
    known: Sequence[Way] | None = roster.resolved.get(key)
    if known is None:
        known = roster.resolved[key] = tuple(_addressed(head, roster, user))
    return [*known, *_mentioned(head, roster, user)] if head.mentions else known


def _addressed(head: Headed, roster: AgentTable[Any], user: str) -> Iterator[Way]:
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


def _mentioned(head: Headed, roster: AgentTable[Any], user: str) -> Iterator[Way]:
    ttl = _ttl_of_records(head, roster, user)
    for text in head.mentions:
        address = resolve(text, roster, user)
        if address.kind is USER:
            yield Way(address.name, USER, ttl)
        for agent in _agents_mentioned(address, roster):
            yield Way(party(agent.session_id, roster, user), DIRECT, ttl, agent=agent)


def _audience(address: Address, roster: AgentTable[Any]) -> Iterable[Registered]:
    if address.kind is TAG:
        return roster.bearers(address.name)
    start = "" if address.name == "all" else address.name.removesuffix("all")
    return [it for it in roster if it.status != FROZEN and it.session_id.startswith(start)]


def _agents_mentioned(address: Address, roster: AgentTable[Any]) -> list[Any]:
    if address.kind is ROLE:
        return roster.holders(address.role)
    agent = roster.get(address.name) if address.kind is DIRECT else None
    return [agent] if agent is not None else []


def recipients(
    message: SentMessage,
    facts: Facts,
    roster: AgentTable[Any],
    user: str = PERSON,
    opened: Iterable[Way] | None = None,
) -> list[Recipient]:
    """Return everyone the message is for: those of its addresses, mentions, delivery records and read records.

    `opened` are the ways that its addresses and mentions open, where only some of them matter.
    """
    found: dict[str, Recipient] = {}
    sender, time = party(message.sender, roster, user), message.time
    for way in ways(message, roster, user) if opened is None else opened:
        _join(found, way, time, sender, roster)
    if facts.delivered or facts.readers:
        held = {recipient.role for recipient in found.values() if recipient.kind is ROLE}
        ttl = _ttl_of_records(message, roster, user)
        for text in facts.delivered:
            way = _delivery(text, ttl, roster, user)
            if way.name in found or held.isdisjoint(roster.ever_held(way.name)):
                _join(found, way, time, sender, roster)
        for name in sorted(facts.readers):
            if name not in found and held.isdisjoint(roster.ever_held(name)):
                _join(found, Way(name, USER if name == PERSON else DIRECT, ttl), time, sender, roster)
    return list(found.values())


def _delivery(text: str, ttl: float, roster: AgentTable[Any], user: str) -> Way:
    """Return the way that a delivery record opens: it names its recipient like an address."""
    address = resolve(text, roster, user)
    if address.kind is ROLE:
        return Way(address.name, ROLE, ttl, address.role)
    is_one = address.kind is DIRECT or address.kind is USER
    return Way(address.name, address.kind, ttl) if is_one else Way(text, UNKNOWN, ttl, is_open_to_sender=True)


def _join(found: dict[str, Recipient], way: Way, time: float, sender: str, roster: AgentTable[Any]) -> None:
    """Add the recipient that a way leads to, if it leads to it at that time."""
    name, expiry = way.name, time + way.ttl
    if name == sender and not way.is_open_to_sender:
        return
    if way.agent is not None and not is_alive_for(way.agent, time, expiry, roster):
        return
    known = found.get(name)
    if known is None:
        found[name] = Recipient(name, way.kind, expiry, way.is_direct, way.role)
    else:
        kind = way.kind if way.kind is UNKNOWN or way.is_direct else known.kind
        found[name] = Recipient(
            name, kind, max(expiry, known.expiry), way.is_direct or known.is_direct, known.role or way.role
        )


def is_alive_for(agent: Registered, time: float, expiry: float, roster: AgentTable[Any]) -> bool:
    """Say whether an agent's life overlaps that of a message sent at `time` that would expire at `expiry`."""
    born, died = agent.life()
    return died >= time and (born <= expiry or born <= roster.end_for(agent.session_id, time, expiry))
