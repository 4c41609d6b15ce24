"""Who there is: agents, the roles they hold and held, the tags they bear, and whether they live."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Literal

import msgspec

from mailstore.protocol import LEAST_PREFIX

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

    def roles(self) -> tuple[str, ...]:
        """Return the roles this agent holds: its own, and those it bears as `role:` tags."""
        tagged = tuple(tag[5:] for tag in self.tags if tag.startswith("role:") and tag != "role:")
        return (self.role, *tagged) if self.role and self.role not in tagged else tagged

    def place(self) -> tuple[object, ...]:
        """Return all that decides which mail reaches this agent: a change of it moves mail."""
        return (self.name, self.role, self.tags, self.status, self.started_at, self.ended_at)


Match = Literal["session", "prefix", "name"]


class RosterImage(msgspec.Struct, frozen=True):
    """All that a roster knows, to be kept."""

    lines: dict[str, list[Agent]]
    held: dict[str, dict[str, float | None]]
    spells: dict[str, list[tuple[float, float | None]]]
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
        self._held: dict[str, dict[str, float | None]] = {}
        self._roles: dict[str, frozenset[str]] = {}
        self._frozen: dict[str, list[tuple[float, float | None]]] = {}
        self._bearers: dict[str, list[Agent]] = {}
        self._tags: list[str] | None = None
        self.scopes: set[str] = set()
        """The mailboxes whose names stand here side by side, each behind its label; none where there is but one."""
        self.person: set[str] = set()
        """The names that the person bears here, beside those that every mailbox knows."""
        self.resolved: dict[tuple[str, str], Any] = {}
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
        for role in agent.roles():
            self._held.setdefault(role, {}).setdefault(agent.session_id, agent.updated)
            self._roles[agent.session_id] = self.ever_held(agent.session_id) | {role}
        self._note_frozen(agent)
        self._bearers.clear()
        self._tags = None
        if old is not None and old.place() == agent.place():
            return False
        self.resolved.clear()
        return True

    def _note_frozen(self, agent: Agent) -> None:
        spells = self._frozen.setdefault(agent.session_id, [])
        is_open = bool(spells) and spells[-1][1] is None
        if agent.status is Status.FROZEN and not is_open and agent.updated is not None:
            spells.append((agent.updated, None))
        elif agent.status is not Status.FROZEN and is_open:
            spells[-1] = (spells[-1][0], agent.updated)
            if agent.updated is None:
                spells.pop()

    def frozen_seconds(self, session_id: str, since: float, until: float) -> float:
        """Return how long an agent is known to have been frozen between two moments."""
        total = 0.0
        for start, end in self._frozen.get(session_id, ()):
            total += max(0.0, min(until, until if end is None else end) - max(since, start))
        return total

    def was_frozen(self, session_id: str) -> bool:
        """Say whether an agent is known to have been frozen at any time."""
        return bool(self._frozen.get(session_id))

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
