"""What agents are doing, where their hooks know it better than the roster."""

from __future__ import annotations

from msgspec.structs import replace

from console.hooks.orders import HOLD
from console.hooks.permissions import in_a_line
from console.hooks.sessions.live import HookedAgents
from console.hooks.sessions.session_state import HELD, WAITING
from mailstore.records.roster import Agent, Status
from mailstore.rules.presence import Presence, Working

STOPPED = "stopped"
BEAT_DELAY = 1.0
"""Seconds by which the heartbeat of a hook may be dated after the hook's own state."""


def hooked_presence(agent: Agent, found: Presence, hooked: HookedAgents, now: float) -> Presence:
    """Return an agent's presence as its hooks know it, unless the roster is newer or says that it doesn't live.

    While its program runs it is not stale, however long it idles; when that has ended it is, at once.
    """
    if agent.status is not Status.LIVING:
        return found
    seen = agent.last_seen or 0.0
    if (ended := hooked.gone.get(agent.session_id)) is not None and seen <= ended + BEAT_DELAY:
        return replace(found, is_stale=True, is_gone=True, age=max(0.0, now - max(seen, ended)))
    hook = hooked.live.get(agent.session_id)
    if hook is None:
        return found
    if hook.order is not None and hook.has_gate:
        done = HELD if hook.order.what == HOLD else STOPPED
        word = done if hook.is_obeyed else f"{hook.order.what} asked"
        return Presence(word, hook.order.why, max(0.0, now - hook.last_run), since=hook.order.since)
    if seen > hook.last_run + BEAT_DELAY or hook.doing not in list(Working):
        return replace(found, is_stale=False)
    if hook.asked:
        asked = hook.asked[0]
        return Presence(WAITING, in_a_line(asked), max(0.0, now - max(seen, hook.last_run)), since=asked.since)
    return Presence(
        state=hook.doing,
        substate=found.substate if found.state == hook.doing else "",
        age=max(0.0, now - max(seen, hook.last_run)),
        since=hook.since or None,
    )
