"""Find agents that could take over a dead letter, and what its recipient was doing."""

from __future__ import annotations

from collections import Counter
from difflib import get_close_matches

import msgspec

from mailstore.records.roster import Agent, Status
from mailstore.state.mailbox import Mailbox
from mailstore.state.views import DeadLetter


class LastSeen(msgspec.Struct, frozen=True):
    """What is last known of a recipient; `time` in seconds since the epoch, None if unknown."""

    status: Status | None = None
    role: str = ""
    activity: str = ""
    time: float | None = None


def last_seen(mailbox: Mailbox, recipient: str) -> LastSeen:
    """Return what a recipient was doing when it ended or was last seen; an unknown one has no status."""
    agent = mailbox.roster.get(recipient)
    if agent is None:
        return LastSeen()
    time = agent.ended_at if agent.status is Status.DEAD else agent.last_seen or agent.updated
    return LastSeen(agent.status, agent.role, agent.activity, time)


def redirected_before(mailbox: Mailbox, recipient: str) -> dict[str, int]:
    """Return to whom mail of a recipient was redirected, and how often, the most often first; not who has ended."""
    counts: Counter[str] = Counter()
    for record in mailbox.interventions():
        if record.action == "redirect" and record.details.get("recipient") == recipient:
            sent = mailbox.message(str(record.details.get("sent") or ""))
            if sent is not None and not mailbox.is_undone(record.id):
                counts.update(sent.recipients)
    gone = {name for name in counts if (agent := mailbox.roster.get(name)) is not None and agent.status is Status.DEAD}
    return {name: number for name, number in counts.most_common() if name not in gone}


def takers(mailbox: Mailbox, dead_letter: DeadLetter) -> list[str]:
    """Return who could take over a message now, the best candidate first; never its sender."""
    return [name for name in takers_for(mailbox, dead_letter.recipient) if name != dead_letter.message.sender]


def takers_for(mailbox: Mailbox, recipient: str) -> list[str]:
    """Return who could take over a recipient's mail now, the best candidate first.

    Living agents with a role of the recipient come first, then those with its tags, the most shared first, then frozen
    holders of its role; for an unknown name, living agents and roles with a similar name.
    """
    roster = mailbox.roster
    gone = roster.get(recipient)
    if gone is None:
        names = [agent.session_id for agent in roster if agent.status is Status.LIVING]
        return get_close_matches(recipient, [*names, *roster.roles()], n=3, cutoff=0.7)
    roles, tags = set(gone.roles()), set(gone.tags)

    def closeness(agent: Agent) -> tuple[bool, int, int]:
        return agent.status is Status.LIVING, len(roles.intersection(agent.roles())), len(tags.intersection(agent.tags))

    near = {agent.session_id for role in roles for agent in roster.holders(role)}
    near.update(agent.session_id for tag in tags for agent in roster.bearers(tag) if agent.status is Status.LIVING)
    near.discard(recipient)
    here = [agent for agent in roster if agent.session_id in near] if near else []
    return [agent.session_id for agent in sorted(here, key=closeness, reverse=True)]
