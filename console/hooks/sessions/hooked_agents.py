"""Agents that have a hook that runs, and what they are doing where their hooks know it better than the roster."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from console.render.short_text import clock
from console.settings.config import HookSettings
from mailstore.records.roster import Agent, Status
from mailstore.rules.presence import REPORTED, Presence, Working

if TYPE_CHECKING:
    from console.hooks.calls import Calls
    from console.hooks.orders import Order
    from console.hooks.permissions import PermissionRequest

CODEX = "codex"
WATCHING = frozenset({"claude-code", "opencode"})
"""Programs that are woken by a change of a file."""
SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
MINUTE = 60.0
COUNTED = 70
"""Identical calls that what is read of the last calls always holds."""
LONG_SECONDS = 2 * MINUTE
"""For how long a tool runs before that is said."""
BEAT_DELAY = 1.0
"""Seconds by which the heartbeat of a hook may be dated after the hook's own state."""


class LiveHook(Struct, frozen=True):
    """An agent's session whose hooks run; times in seconds since the epoch.

    `doing` is working, idle or waiting (for a permission). `folder` is where the hooks of its mailbox keep their state,
    `mailbox` its URL, `agent_id` what the agent is called in it, `cwd` the session's working folder. With `has_gate`
    its tool calls can be held; `order` is what the user wants of it, None for nothing, and `is_obeyed` says that a hook
    has kept a tool call from running for it. `asked` are the permissions that can be given to it from here,
    `calls` what its last tool calls show, None without a gate. `process` names the session's program, and
    `takes_prompts` says that its plugin does.
    """

    tool: str
    session_id: str
    doing: str
    since: float
    last_run: float
    can_wake: bool
    folder: str
    mailbox: str = ""
    agent_id: str = ""
    cwd: str = ""
    has_gate: bool = False
    order: Order | None = None
    is_obeyed: bool = False
    asked: tuple[PermissionRequest, ...] = ()
    calls: Calls | None = None
    process: str = ""
    takes_prompts: bool = False

    @property
    def is_idle(self) -> bool:
        """Whether the session waits for its next turn."""
        return self.doing == Working.IDLE

    @property
    def way_to_wake(self) -> str:
        """In words, how the session's program is woken; empty if it can't be woken."""
        return "codex queue" if self.tool == CODEX else "its bell file" if self.tool in WATCHING else ""

    @property
    def can_be_woken(self) -> bool:
        """Whether the session may be woken, and there is a way to."""
        return self.can_wake and bool(self.way_to_wake) and bool(SESSION.fullmatch(self.session_id))


class HookedAgents(Struct, frozen=True):
    """By agent id, the sessions whose hooks run, and when those were last heard of that ended without saying so."""

    live: dict[str, LiveHook] = {}
    gone: dict[str, float] = {}


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
        return Presence(Working.WAITING, asked.in_a_line(), max(0.0, now - max(seen, hook.last_run)), since=asked.since)
    if hook.order is not None and hook.has_gate:
        word = hook.order.obeyed if hook.is_obeyed else f"{hook.order.what} asked"
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
    if calls is None or not calls.last or hook.doing != Working.WORKING:
        return "", ""
    if calls.identical >= settings.identical_calls:
        number = f"over {COUNTED}" if calls.identical > COUNTED else str(calls.identical)
        return f"{number} identical calls of {calls.repeated}", ""
    quiet = now - max(calls.last, hook.since)
    if calls.tool:
        words = f"in {calls.tool} since {clock(calls.last, now)}"
        return (words, "") if quiet >= settings.tool_minutes * MINUTE else ("", words if quiet >= LONG_SECONDS else "")
    return (f"no tool for {quiet / MINUTE:.0f} min" if quiet >= settings.tool_minutes * MINUTE else ""), ""
