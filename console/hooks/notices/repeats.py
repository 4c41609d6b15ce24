"""Whether a session got the same notice a moment ago: from another copy of our hooks, or at its start.

Hooks may be installed for a person and in a project: programs then run both. Copilot may tell a session's first prompt
before its start. Imports next to nothing.
"""

from __future__ import annotations

from console.hooks.events import PROMPT, START

TYPE_CHECKING = False
if TYPE_CHECKING:
    from console.hooks.events import HookEvent
    from console.hooks.options import RunOptions
    from console.hooks.sessions.session_state import SessionState

REPEAT_SECONDS = 5.0
REMEMBERED = "notified"


def is_repeated(state: SessionState, event: HookEvent, options: RunOptions, now: float, *, is_first: bool) -> bool:
    """Return whether a start or a prompt was answered already; else remember that it is.

    `is_first` says that the notice introduces the agent.
    """
    copy = "|".join((options.store, options.deliver, options.at_end, str(options.can_wake)))
    last = state.extra.get(REMEMBERED)
    if isinstance(last, list) and len(last) == 5 and isinstance(last[0], int | float):
        at, moment, source, other, was_first = last
        is_recent = 0 <= now - at < REPEAT_SECONDS
        is_other_copy = other != copy and moment == event.moment and source == event.source
        is_late_start = moment == PROMPT and was_first and event.source in ("startup", "resume")
        if is_recent and (is_other_copy or (event.moment == START and is_late_start)):
            return True
    state.extra[REMEMBERED] = [now, event.moment, event.source, copy, is_first]
    return False
