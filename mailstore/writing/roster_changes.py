"""Freeze, resume and retire an agent: the entry that its roster has then, and what that means for its mail."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import msgspec

from mailstore.records.protocol import BROADCAST_NAMES, TAG_NAMESPACES, USER_NAMES
from mailstore.records.roster import Agent, Status
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


def read_tags(text: str) -> tuple[str, ...]:
    """Return the tags in a text, separated by commas, each once. Raises ValueError with the first that is none."""
    tags = tuple(dict.fromkeys(tag for tag in (part.strip() for part in text.split(",")) if tag))
    for tag in tags:
        namespace, _, rest = tag.partition(":")
        if namespace not in (*TAG_NAMESPACES, "role") or not rest:
            raise ValueError(tag)
    return tags


def read_role(text: str) -> str:
    """Return the role in a text. Raises ValueError with a name that mail reaches others by."""
    role = " ".join(text.split())
    if role in BROADCAST_NAMES | USER_NAMES:
        raise ValueError(role)
    return role


def role_effects(mailbox: Mailbox, agent: Agent, role: str) -> list[str]:
    """Return what it means for mail that an agent holds a role instead of its own; empty for no role."""
    waiting = next((len(mail) for name, mail in mailbox.waiting() if name == role), 0)
    effects = [f"{waiting} message{'s' * (waiting != 1)} on hold for {role} will be for it to read."] if waiting else []
    others = [holder for holder in mailbox.roster.holders(agent.role) if holder.session_id != agent.session_id]
    if agent.role and agent.role not in (role, *agent.tags) and not others:
        effects.append(f"No other agent holds {agent.role}: mail to it will be on hold.")
    return effects


def tag_effects(mailbox: Mailbox, agent: Agent, tags: Collection[str]) -> list[str]:
    """Return the channels that an agent joins and leaves by other tags."""
    joined = [mailbox.label(tag) for tag in tags if tag not in agent.tags]
    left = [mailbox.label(tag) for tag in agent.tags if tag not in tags]
    words = {"It joins": joined, "It leaves": left}
    return [f"{verb} {', '.join(names)}." for verb, names in words.items() if names]


def not_seen_since(mailbox: Mailbox, moment: float) -> list[Agent]:
    """Return the agents that have not ended and gave their last sign of life before a moment, the longest ago first.

    Of those without any, nothing is known.
    """
    seen_agents = [
        (seen, agent.session_id)
        for agent in mailbox.roster
        if agent.status is not Status.DEAD
        and (seen := agent.last_seen or agent.updated or agent.started_at) is not None
        and seen < moment
    ]
    return [agent for _, name in sorted(seen_agents) if (agent := mailbox.roster.get(name)) is not None]
