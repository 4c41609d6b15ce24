"""Whether a session still runs, as its state and its process show. Imports next to nothing: every hook may ask."""

from __future__ import annotations

from console.hooks.sessions.processes import is_gone, is_of_this_system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from console.hooks.sessions.session_state import SessionState

SILENT_SECONDS = 24 * 3600.0
"""After this time without any event, a session counts as ended where its process can't be asked for."""


def is_live(state: SessionState, now: float) -> bool:
    """Return whether a session still runs: it was not ended, and its process runs or it was active within a day."""
    if state.is_ended or not state.agent_id:
        return False
    if is_of_this_system(process_of(state)):
        return not process_is_gone(state)
    return now - state.last_run < SILENT_SECONDS


def process_is_gone(state: SessionState) -> bool:
    """Say whether a session's program has certainly ended."""
    process = process_of(state)
    return bool(state.agent_id and process) and is_gone(process)


def process_of(state: SessionState) -> str:
    """Return what names the program of a session among all processes; empty if unknown."""
    process = state.extra.get("process")
    return process if isinstance(process, str) else ""
