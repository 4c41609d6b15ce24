"""An agent's presence as a record: state, substate and time, with what has no place in them beside."""

from __future__ import annotations

from typing import Any

from mailstore.kinds.channels.decode import name_of
from mailstore.kit.timestamps import parse_time, utc
from mailstore.records.roster import Agent, Status

Record = dict[str, Any]
OFFLINE = "offline"
STATES = frozenset({"awake", "sleeping", OFFLINE, "stale"})
SUBSTATES = frozenset({"idle", "working", "processing", "analyzing", "shutdown"})
MEANT = {
    "working": ("awake", "working"),
    "waiting": ("awake", "idle"),
    "idle": ("awake", "idle"),
    "awake": ("awake", "idle"),
    OFFLINE: (OFFLINE, "shutdown"),
}
"""What agents report of themselves through Signalbox, in this system's words."""
WRITER = "signalbox"
"""The value of `writer` in what Signalbox has written."""


def activity_in(presence: Record, entry: Record) -> str:
    """Return what an agent does, from its presence, else its registration."""
    if said := name_of(presence.get("activity")):
        return said
    word = state_in(presence) or name_of(entry.get("status"))
    substate = name_of(presence.get("substate"))
    return ": ".join(filter(None, (word.lower(), substate.lower())))


def state_in(presence: Record) -> str:
    """Return the state in any of the three shapes of presence; empty where there is none."""
    return name_of(presence.get("state")) or name_of(presence.get("status"))


def is_fresher(presence: Record, moment: float) -> bool:
    """Say whether a presence was written by another program, after a time in seconds since the epoch."""
    written = parse_time(presence.get("timestamp"))[0]
    return written is not None and written > moment and presence.get("writer") != WRITER


def present(agent: Agent, before: Record, moment: float) -> Record:
    """Return an agent's presence at a time; fields that other programs wrote are kept."""
    word, _, rest = agent.activity.partition(": ")
    state, substate = MEANT.get(word, ("awake", "working"))
    if word in STATES and rest in SUBSTATES:
        state, substate = word, rest
    if agent.status is Status.FROZEN:
        state, substate = OFFLINE, substate if state == OFFLINE else "shutdown"
    when = utc(moment)
    channel = next((tag.partition(":")[2] for tag in agent.tags if tag.startswith("project:")), None)
    fields = {
        "mode": "daemon",
        "channel": channel,
        **before,
        "agent_id": agent.session_id,
        "state": state.upper(),
        "substate": substate.upper(),
        "timestamp": f"{when:%Y-%m-%dT%H:%M:%S}.{when.microsecond // 1000:03d}Z",
        "writer": WRITER,
    }
    fields.pop("activity", None)
    if activity_in(fields, {}) != agent.activity:
        fields["activity"] = agent.activity
    return {name: value for name, value in fields.items() if value is not None}
