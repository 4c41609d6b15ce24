"""An agent's fields in the roster when its session starts, continues or ends. Imports next to nothing: hooks do it."""

from __future__ import annotations

from console.hooks.sessions.heartbeat import OFFLINE, activity
from mailstore.records.agent_table import DEAD, FROZEN, LIVING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from console.hooks.sessions.identity import AgentIdentity
    from console.hooks.sessions.session_state import SessionState

BURY = "bury"


class Arriving:
    """Computes the entry of an agent whose session arrives; a dead one is left alone, and `is_dead` says so."""

    __slots__ = ("_doing", "_identity", "_now", "is_dead", "name", "role", "tags")

    def __init__(self, identity: AgentIdentity, doing: str, now: float) -> None:
        self._identity = identity
        self._doing = doing
        self._now = now
        self.is_dead = False
        self.role, self.tags, self.name = identity.role, identity.tags, identity.name

    def changes(self, known: Any) -> dict[str, Any] | None:
        """Return the new values of an agent's fields; `known` is None for one that is not registered."""
        self.is_dead = known is not None and known.status == DEAD
        if self.is_dead:
            return None
        identity = self._identity
        if known is None:
            self.role, self.tags, self.name = identity.role, identity.tags, identity.name
        else:
            self.role = identity.role if "role" in identity.given else known.role or identity.role
            self.name = identity.name if "name" in identity.given else known.name or identity.name
            self.tags = tuple(dict.fromkeys((*known.tags, *identity.tags)))
        return {
            "status": LIVING,
            "role": self.role,
            "tags": self.tags,
            "name": self.name,
            "activity": activity(self._doing, "" if known is None else known.activity),
            "started_at": self._now if known is None else known.started_at,
            "ended_at": None,
            "last_seen": self._now,
        }


class Beating:
    """Computes the entry of an agent whose session continues; `title` is what the session is called now, if it says."""

    __slots__ = ("_now", "_state", "_title")

    def __init__(self, state: SessionState, title: str, now: float) -> None:
        self._state = state
        self._title = title
        self._now = now

    def changes(self, known: Any) -> dict[str, Any] | None:
        """Return the new values; None for an agent that is dead, which only a new start replaces."""
        extra = self._state.extra
        if known is None:  # the roster has lost it
            tags = extra.get("tags")
            return {
                "status": LIVING,
                "role": str(extra.get("role", "")),
                "tags": tuple(map(str, tags)) if isinstance(tags, list) else (),
                "name": self._title or str(extra.get("name", "")),
                "activity": self._state.doing,
                "started_at": self._now,
                "last_seen": self._now,
            }
        if known.status == DEAD:
            return None
        doing = activity(self._state.doing, known.activity)
        named = {"name": self._title} if self._title and self._title != extra.get("name") else {}
        return {"status": LIVING, "activity": doing, "last_seen": self._now, **named}


def ended(known: Any, at_end: str, now: float) -> dict[str, Any] | None:
    """Return the new values for an agent whose session has ended; None where there is none, or it is dead already."""
    if known is None or known.status == DEAD:
        return None
    if at_end == BURY:
        return {"status": DEAD, "ended_at": now, "last_seen": now}
    return {"status": FROZEN, "activity": activity(OFFLINE, known.activity), "last_seen": now}
