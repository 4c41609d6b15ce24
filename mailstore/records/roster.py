"""Who there is: agents, the roles they hold and held, the tags they bear, and whether they live."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Literal

import msgspec

from mailstore.records.intervals import FOREVER, Span, Spell, known, possible, stretched, together
from mailstore.records.protocol import LEAST_PREFIX

__all__ = ["Agent", "Roster", "RosterImage", "Status"]


class Status(StrEnum):
    """Whether an agent lives (semantics: records; formats/haak.md 17)."""

    LIVING = "living"
    FROZEN = "frozen"
    DEAD = "dead"


class Agent(msgspec.Struct, frozen=True):
    """One line of a roster; times are seconds since the epoch, or None where the roster is silent.

    `updated` is when the line was written. `ended_at` is set for the dead only.
    """

    session_id: str
    name: str = ""
    role: str = ""
    tags: tuple[str, ...] = ()
    status: Status = Status.LIVING
    activity: str = ""
    started_at: float | None = None
    ended_at: float | None = None
    last_seen: float | None = None
    updated: float | None = None
    extra: str = ""
    """The fields of the line that are none of these, as a JSON object; empty where it has no others."""
    was_frozen: tuple[Spell, ...] = ()
    """The times for which it was frozen before, where the line itself tells them."""

    def roles(self) -> tuple[str, ...]:
        """Return the roles this agent holds: its own, and those it bears as `role:` tags."""
        tagged = tuple(tag[5:] for tag in self.tags if tag.startswith("role:") and tag != "role:")
        return (self.role, *tagged) if self.role and self.role not in tagged else tagged

    def life(self) -> Span:
        """Return from when to when it lived or lives: always, as far as nothing else is known."""
        ended = self.ended_at if self.status is Status.DEAD else None
        return -FOREVER if self.started_at is None else self.started_at, FOREVER if ended is None else ended

    def place(self) -> tuple[object, ...]:
        """Return all that decides which mail reaches this agent: a change of it moves mail."""
        return (self.name, self.role, self.tags, self.status, self.started_at, self.ended_at, self.was_frozen)


Match = Literal["session", "prefix", "name"]


class RosterImage(msgspec.Struct, frozen=True):
    """All that a roster knows, to be kept."""

    lines: dict[str, list[Agent]]
    held: dict[str, dict[str, list[Span]]]
    spells: dict[str, list[Spell]]
    person: set[str]


NO_ROLES: frozenset[str] = frozenset()


class Roster:
    """Agents by session id, in the order in which they were first seen.

    A session that is registered twice is one agent: the last line wins, and what earlier lines said of
    roles and frozen spells is remembered, because roles outlive instances and a TTL stands still while
    its recipient is frozen.
    """

    def __init__(self) -> None:
        self._agents: dict[str, Agent] = {}
        self._lines: dict[str, list[Agent]] = {}
        self._held: dict[str, dict[str, list[Span]]] = {}
        """From when to when each agent bore each role, whether or not it lived."""
        self._roles: dict[str, frozenset[str]] = {}
        self._frozen: dict[str, list[Spell]] = {}
        self._bearers: dict[str, list[Agent]] = {}
        self._tags: list[str] | None = None
        self.scopes: set[str] = set()
        """The mailboxes whose names stand here side by side, each behind its label; none where there is but one."""
        self.person: set[str] = set()
        """The names that the person bears here, beside those that every mailbox knows."""
        self.resolved: dict[tuple[Any, ...], Any] = {}
        """What addresses were found to mean; void as soon as an agent's place changes."""

    def __len__(self) -> int:
        return len(self._agents)

    def __iter__(self) -> Iterator[Agent]:
        return iter(self._agents.values())

    def image(self) -> RosterImage:
        """Return all that is known, to be kept."""
        return RosterImage(self._lines, self._held, self._frozen, self.person)

    def load(self, image: RosterImage) -> None:
        """Take over what was kept."""
        self._lines, self._held, self._frozen = image.lines, image.held, image.spells
        self._agents = {session: lines[-1] for session, lines in image.lines.items()}
        self.person = image.person
        self._bearers.clear()
        self._tags = None
        self._roles = {}
        for role, sessions in image.held.items():
            for session in sessions:
                self._roles[session] = self.ever_held(session) | {role}

    def get(self, session_id: str) -> Agent | None:
        """Return the agent of exactly that session, if the roster has it."""
        return self._agents.get(session_id)

    def lines_of(self, session_id: str) -> list[Agent]:
        """Return all that was ever said of an agent, in the order in which it was read."""
        return list(self._lines.get(session_id, ()))

    def put(self, agent: Agent) -> bool:
        """Register or replace an agent; say whether what decides its mail has changed."""
        old = self._agents.get(agent.session_id)
        self._agents[agent.session_id] = agent
        self._lines.setdefault(agent.session_id, []).append(agent)
        self._note_roles(agent, old)
        self._note_frozen(agent, old)
        self._bearers.clear()
        self._tags = None
        if old is not None and old.place() == agent.place():
            return False
        self.resolved.clear()
        return True

    def _note_roles(self, agent: Agent, old: Agent | None) -> None:
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

    def _note_frozen(self, agent: Agent, old: Agent | None) -> None:
        spells = self._frozen.get(agent.session_id, [])
        if told := [spell for spell in agent.was_frozen if spell not in spells]:
            self._frozen[agent.session_id] = [*told, *spells]
        was_frozen = old is not None and old.status is Status.FROZEN
        if agent.status is Status.FROZEN and not was_frozen:
            self._frozen.setdefault(agent.session_id, []).append((agent.updated, FOREVER))
        elif was_frozen and agent.status is not Status.FROZEN:
            spells = self._frozen[agent.session_id]
            spells[-1] = (spells[-1][0], agent.updated)

    def was_frozen(self, session_id: str) -> bool:
        """Say whether an agent is, or was at any time, frozen."""
        return session_id in self._frozen

    def end_for(self, session_id: str, time: float, expiry: float) -> float:
        """Return when mail of a time that would expire at `expiry` does for an agent: not while it is frozen.

        Where the roster does not tell from when to when it was frozen, and that may matter, never.
        """
        spells = self._frozen.get(session_id)
        if not spells or expiry == FOREVER:
            return expiry
        return _end(time, expiry, known(spells), possible(spells, self._agents[session_id].life()[0]))

    def end_for_role(self, role: str, time: float, expiry: float) -> float:
        """Return the same for mail to a role: its time stands still while all who hold it are frozen."""
        if expiry == FOREVER or not any(map(self.was_frozen, self._held.get(role, ()))):
            return expiry
        told, most = [], []
        for session in self._held[role]:
            tenures, spells = self.tenures(session, role), self._frozen.get(session, ())
            told.append((tenures, known(spells)))
            most.append((tenures, possible(spells, self._agents[session].life()[0])))
        return _end(time, expiry, together(told), together(most))

    def tenures(self, session_id: str, role: str) -> list[Span]:
        """Return from when to when an agent held a role and lived."""
        born, died = self._agents[session_id].life()
        return [(max(start, born), min(end, died)) for start, end in self._held.get(role, {}).get(session_id, ())]

    def is_own(self, session_id: str, role: str, time: float, expiry: float) -> bool:
        """Say whether mail to a role is an agent's own: whether it held the role, and lived, between these times."""
        if session_id not in self._held.get(role, ()):
            return False
        spans = [(start, end) for start, end in self.tenures(session_id, role) if end >= time]
        if any(start <= expiry for start, _ in spans):
            return True
        return bool(spans) and min(spans)[0] <= self.end_for_role(role, time, expiry)

    def find(self, name: str) -> tuple[Agent, Match] | None:
        """Find one agent by session id, a unique prefix of it (8 characters or more), or its name."""
        if (agent := self._agents.get(name)) is not None:
            return agent, "session"
        if len(self._bare(name)) >= LEAST_PREFIX:
            matching = [agent for agent in self._agents.values() if agent.session_id.startswith(name)]
            if len(matching) == 1:
                return matching[0], "prefix"
        named = [agent for agent in self._agents.values() if agent.name and agent.name == name]
        if named:
            living = [agent for agent in named if agent.status is not Status.DEAD]
            return (living or named)[-1], "name"
        return None

    def _bare(self, name: str) -> str:
        label, _, rest = name.partition("/")
        return rest if label in self.scopes else name

    def knows_role(self, role: str) -> bool:
        """Say whether any agent holds the role or ever held it."""
        return role in self._held

    def held(self, role: str) -> list[str]:
        """Return the session ids of all that ever held a role, in the order in which they took it."""
        return list(self._held.get(role, ()))

    def ever_held(self, session_id: str) -> frozenset[str]:
        """Return every role that an agent holds or ever held."""
        return self._roles.get(session_id, NO_ROLES)

    def holders(self, role: str) -> list[Agent]:
        """Return the living and frozen agents that hold a role now."""
        return [
            agent
            for session in self._held.get(role, ())
            if (agent := self._agents[session]).status is not Status.DEAD and role in agent.roles()
        ]

    def bearers(self, tag: str) -> list[Agent]:
        """Return every agent whose tags hold `tag`, the dead included; the list is not to be changed."""
        known = self._bearers.get(tag)
        if known is None:
            known = self._bearers[tag] = [agent for agent in self._agents.values() if tag in agent.tags]
        return known

    def roles(self) -> list[str]:
        """Return every role that is or was held, sorted."""
        return sorted(self._held)

    def tags(self) -> list[str]:
        """Return every tag that any agent bears, sorted; the list is not to be changed."""
        if self._tags is None:
            self._tags = sorted({tag for agent in self._agents.values() for tag in agent.tags})
        return self._tags


def _end(time: float, expiry: float, told: list[Span], most: list[Span]) -> float:
    """Return when a time ends that stands still in the spans that are told; never, where it may stand still longer."""
    end = stretched(time, expiry, told)
    return end if told == most or stretched(time, expiry, most) <= end else FOREVER
