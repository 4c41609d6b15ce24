"""Which sleeping agents have mail that would wake them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from mailstore.records.message import Message
from mailstore.records.roster import Agent, Status

__all__ = ["WAKING_TYPES", "is_dormant", "waking_mail"]

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
