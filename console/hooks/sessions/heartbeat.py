"""What a session does, as its events tell, and when that is recorded in the roster. Imports next to nothing."""

from __future__ import annotations

from console.hooks.events import INTERRUPT, PROMPT, START, STOP, TOOL
from console.hooks.events import WAITING as WAITS
from console.hooks.sessions.session_state import IDLE, WAITING, WORKING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from console.hooks.events import HookEvent
    from console.hooks.sessions.session_state import SessionState

COMPACT = "compact"
OFFLINE = "offline"
DOING = {START: IDLE, PROMPT: WORKING, TOOL: WORKING, STOP: IDLE, INTERRUPT: IDLE, WAITS: WAITING}
WORDS = frozenset({WORKING, IDLE, WAITING, OFFLINE, "awake"})
"""How an activity begins that is the state of an agent (`mailstore/rules/presence.py`)."""


def doing_at(event: HookEvent, state: SessionState) -> str:
    """Return what a session does from an event on: what it did before where the event says nothing about it."""
    if event.is_subagent:
        return WORKING
    if event.source == COMPACT:
        return state.doing
    return DOING.get(event.moment, state.doing)


def is_due(state: SessionState, now: float) -> bool:
    """Say whether what a session does is to be recorded now.

    A heartbeat is, every BEAT_SECONDS at first, every five minutes in the end. In between, only what would be wrong for
    long is: that a turn has ended, or that a person is waited for or no longer is; but not that a turn begins. So a
    session writes two lines a minute at most, unless a person answers it more often.
    """
    if not 0 <= now - state.beat < state.pause(now):
        return True
    said = state.extra.get("said")
    return said != state.doing and (state.doing != WORKING or said == WAITING)


def activity(doing: str, said: str) -> str:
    """Return an agent's activity: what it does, and what the agent itself last said of it."""
    word, _, detail = said.partition(": ")
    detail = detail if word in WORDS else said
    return f"{doing}: {detail}" if detail else doing
