"""What the simulated agents report of themselves, as real ones do: a state, and what they work on."""

from __future__ import annotations

from mailstore.records.roster import Agent
from mailstore.rules.presence import Working

PERMISSION = "signalbox archive"
"""The command for which an agent waits for a permission."""


def activity_of(doing: str, work: str) -> str:
    """Return the activity that an agent reports."""
    if doing == Working.IDLE:
        return doing
    return f"{doing}: {PERMISSION if doing == Working.WAITING else work}"


def work_of(agent: Agent) -> str:
    """Return what an agent works on; empty if it reports no work."""
    doing, _, work = agent.activity.partition(": ")
    return work if doing == Working.WORKING else ""
