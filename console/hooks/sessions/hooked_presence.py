"""What agents are doing, where their hooks know it better than the roster."""

from __future__ import annotations

from msgspec.structs import replace

from console.hooks.orders import HOLD
from console.hooks.permissions import in_a_line
from console.hooks.sessions.live import HookedAgents, LiveHook
from console.hooks.sessions.session_state import HELD, WAITING, WORKING
from console.render.short_text import clock
from console.settings.config import HookSettings
from mailstore.records.roster import Agent, Status
from mailstore.rules.presence import REPORTED, Presence

STOPPED = "stopped"
MINUTE = 60.0
COUNTED = 70
"""Identical calls that what is read of the last calls always holds."""
LONG_SECONDS = 2 * MINUTE
"""For how long a tool runs before that is said."""
BEAT_DELAY = 1.0
"""Seconds by which the heartbeat of a hook may be dated after the hook's own state."""


def hooked_presence(
    agent: Agent, presence: Presence, hooked: HookedAgents, now: float, settings: HookSettings | None = None
) -> Presence:
    """Return an agent's presence as its hooks know it, unless the roster is newer or says that it doesn't live.

    While its program runs it is not stale, however long it idles; when that has ended it is, at once.
    """
    if agent.status is not Status.LIVING:
        return presence
    seen = agent.last_seen or 0.0
    if (ended := hooked.gone.get(agent.session_id)) is not None and seen <= ended + BEAT_DELAY:
        return replace(presence, is_stale=True, is_gone=True, age=max(0.0, now - max(seen, ended)))
    hook = hooked.live.get(agent.session_id)
    if hook is None:
        return presence
    if hook.asked:
        asked = hook.asked[0]
        return Presence(WAITING, in_a_line(asked), max(0.0, now - max(seen, hook.last_run)), since=asked.since)
    if hook.order is not None and hook.has_gate:
        done = HELD if hook.order.what == HOLD else STOPPED
        word = done if hook.is_obeyed else f"{hook.order.what} asked"
        return Presence(word, hook.order.why, max(0.0, now - hook.last_run), since=hook.order.since)
    stuck, doing = _of_calls(hook, now, settings or HookSettings())
    if seen > hook.last_run + BEAT_DELAY or hook.doing not in REPORTED:
        return replace(presence, is_stale=False, stuck=stuck, substate=stuck or presence.substate)
    return Presence(
        state=hook.doing,
        substate=stuck or doing or (presence.substate if presence.state == hook.doing else ""),
        age=max(0.0, now - max(seen, hook.last_run)),
        since=hook.since or None,
        stuck=stuck,
    )


def _of_calls(hook: LiveHook, now: float, settings: HookSettings) -> tuple[str, str]:
    """Return why an agent that works may be stuck, empty if nothing shows that, and in which tool it is for long."""
    calls = hook.calls
    if calls is None or not calls.last or hook.doing != WORKING:
        return "", ""
    if calls.identical >= settings.identical_calls:
        number = f"over {COUNTED}" if calls.identical > COUNTED else str(calls.identical)
        return f"{number} identical calls of {calls.repeated}", ""
    quiet = now - max(calls.last, hook.since)
    if calls.tool:
        words = f"in {calls.tool} since {clock(calls.last, now)}"
        return (words, "") if quiet >= settings.tool_minutes * MINUTE else ("", words if quiet >= LONG_SECONDS else "")
    return (f"no tool for {quiet / MINUTE:.0f} min" if quiet >= settings.tool_minutes * MINUTE else ""), ""
