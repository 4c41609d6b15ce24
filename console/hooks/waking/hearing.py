"""When an agent with a hook will hear of a message that is sent now."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import StrEnum

from console.hooks.sessions.hooked_agents import CODEX, HookedAgents
from console.hooks.waking.wake_session import hears_by_itself


class Hearing(StrEnum):
    """The words for the sender, after the agent's name."""

    AS_USER = "gets it as a user prompt"
    AFTER_TURN = "gets it as a user prompt after its turn"
    WITHIN_TURN = "will hear of it within a turn"
    WOKEN = "will be woken"
    NEXT_TURN = "will hear of it at the next turn"
    WITHIN_TURN_BY_MAIL = f"{WITHIN_TURN}, as mail only"
    WOKEN_BY_MAIL = f"{WOKEN}, by mail only"
    NEXT_TURN_BY_MAIL = f"{NEXT_TURN}, as mail only"


BY_MAIL = {
    Hearing.WITHIN_TURN: Hearing.WITHIN_TURN_BY_MAIL,
    Hearing.WOKEN: Hearing.WOKEN_BY_MAIL,
    Hearing.NEXT_TURN: Hearing.NEXT_TURN_BY_MAIL,
}
"""What is said where the user's words would be given as a prompt, and the program takes them at its terminal only."""


def hearing(
    names: Iterable[str],
    hooked: HookedAgents,
    called: Collection[str],
    prompted: Collection[str] | None = None,
    *,
    is_waking: bool,
) -> dict[Hearing, list[str]]:
    """Return which of the agents that a message reaches hear of it when; agents without a hook are left out.

    `called` are those that it may wake, and `prompted` those of them that get it as their user's prompt, None where
    that is not wanted; `is_waking` says whether it wakes also those whose program doesn't watch the mailbox.
    """
    found: dict[Hearing, list[str]] = {}
    for name in names:
        hook = hooked.live.get(name)
        if hook is not None and prompted and name in prompted:
            is_later = hook.tool == CODEX and not hook.is_idle
            found.setdefault(Hearing.AFTER_TURN if is_later else Hearing.AS_USER, []).append(name)
        elif hook is not None:
            wakes = name in called and hook.can_be_woken and (is_waking or hears_by_itself(hook))
            when = Hearing.WITHIN_TURN if not hook.is_idle else Hearing.WOKEN if wakes else Hearing.NEXT_TURN
            found.setdefault(BY_MAIL[when] if prompted is not None and name in called else when, []).append(name)
    return {when: found[when] for when in Hearing if when in found}
