"""Candidates for an address that is being typed."""

from __future__ import annotations

from console.widgets.offers import Candidate
from mailstore.state.mailbox import Mailbox


def address_candidates(mailbox: Mailbox) -> list[Candidate]:
    """Return channels, roles, agents and `all`, with a hint for each."""
    candidates = [
        Candidate(mailbox.label(channel.tag), f"{channel.tag} · {len(channel.agents)} agents")
        for channel in mailbox.channels()
    ]
    for role in mailbox.roster.roles():
        holders = ", ".join(agent.session_id for agent in mailbox.roster.holders(role))
        candidates.append(Candidate(role, f"role · {holders or 'no holder: on hold'}"))
    for agent in mailbox.roster:
        candidates.append(Candidate(agent.session_id, f"{agent.status.value} · {agent.role or 'no role'}"))
    candidates.append(Candidate("all", "every living agent, for 4 hours"))
    return candidates
