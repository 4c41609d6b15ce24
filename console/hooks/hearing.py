"""When an agent with a hook will hear of a letter that is sent now."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import StrEnum

from console.hooks.live import HookedAgents, LiveHook
from console.hooks.waking import can_ring, hears_by_itself, is_idle

__all__ = ["Hearing", "hearing"]


class Hearing(StrEnum):
    """What the sender is told, after the agent's name."""

    WITHIN_TURN = "will hear of it within a turn"
    WOKEN = "will be woken"
    NEXT_TURN = "will hear of it at the next turn"


def hearing(names: Iterable[str], hooked: HookedAgents, called: Collection[str]) -> dict[Hearing, list[str]]:
    """Return which of the agents that a message reaches hear of it when; `called` are those that it may wake.

    Agents without a hook are left out.
    """
    found: dict[Hearing, list[str]] = {}
    for name in names:
        hook = hooked.live.get(name)
        if hook is not None:
            found.setdefault(_when(hook, is_called=name in called), []).append(name)
    return {when: found[when] for when in Hearing if when in found}


def _when(hook: LiveHook, *, is_called: bool) -> Hearing:
    if not is_idle(hook):
        return Hearing.WITHIN_TURN
    return Hearing.WOKEN if hears_by_itself(hook) or (is_called and can_ring(hook)) else Hearing.NEXT_TURN
