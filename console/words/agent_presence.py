"""What an agent is doing, as the console and the command line show it: a glyph, and words."""

from __future__ import annotations

from console.render.short_text import age, clock
from console.words.symbols import ACTIVITIES, AGENTS, NEVER_SEEN, STALE, Symbol
from mailstore.records.roster import Agent, Status
from mailstore.rules.presence import Presence, Working

LONG_WORDS = {Working.WAITING.value: "waiting for a permission"}


def presence_symbol(agent: Agent, found: Presence) -> Symbol:
    """Return the glyph for what an agent is doing, and the name of its style."""
    if agent.status is not Status.LIVING:
        return AGENTS[agent.status]
    if found.is_stale:
        return STALE
    if agent.last_seen is None and agent.updated is None and found.age is None:
        return NEVER_SEEN
    return ACTIVITIES.get(found.state, AGENTS[agent.status])


def state_words(found: Presence) -> str:
    """Return an agent's state in words; of one that was not seen for long nothing else is known."""
    if found.is_gone:
        return "gone"
    return "stale" if found.is_stale else LONG_WORDS.get(found.state, found.state)


def doing_words(found: Presence) -> str:
    """Return the details of an agent's state; of one that was not seen for long, what it did last."""
    if not found.is_stale:
        return found.substate
    before = ": ".join(filter(None, (found.state if found.state in list(Working) else "", found.substate)))
    return f"was {before}" if before else ""


def presence_line(found: Presence, now: float) -> str:
    """Return what an agent is doing, and since when: working since 14:02."""
    since = f" since {clock(found.since, now)}" if found.since is not None else ""
    if found.is_stale and found.age is not None:
        seen = age(found.age)
        since = f", seen {seen}{'' if seen == 'now' else ' ago'}"
    return f"{state_words(found)}{since}"
