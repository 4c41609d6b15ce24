"""Whether a session goes on, as far as its state and its process tell. Imports next to nothing: every hook may ask."""

from __future__ import annotations

from console.hooks.processes import is_gone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from console.hooks.session_state import SessionState

__all__ = ["SILENT_SECONDS", "is_live"]

SILENT_SECONDS = 24 * 3600.0
"""After this time without any event, a session counts as ended where its process can't be asked for."""


def is_live(state: SessionState, now: float) -> bool:
    """Say whether a session goes on: nobody ended it, its process runs, or else it did something within a day."""
    if state.is_ended or not state.agent_id:
        return False
    process = state.extra.get("process")
    if isinstance(process, str) and process:
        return not is_gone(process)
    return now - state.last_run < SILENT_SECONDS
