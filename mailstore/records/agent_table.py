"""Agents by session id, with the roles and tags they hold or held: what the rules need to know of a roster.

Imports next to nothing, because a hook reads it at every start (docs/decisions/0015).
"""

from __future__ import annotations

from mailstore.records.intervals import FOREVER, all_asleep, known_spans, longest_spans, suspended_end
from mailstore.records.protocol import LEAST_PREFIX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Generic, Literal, Protocol, TypeVar

    from mailstore.records.intervals import Span, Spell

    Match = Literal["session", "prefix", "name"]

    class Registered(Protocol):
        """An agent as one line of a roster states it."""

        @property
        def session_id(self) -> str: ...
        @property
        def name(self) -> str: ...
        @property
        def role(self) -> str: ...
        @property
        def tags(self) -> tuple[str, ...]: ...
        @property
        def status(self) -> str: ...
        @property
        def started_at(self) -> float | None: ...
        @property
        def ended_at(self) -> float | None: ...
        @property
        def updated(self) -> float | None: ...
        @property
        def was_frozen(self) -> tuple[Spell, ...]: ...
        def roles(self) -> tuple[str, ...]: ...
        def life(self) -> Span: ...
        def place(self) -> tuple[object, ...]: ...

    AnyAgent = TypeVar("AnyAgent", bound=Registered)

    class _Of(Generic[AnyAgent]): ...

else:
    AnyAgent = None

    class _Of:
        def __class_getitem__(cls, item: object) -> type:
            return cls


LIVING, FROZEN, DEAD = "living", "frozen", "dead"
NO_ROLES: frozenset[str] = frozenset()


class AgentRules:
    """What follows from one line of a roster, for whatever class holds its fields."""

    __slots__ = ()

    def roles(self: Registered) -> tuple[str, ...]:
        """Return the roles this agent holds: its own, and those of its `role:` tags."""
        tagged = tuple(tag[5:] for tag in self.tags if tag.startswith("role:") and tag != "role:")
        return (self.role, *tagged) if self.role and self.role not in tagged else tagged

    def life(self: Registered) -> Span:
        """Return from when to when it lived or lives; an unknown start is always, an unknown end is never."""
        ended = self.ended_at if self.status == DEAD else None
        return -FOREVER if self.started_at is None else self.started_at, FOREVER if ended is None else ended

    def place(self: Registered) -> tuple[object, ...]:
        """Return everything that decides which mail reaches this agent; when it changes, its mail is filed again."""
        return (self.name, self.role, self.tags, self.status, self.started_at, self.ended_at, self.was_frozen)


