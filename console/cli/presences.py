"""What the agents of a mailbox are doing, for the commands that list them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from console.cli.loading import Loaded
from console.cli.plain import columns
from console.cli.settings import settings
from console.hooks.sessions.hooked_agents import HookedAgents, hooked_presence
from console.hooks.sessions.live import hooked_agents
from console.render.short_text import age
from console.render.timestamps import iso_time
from console.state.agent_usage import UsageReader
from console.state.unread_mail import unread_count
from console.words.agent_words import usage_facts
from mailstore.delegating import ReadOnly
from mailstore.records.details import AgentFact, AgentUsage
from mailstore.records.roster import Agent
from mailstore.rules.presence import Presence, presence_of


class Presences:
    """Answers for one mailbox as it was read; `stale_after` in seconds, by default as in the settings."""

    def __init__(self, mail: Loaded, stale_after: float | None = None) -> None:
        self._mail = mail
        is_now = not isinstance(mail.store, ReadOnly)
        self.hooked = hooked_agents(mail.store.url, mail.now) if is_now else HookedAgents()
        hook_settings = settings(is_told=False)
        self._limits = hook_settings.hooks
        self._store = mail.store
        self._stale_after = hook_settings.stale_seconds if stale_after is None else stale_after

    def of(self, agent: Agent) -> Presence:
        """Return what an agent is doing."""
        since = self._mail.mailbox.roster.active_since(agent.session_id)
        presence = presence_of(agent, self._mail.now, self._stale_after, since)
        return hooked_presence(agent, presence, self.hooked, self._mail.now, self._limits)

    @cached_property
    def usage(self) -> Mapping[str, AgentUsage]:
        """What the agents that were at work in the last 24 hours have used."""
        return UsageReader(self._store).read({name: hook.session_id for name, hook in self.hooked.live.items()})

    def facts(self, agent: Agent) -> list[AgentFact]:
        """Return what the mailbox says of an agent, and what it has used."""
        known = list(self._store.describe_agent(agent.session_id))
        if (used := self.usage.get(agent.session_id)) is None:
            return known
        from console.settings.config_file import load_config

        return known + usage_facts(used, load_config().config.attention.context_percent)

    def fields(self, agent: Agent) -> dict[str, Any]:
        """Return what every JSON row of an agent says."""
        presence, hook = self.of(agent), self.hooked.live.get(agent.session_id)
        return {
            "session_id": agent.session_id,
            "role": agent.role,
            "status": agent.status,
            "unread": unread_count(self._mail.store, self._mail.mailbox, agent.session_id),
            "last_seen": iso_time(agent.last_seen),
            "state": presence.state,
            "substate": presence.substate,
            "since": iso_time(presence.since),
            "stale": presence.is_stale,
            "gone": presence.is_gone,
            "hook": None if hook is None else hook.tool,
            "can_wake": hook is not None and hook.can_wake,
        }

    def hook_words(self, agent: Agent) -> str:
        """Return by which program's hook an agent hears of its mail; empty where there is none."""
        hook = self.hooked.live.get(agent.session_id)
        return "" if hook is None else f"{hook.tool}, can be woken" if hook.can_wake else hook.tool

    def table(self, agents: Sequence[Agent], heads: Sequence[str], cells: Callable[[Agent], Sequence[str]]) -> str:
        """Return a table of agents, in the last column their hooks, if any has one."""
        hooks = [self.hook_words(agent) for agent in agents]
        if not any(hooks):
            return columns([*map(cells, agents)], heads)
        return columns([(*cells(agent), hook) for agent, hook in zip(agents, hooks, strict=True)], (*heads, "hook"))


def since_words(presence: Presence, now: float) -> str:
    """Return for how long an agent has been in its state, for a table; empty where that is unknown."""
    return "" if presence.since is None else age(now - presence.since)
