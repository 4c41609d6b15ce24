"""Who sleeps on mail that would wake them (seed 002: auto-wake)."""

from __future__ import annotations

from collections.abc import Collection

from mailstore.mailbox import Mailbox
from mailstore.message import Message
from mailstore.roster import Agent, Status

__all__ = ["WAKING_TYPES", "is_dormant", "waking_mail"]

WAKING_TYPES = ("task-done", "review-result", "question")
"""The types of messages that wake whoever they are for, where nobody says otherwise."""


def is_dormant(agent: Agent, now: float, stale_after: float) -> bool:
    """Say whether an agent sleeps: it is frozen, or alive and was not heard of for `stale_after` seconds."""
    if agent.status is Status.LIVING:
        return agent.last_seen is not None and now - agent.last_seen > stale_after
    return agent.status is Status.FROZEN


def waking_mail(mailbox: Mailbox, session_id: str, types: Collection[str], now: float) -> list[Message]:
    """Return an agent's unread mail of some types, the oldest first."""
    return [message for message in mailbox.unread(session_id, now) if message.type in types]
