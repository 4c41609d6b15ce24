"""Which sleeping agents have mail that would wake them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from mailstore.records.address import Kind
from mailstore.records.message import Message
from mailstore.records.roster import Agent, Roster, Status
from mailstore.rules.audience import ways

WAKING_TYPES = ("task-done", "review-result", "question")
"""The types of messages that wake their recipients by default."""


def is_dormant(agent: Agent, now: float, stale_after: float) -> bool:
    """Say whether an agent sleeps: it is frozen, or living and not seen for `stale_after` seconds."""
    if agent.status is Status.LIVING:
        return agent.last_seen is not None and now - agent.last_seen > stale_after
    return agent.status is Status.FROZEN


def waking_mail(unread: Iterable[Message], types: Collection[str]) -> list[Message]:
    """Return the unread messages of the given types, in the order given."""
    return [message for message in unread if message.type in types]


def called(message: Message, roster: Roster, user: str) -> list[str]:
    """Return the session ids that a message may wake as soon as it is sent.

    Those of the agents that it names, or whose role it names, as addresses or in mentions; never all agents, a whole
    channel, or its sender.
    """
    names: dict[str, None] = {}
    for way in ways(message, roster, user):
        if way.kind is Kind.ROLE:
            names.update((agent.session_id, None) for agent in roster.holders(way.role))
        elif way.kind is Kind.DIRECT and roster.get(way.name) is not None:
            names[way.name] = None
    names.pop(message.sender, None)
    return list(names)
