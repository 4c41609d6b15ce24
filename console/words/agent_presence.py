"""What an agent is doing, as the console and the command line show it: a glyph, and words."""

from __future__ import annotations

from console.render.short_text import age, clock
from console.words.symbols import ACTIVITIES, AGENTS, NEVER_SEEN, STALE, Symbol
from mailstore.records.roster import Agent, Status
from mailstore.rules.presence import REPORTED, Presence, Working

LONG_WORDS = {Working.WAITING.value: "waiting for a permission"}


def presence_symbol(agent: Agent, presence: Presence) -> Symbol:
    """Return the glyph for what an agent is doing, and the name of its style."""
    if agent.status is not Status.LIVING:
        return AGENTS[agent.status]
    if presence.is_stale:
        return STALE
    if agent.last_seen is None and agent.updated is None and presence.age is None:
        return NEVER_SEEN
    return ACTIVITIES.get(presence.state, AGENTS[agent.status])


def state_words(presence: Presence) -> str:
    """Return an agent's state in words; of one that was not seen for long nothing else is known."""
    if presence.is_gone:
        return "gone"
    return "stale" if presence.is_stale else LONG_WORDS.get(presence.state, presence.state)


def doing_words(presence: Presence) -> str:
    """Return the details of an agent's state; of one that was not seen for long, what it did last."""
    if not presence.is_stale:
        return presence.substate
    before = ": ".join(filter(None, (presence.state if presence.state in REPORTED else "", presence.substate)))
    return f"was {before}" if before else ""


def presence_line(presence: Presence, now: float) -> str:
    """Return what an agent is doing, and since when: working since 14:02."""
    since = f" since {clock(presence.since, now)}" if presence.since is not None else ""
    if presence.is_stale and presence.age is not None:
        seen = age(presence.age)
        since = f", seen {seen}{'' if seen == 'now' else ' ago'}"
    return f"{state_words(presence)}{since}"
