"""How far each agent has read: positions in the log, which only their movements make into receipts."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import NamedTuple

from mailstore.kinds.hcom.tables import LIFE, EventRow
from mailstore.kit.timestamps import time_of

POSITION = re.compile(rb'"position":\s*(\d{1,18})\b')
BEGINS = re.compile(rb'"action":\s*"(?:created|started)"')


class Movement(NamedTuple):
    """A movement: the event that tells of it, the position reached, and when (seconds since the epoch)."""

    event: int
    position: int
    time: float | None


class AgentLife:
    """The movements of an agent between its start and the next one of that name.

    An agent begins at some position, and what lies before that was not read by it.
    """

    def __init__(self, start: int) -> None:
        self.start = start
        self.first: int | None = None
        self.steps: list[Movement] = []

    def move(self, step: Movement) -> bool:
        if self.first is None:
            self.first = step.position
        if self.steps and self.steps[-1].position >= step.position:
            return False
        self.steps.append(step)
        return True

    def reading(self, number: int) -> Movement | None:
        """Return the movement by which a message was read."""
        if number < self.start and (self.first is None or self.first >= number):
            return None
        reached = bisect_left(self.steps, number, key=lambda step: step.position)
        # a position says nothing about messages that came after it was told
        at = max(reached, bisect_left(self.steps, number, key=lambda step: step.event))
        return self.steps[at] if at < len(self.steps) else None


class Positions:
    """The lives of all agents, by their names."""

    def __init__(self) -> None:
        self._lives: dict[str, list[AgentLife]] = {}

    def take(self, row: EventRow) -> bool:
        """Take a status or life event in, in the order of the log; return whether its agent moved."""
        if row.type == LIFE:
            if BEGINS.search(row.data):
                self._lives.setdefault(row.instance, []).append(AgentLife(row.id))
            return False
        found = POSITION.search(row.data)
        return found is not None and self._move(row.instance, Movement(row.id, int(found[1]), time_of(row.timestamp)))

    def told(self, name: str, position: object, last: int) -> bool:
        """Take in the position in an agent's row, of which no event tells the time; `last` is the last event."""
        is_number = isinstance(position, int) and position > 0
        return is_number and self._move(name, Movement(last + 1, int(str(position)), None))

    def _move(self, name: str, step: Movement) -> bool:
        lives = self._lives.setdefault(name, [])
        if not lives:
            lives.append(AgentLife(0))
        return lives[-1].move(step)

    def reading(self, name: str, number: int) -> Movement | None:
        """Return the movement by which an agent has read a message; None if it has not, as far as is recorded."""
        found = (life.reading(number) for life in self._lives.get(name, ()))
        return next((step for step in found if step is not None), None)
