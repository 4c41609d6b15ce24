"""What is said of an agent, on every screen and by every command: what it is doing, and what it has used."""

from __future__ import annotations

from console.render.short_text import age, clock
from console.words.symbols import ACTIVITIES, AGENTS, NEVER_SEEN, STALE, Symbol
from mailstore.records.details import AgentFact, AgentUsage
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


FULL = "context nearly full"


def usage_facts(usage: AgentUsage, full_percent: float) -> list[AgentFact]:
    """Return what an agent has used, with a label each; a context that is nearly full is a warning."""
    facts = {"model": usage.model}
    share = usage.share
    name = FULL if is_full(usage, full_percent) else "context"
    if usage.context:
        of = f" of {usage.window:,} ({int(100 * share)} %)" if usage.window and share is not None else ""
        facts[name] = f"{usage.context:,}{of} tokens at its last answer"
    if usage.tokens:
        least = "" if usage.is_whole else "at least "
        facts["last 24 h"] = f"{least}{usage.given:,} tokens given, {usage.written:,} written"
    if usage.total is not None:
        facts["tokens"] = f"{usage.total:,} in all"
    if usage.cost is not None:
        facts["cost"] = f"{cost_words(usage.cost)}, as the program said"
    return [AgentFact(each, value, "", each == FULL) for each, value in facts.items() if value]


def usage_words(usage: AgentUsage) -> list[str]:
    """Return how full an agent's context is and its tokens of the last 24 hours, then the first of these alone."""
    context = context_words(usage)
    of_window = context if usage.share is not None or not context else f"ctx {context}"
    parts = [it for it in (of_window, f"{token_words(usage.tokens)} tok" if usage.tokens else "") if it]
    return list(dict.fromkeys(filter(None, (" ".join(parts), *parts[:1]))))


def context_words(usage: AgentUsage) -> str:
    """Return how full an agent's context is: a part of it where its size is known, else tokens."""
    if usage.share is not None:
        return f"{int(100 * usage.share)}%"
    return token_words(usage.context) if usage.context else ""


def token_words(number: int) -> str:
    """Return a number of tokens in at most five cells."""
    for size, unit in ((10**9, "G"), (10**6, "M"), (10**3, "K")):
        if number >= size:
            return f"{number / size:.1f}{unit}" if number < 10 * size else f"{number // size}{unit}"
    return f"{number}"


def is_full(usage: AgentUsage, full_percent: float) -> bool:
    """Say whether an agent's context is so full that it needs attention."""
    return usage.share is not None and 100 * usage.share >= full_percent


def cost_words(dollars: float) -> str:
    """Return a cost; a small one is not rounded to nothing."""
    return f"${dollars:,.2f}" if dollars >= 0.01 or not dollars else f"${dollars:.4f}"