class AgentTable(_Of[AnyAgent]):
    """Agents by session id, in the order in which they were first registered.

    A session that is registered again is the same agent. Its last line is current; roles and frozen periods of
    earlier lines are remembered, because mail to a role outlives its holders, and a TTL is suspended while its
    recipient is frozen.
    """

    def __init__(self) -> None:
        self._agents: dict[str, AnyAgent] = {}
        self._lines: dict[str, list[AnyAgent]] = {}
        self._held: dict[str, dict[str, list[Span]]] = {}
        """By role and agent, the periods in which it held the role, whether or not it lived."""
        self._roles: dict[str, frozenset[str]] = {}
        self._frozen: dict[str, list[Spell]] = {}
        self._bearers: dict[str, list[AnyAgent]] | None = None
        self._tags: list[str] | None = None
        self.scopes: set[str] = set()
        """The labels of the mailboxes that are open side by side; empty where there is only one."""
        self.person: set[str] = set()
        """The names of the user in this mailbox, in addition to those that every mailbox knows."""
        self.resolved: dict[tuple[Any, ...], Any] = {}
        """Cached meanings of addresses, cleared whenever an agent's place changes."""

    def __len__(self) -> int:
        return len(self._agents)

    def __iter__(self) -> Iterator[AnyAgent]:
        return iter(self._agents.values())

    def get(self, session_id: str) -> AnyAgent | None:
        """Return the agent with exactly this session id, if there is one."""
        return self._agents.get(session_id)

    def lines_of(self, session_id: str) -> list[AnyAgent]:
        """Return all roster lines of an agent, in the order in which they were read."""
        return list(self._lines.get(session_id, ()))

    def put(self, agent: AnyAgent) -> bool:
        """Register or replace an agent; return whether anything that decides its mail has changed."""
        old = self._agents.get(agent.session_id)
        self._agents[agent.session_id] = agent
        self._lines.setdefault(agent.session_id, []).append(agent)
        self._bearers = None
        if old is not None and old.place() == agent.place():
            return False
        self._note_roles(agent, old)
        self._note_frozen(agent, old)
        self._tags = None
        self.resolved.clear()
        return True

    def _note_roles(self, agent: AnyAgent, old: AnyAgent | None) -> None:
        session, roles = agent.session_id, agent.roles()
        before = () if old is None else old.roles()
        for role in roles:
            if role not in before:
                start = -FOREVER if old is None or agent.updated is None else agent.updated
                self._held.setdefault(role, {}).setdefault(session, []).append((start, FOREVER))
                self._roles[session] = self.ever_held(session) | {role}
        for role in before:
            if role not in roles:
                spans = self._held[role][session]
                spans[-1] = (spans[-1][0], FOREVER if agent.updated is None else agent.updated)

    def _note_frozen(self, agent: AnyAgent, old: AnyAgent | None) -> None:
        spells = self._frozen.get(agent.session_id, [])
        if spells_told := [spell for spell in agent.was_frozen if spell not in spells]:
            self._frozen[agent.session_id] = [*spells_told, *spells]
        was_frozen = old is not None and old.status == FROZEN
        if agent.status == FROZEN and not was_frozen:
            self._frozen.setdefault(agent.session_id, []).append((agent.updated, FOREVER))
        elif was_frozen and agent.status != FROZEN:
            spells = self._frozen[agent.session_id]
            spells[-1] = (spells[-1][0], agent.updated)

    def was_frozen(self, session_id: str) -> bool:
        """Return whether an agent is frozen, or was at any time."""
        return session_id in self._frozen

    def longest_suspension(self, session_id: str) -> float:
        """Return for how many seconds at most a TTL was suspended for an agent; infinite where that is unknown."""
        spells = self._frozen.get(session_id, ())
        return sum(end - start for start, end in longest_spans(spells, self._agents[session_id].life()[0]))

    def end_for(self, session_id: str, time: float, expiry: float) -> float:
        """Return when mail sent at `time` expires for an agent, whose TTL is suspended while it is frozen.

        `expiry` is when it would expire for an agent that was never frozen. Never, where the roster does not state
        the times at which it was frozen and they could matter.
        """
        spells = self._frozen.get(session_id)
        if not spells or expiry == FOREVER:
            return expiry
        return _end(time, expiry, known_spans(spells), longest_spans(spells, self._agents[session_id].life()[0]))

    def end_for_role(self, role: str, time: float, expiry: float) -> float:
        """Return the same for mail to a role: its TTL is suspended while all holders are frozen."""
        if expiry == FOREVER or not any(map(self.was_frozen, self._held.get(role, ()))):
            return expiry
        told, most = [], []
        for session in self._held[role]:
            tenures, spells = self.tenures(session, role), self._frozen.get(session, ())
            told.append((tenures, known_spans(spells)))
            most.append((tenures, longest_spans(spells, self._agents[session].life()[0])))
        return _end(time, expiry, all_asleep(told), all_asleep(most))

    def tenures(self, session_id: str, role: str) -> list[Span]:
        """Return the periods in which an agent held a role and lived."""
        born, died = self._agents[session_id].life()
        return [(max(start, born), min(end, died)) for start, end in self._held.get(role, {}).get(session_id, ())]

    def is_own(self, session_id: str, role: str, time: float, expiry: float) -> bool:
        """Return whether mail to a role is an agent's own: whether it lived and held the role while the mail lasted."""
        if session_id not in self._held.get(role, ()):
            return False
        spans = [(start, end) for start, end in self.tenures(session_id, role) if end >= time]
        if any(start <= expiry for start, _ in spans):
            return True
        return bool(spans) and min(spans)[0] <= self.end_for_role(role, time, expiry)

    def find(self, name: str) -> tuple[AnyAgent, Match] | None:
        """Find one agent by session id, a unique prefix of it (8 characters or more), or its name."""
        if (agent := self._agents.get(name)) is not None:
            return agent, "session"
        if len(self._bare(name)) >= LEAST_PREFIX:
            matching = [agent for agent in self._agents.values() if agent.session_id.startswith(name)]
            if len(matching) == 1:
                return matching[0], "prefix"
        named = [agent for agent in self._agents.values() if agent.name and agent.name == name]
        if named:
            living = [agent for agent in named if agent.status != DEAD]
            return (living or named)[-1], "name"
        return None

    def _bare(self, name: str) -> str:
        label, _, rest = name.partition("/")
        return rest if label in self.scopes else name

    def knows_role(self, role: str) -> bool:
        """Return whether any agent holds or ever held the role."""
        return role in self._held

    def held(self, role: str) -> list[str]:
        """Return the session ids of all that ever held a role, in the order in which they took it."""
        return list(self._held.get(role, ()))

    def ever_held(self, session_id: str) -> frozenset[str]:
        """Return every role that an agent holds or ever held."""
        return self._roles.get(session_id, NO_ROLES)

    def holders(self, role: str) -> list[AnyAgent]:
        """Return the living and frozen agents that hold a role now."""
        return [
            agent
            for session in self._held.get(role, ())
            if (agent := self._agents[session]).status != DEAD and role in agent.roles()
        ]

    def is_held(self, role: str) -> bool:
        """Return whether a living or frozen agent holds a role now."""
        return any(
            (agent := self._agents[session]).status != DEAD and role in agent.roles()
            for session in self._held.get(role, ())
        )

    def bearers(self, tag: str) -> list[AnyAgent]:
        """Return every agent with a tag, the dead included; don't change the list."""
        return self._by_tag().get(tag, [])

    def _by_tag(self) -> dict[str, list[AnyAgent]]:
        if self._bearers is None:
            bearers: dict[str, list[AnyAgent]] = {}
            for agent in self._agents.values():
                for tag in dict.fromkeys(agent.tags):
                    bearers.setdefault(tag, []).append(agent)
            self._bearers = bearers
        return self._bearers

    def roles(self) -> list[str]:
        """Return every role that is or was held, sorted."""
        return sorted(self._held)

    def tags(self) -> list[str]:
        """Return every tag of any agent, sorted; don't change the list."""
        if self._tags is None:
            self._tags = sorted(self._by_tag())
        return self._tags


def _end(time: float, expiry: float, spans: list[Span], most: list[Span]) -> float:
    """Return when a TTL suspended during the known spans ends; never, if it may be suspended for longer."""
    end = suspended_end(time, expiry, spans)
    return end if spans == most or suspended_end(time, expiry, most) <= end else FOREVER
