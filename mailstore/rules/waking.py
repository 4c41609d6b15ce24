"""Which sleeping agents have mail that would wake them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from mailstore.records.address import Kind
from mailstore.records.message import Message
from mailstore.records.roster import Agent, Roster, Status
from mailstore.rules.audience import ways

__all__ = ["WAKING_TYPES", "called", "is_dormant", "waking_mail"]

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


def called(message: Message, roster: Roster, user: str, types: Collection[str], *, by_user: bool = False) -> list[str]:
    """Return the session ids that a message may wake as soon as it is sent: never by a broadcast, nor its sender.

    One of the given types wakes all whom it is addressed to or mentions; one that the person writes (`by_user`) wakes
    also without a type, but not a whole channel.
    """
    is_urging = message.type in types
    kinds = {Kind.DIRECT, Kind.ROLE, *([Kind.TAG] if is_urging else ())}
    if not is_urging and not by_user:
        return []
    found: dict[str, None] = {}
    for way in ways(message, roster, user):
        if way.kind is Kind.ROLE:
            found.update((agent.session_id, None) for agent in roster.holders(way.role))
        elif way.kind in kinds and roster.get(way.name) is not None:
            found[way.name] = None
    found.pop(message.sender, None)
    return list(found)
