"""Who is there: the last sign of each agent, which the roster's history does not keep."""

from __future__ import annotations

from msgspec.structs import replace

from mailstore.records.roster import Agent


class LastSigns:
    """The entries of agents in the roster with their last signs; times are the server's, in seconds since the epoch."""

    def __init__(self) -> None:
        self._entries: dict[str, tuple[float, Agent]] = {}
        self._signs: dict[str, tuple[float, Agent]] = {}

    def entered(self, agent: Agent, time: float) -> Agent:
        """Take an entry of the roster; return it with what a later sign says."""
        self._entries[agent.session_id] = time, agent
        return self._now(agent.session_id) or agent

    def signed(self, agent: Agent, time: float) -> Agent | None:
        """Take a sign of an agent; return its entry with what the sign says, None if that is nothing new."""
        self._signs[agent.session_id] = time, agent
        return self._now(agent.session_id)

    def _now(self, session_id: str) -> Agent | None:
        entered, signed = self._entries.get(session_id), self._signs.get(session_id)
        if entered is None or signed is None or signed[0] < entered[0]:
            return None
        agent, sign = entered[1], signed[1]
        return replace(agent, activity=sign.activity, last_seen=sign.last_seen, updated=sign.updated)
