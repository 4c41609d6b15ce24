"""The session that a new one replaces in the same window: after it was cleared, or forked. Imports next to nothing."""

from __future__ import annotations

from console.hooks.sessions.session_state import states_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from console.hooks.sessions.session_state import SessionState

REPLACING = ("clear", "fork")
"""The sources of a session that takes the place of another."""
JUST_NOW_SECONDS = 10.0


def replaced_by(folder: str, state: SessionState, cwd: str, now: float) -> SessionState | None:
    """Return the last session of the same process, else the one that has just ended in the same folder; or None.

    `now` in seconds since the epoch. A fork of a session that runs in another window replaces nothing.
    """
    process = state.extra.get("process")

    def is_replaced(other: SessionState) -> bool:
        if other.tool != state.tool or other.session_id == state.session_id or not other.agent_id:
            return False
        if process and other.extra.get("process"):
            return bool(other.extra["process"] == process)
        return other.cwd == cwd and other.is_ended and 0 <= now - other.last_run < JUST_NOW_SECONDS

    return max(filter(is_replaced, states_in(folder)), key=lambda other: other.last_run, default=None)
