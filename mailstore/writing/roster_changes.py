"""Freeze, resume and retire an agent: the entry that its roster has then, and what that means for its mail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from mailstore.records.message import Message
from mailstore.records.roster import Agent, Status
from mailstore.rules.delivery import State
from mailstore.state.mailbox import Mailbox

TRANSITIONS: Mapping[str, tuple[Status, tuple[Status, ...]]] = {
    "freeze": (Status.FROZEN, (Status.LIVING,)),
    "resume": (Status.LIVING, (Status.FROZEN,)),
    "retire": (Status.DEAD, (Status.LIVING, Status.FROZEN)),
}
"""The status that an action sets, and the statuses it applies to."""


def is_possible(agent: Agent, action: str) -> bool:
    """Return whether an agent's status lets it be frozen, resumed or retired."""
    return agent.status in TRANSITIONS[action][1]


def changed(agent: Agent, action: str, now: float) -> Agent:
    """Return an agent's entry frozen, resumed or retired at a time (seconds since the epoch)."""
    status = TRANSITIONS[action][0]
    return msgspec.structs.replace(agent, status=status, ended_at=now if status is Status.DEAD else None, updated=now)


def unread_by(mailbox: Mailbox, session_id: str, now: float) -> Iterator[Message]:
    """Yield the live messages that an agent has still to read: what becomes dead letters if it is retired."""
    for message in mailbox.inbox(session_id, now):
        if mailbox.bare_states(message, now).get(session_id) in (State.UNREAD, State.FROZEN):
            yield message


def not_seen_since(mailbox: Mailbox, moment: float) -> list[Agent]:
    """Return the agents that have not ended and gave their last sign of life before a moment, the longest ago first.

    Of those without any, nothing is known.
    """
    found = [
        (seen, agent.session_id)
        for agent in mailbox.roster
        if agent.status is not Status.DEAD
        and (seen := agent.last_seen or agent.updated or agent.started_at) is not None
        and seen < moment
    ]
    return [agent for _, name in sorted(found) if (agent := mailbox.roster.get(name)) is not None]
