"""The agents of a mailbox, the roles they hold and held, their tags, and whether they live."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from mailstore.records.agent_table import DEAD, FROZEN, LIVING, AgentRules, AgentTable
from mailstore.records.intervals import Span, Spell

__all__ = ["Agent", "Roster", "RosterImage", "Status"]


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

    def image(self) -> RosterImage:
        """Return everything that is known, to be saved."""
        return RosterImage(self._lines, self._held, self._frozen, self.person)

    def load(self, image: RosterImage) -> None:
        """Replace everything by what was saved."""
        self._lines, self._held, self._frozen = image.lines, image.held, image.spells
        self._agents = {session: lines[-1] for session, lines in image.lines.items()}
        self.person = image.person
        self._bearers.clear()
        self._tags = None
        self._roles = {}
        for role, sessions in image.held.items():
            for session in sessions:
                self._roles[session] = self.ever_held(session) | {role}
