"""What commands print with `--json` about agents; the field names are the interface."""

from __future__ import annotations

from typing import Annotated

import msgspec

from console.cli.output import OpenMailRow
from console.render.timestamps import iso_time
from mailstore.records.details import AgentUsage
from mailstore.records.roster import Status

SessionId = Annotated[str, "Its id, by which it is addressed."]
Role = Annotated[str, "Its role; empty if it has none."]
RosterStatus = Annotated[Status, "Whether it lives, is frozen, or has ended."]
Activity = Annotated[str, "What it is doing, in its own word; else its status."]
Details = Annotated[str, "Details of that, in its own words; may be empty."]
LastSeen = Annotated[str | None, "Its last sign of life: ISO 8601 in UTC; null if there was none."]
IsStale = Annotated[bool, "Whether it was not seen recently (stale_after_minutes in the settings)."]
Unread = Annotated[int | None, "How many messages it has not read; null where reads are not recorded."]
Since = Annotated[str | None, "Since when it is in that state: ISO 8601 in UTC; null if unknown."]
IsGone = Annotated[bool, "Whether its program ended without saying so."]
Hook = Annotated[str | None, "The program whose hook notifies it of mail; null if there is none."]
CanWake = Annotated[bool, "Whether that hook can wake it when it is idle."]
UnreadMail = Annotated[OpenMailRow, "Mail that it has not read."]
AskedOfIt = Annotated[OpenMailRow, "Questions to it without an answer."]
AskedByIt = Annotated[OpenMailRow, "Its own questions without an answer."]


class FactRow(msgspec.Struct, frozen=True):
    """What a mailbox says of an agent."""

    name: Annotated[str, "What it is about, such as account."]
    value: Annotated[str, "What is said."]
    source: Annotated[str, "The file that it is from."]
    warning: Annotated[bool, "Whether something should be fixed."]


class UsageRow(msgspec.Struct, frozen=True):
    """What an agent has used, as its program says it: nothing is estimated."""

    model: Annotated[str, "Its model; empty if unknown."]
    context: Annotated[int | None, "Tokens of its context at its last answer; null if unknown."]
    context_window: Annotated[int | None, "How many fit into its context; null if its program doesn't say it."]
    given: Annotated[int, "Tokens that it was given in the last 24 hours, with what was cached."]
    written: Annotated[int, "Tokens that it wrote in the last 24 hours."]
    tokens_by_hour: Annotated[tuple[int, ...], "Both together, by hour: 24 numbers, the current hour last."]
    tokens: Annotated[int | None, "All tokens of the session; null if its program doesn't say it."]
    cost: Annotated[float | None, "What the session cost in dollars; null if its program doesn't say it."]
    answered: Annotated[str | None, "When it answered last: ISO 8601 in UTC; null if unknown."]
    is_whole: Annotated[bool, "Whether all of the 24 hours could be read."]


def usage_row(usage: AgentUsage | None) -> UsageRow | None:
    """Return what an agent has used, for JSON."""
    if usage is None:
        return None
    agent_usage = usage
    known = (
        agent_usage.model,
        agent_usage.context,
        agent_usage.window,
        agent_usage.given,
        agent_usage.written,
        agent_usage.hours,
        agent_usage.total,
        agent_usage.cost,
    )
    return UsageRow(*known, iso_time(agent_usage.answered), agent_usage.is_whole)


class AgentRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """An agent of the roster."""

    session_id: SessionId
    role: Role
    tags: Annotated[tuple[str, ...], "Its tags: the channels whose mail it gets."]
    status: RosterStatus
    unread: Unread
    last_seen: LastSeen
    state: Activity
    substate: Details
    since: Since
    stale: IsStale
    gone: IsGone
    hook: Hook
    can_wake: CanWake
    facts: Annotated[tuple[FactRow, ...], "What its mailbox says of it; left out if it says nothing."] = ()
    usage: Annotated[UsageRow | None, "What it has used; left out if its program doesn't say it."] = None


class PresenceRow(msgspec.Struct, frozen=True):
    """An agent and what it is doing."""

    session_id: SessionId
    role: Role
    status: RosterStatus
    state: Activity
    substate: Details
    last_seen: LastSeen
    stale: IsStale
    unread: Unread
    since: Since
    gone: IsGone
    hook: Hook
    can_wake: CanWake


class CheckpointRow(msgspec.Struct, frozen=True):
    """What an agent has not finished."""

    agent: Annotated[str, "Its session id."]
    unread: UnreadMail
    asked: AskedOfIt
    asking: AskedByIt


class ByeRow(msgspec.Struct, frozen=True):
    """What an agent leaves behind."""

    agent: Annotated[str, "Its session id."]
    status: Annotated[Status, "Its status now: dead or frozen if it was ended, living if it was not."]
    unread: UnreadMail
    asked: AskedOfIt
    asking: AskedByIt
