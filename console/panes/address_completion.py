"""Candidates for an address that is being typed."""

from __future__ import annotations

from console.widgets.offers import Candidate
from mailstore.state.mailbox import Mailbox


def address_candidates(mailbox: Mailbox) -> list[Candidate]:
    """Return channels, roles, agents and `all`, with a hint for each."""
    found = [
        Candidate(mailbox.label(channel.tag), f"{channel.tag} · {len(channel.agents)} agents")
        for channel in mailbox.channels()
    ]
    for role in mailbox.roster.roles():
        holders = ", ".join(agent.session_id for agent in mailbox.roster.holders(role))
        found.append(Candidate(role, f"role · {holders or 'no holder: on hold'}"))
    for agent in mailbox.roster:
        found.append(Candidate(agent.session_id, f"{agent.status.value} · {agent.role or 'no role'}"))
    found.append(Candidate("all", "every living agent, for 4 hours"))
    return found
