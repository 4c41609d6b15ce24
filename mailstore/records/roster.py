"""The agents of a mailbox, the roles they hold and held, their tags, and whether they live."""

from __future__ import annotations

from enum import StrEnum
from itertools import pairwise

import msgspec

from mailstore.records.agent_table import DEAD, FROZEN, LIVING, AgentRules, AgentTable
from mailstore.records.intervals import Span, Spell


class Status(StrEnum):
    """Whether an agent lives (docs/semantics.md, Records)."""

    LIVING = LIVING
    FROZEN = FROZEN
    DEAD = DEAD


class Agent(AgentRules, msgspec.Struct, frozen=True):
    """One line of a roster; times are seconds since the epoch, or None where the roster states none.

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
    """Any other fields of the line, as a JSON object; empty where there are none."""
    was_frozen: tuple[Spell, ...] = ()
    """The periods in which it was frozen before, where the line itself states them."""


class RosterImage(msgspec.Struct, frozen=True):
    """Everything that a roster knows, in a form that can be saved."""

    lines: dict[str, list[Agent]]
    held: dict[str, dict[str, list[Span]]]
    spells: dict[str, list[Spell]]
    person: set[str]


class Roster(AgentTable[Agent]):
    """The agents of one mailbox, or of several side by side; can be saved and loaded."""

    def __init__(self) -> None:
        super().__init__()
        self._since: dict[str, float | None] = {}

    def put(self, agent: Agent) -> bool:
        """Register or replace an agent; return whether anything that decides its mail has changed."""
        self._note_activity(agent, self.get(agent.session_id))
        return super().put(agent)

    def active_since(self, session_id: str) -> float | None:
        """Return since when an agent's status and the state in its activity are the same; None if unknown."""
        return self._since.get(session_id)

    def _note_activity(self, agent: Agent, old: Agent | None) -> None:
        if old is None:
            # a document has only the last line, whose `updated` is that of the last heartbeat
            is_first = agent.started_at is not None and agent.started_at == agent.updated
            self._since[agent.session_id] = agent.updated if is_first else None
        elif _activity(old) != _activity(agent):
            self._since[agent.session_id] = agent.last_seen if agent.updated is None else agent.updated

    def image(self) -> RosterImage:
        """Return everything that is known, to be saved."""
        return RosterImage(self._lines, self._held, self._frozen, self.person)

    def load(self, image: RosterImage) -> None:
        """Replace everything by what was saved."""
        self._lines, self._held, self._frozen = image.lines, image.held, image.spells
        self._agents = {session: lines[-1] for session, lines in image.lines.items()}
        self._since.clear()
        for lines in image.lines.values():
            for old, agent in pairwise([None, *lines]):
                if agent is not None:
                    self._note_activity(agent, old)
        self.person = image.person
        self._bearers = None
        self._tags = None
        self._roles = {}
        for role, sessions in image.held.items():
            for session in sessions:
                self._roles[session] = self.ever_held(session) | {role}


def _activity(agent: Agent) -> tuple[str, Status]:
    """Return the state that an agent's activity begins with, and its status."""
    return agent.activity.partition(": ")[0], agent.status
