"""What agents have used: as their mailbox says, and of agents with hooks as the files of their programs say."""

from __future__ import annotations

from mailstore.delegating import ReadOnly
from mailstore.records.details import AgentUsage
from mailstore.registry import home_stores
from mailstore.store import Store


class UsageReader:
    """Reads what the agents of one mailbox have used. Belongs to one thread at a time."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._homes: list[Store] | None = None

    def read(self, sessions: dict[str, str]) -> dict[str, AgentUsage]:
        """Return by agent what was used in the last 24 hours; blocks, raises nothing.

        `sessions` are the agents whose hooks run, each with its program's own id of the session.
        """
        usages = dict(self._store.usage()) if not isinstance(self._store, ReadOnly) else {}
        others = {session: agent for agent, session in sessions.items() if agent not in usages}
        if others and self._homes is None:
            self._homes = home_stores()
        for home in self._homes or ():
            usages |= {others[session]: used for session, used in home.session_usage(others.keys()).items()}
        return usages
