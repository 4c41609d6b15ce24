"""Presence: what an agent says it is doing, when that counts as stale, and what mail would wake one that sleeps."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from mailstore.records.address import Kind
from mailstore.records.message import Message
from mailstore.records.roster import Agent, Roster, Status
from mailstore.rules.audience import ways

BEAT_SECONDS = 60.0
"""The interval at which heartbeats without news are recorded: a roster is not a log."""
WAKING_TYPES = ("task-done", "review-result", "question")
"""The types of messages that wake their recipients by default."""


class Working(StrEnum):
    """What an agent can report of itself: it waits for a permission; offline, it is frozen, as it may come back."""

    WORKING = "working"
    WAITING = "waiting"
    IDLE = "idle"
    AWAKE = "awake"
    OFFLINE = "offline"


REPORTED = frozenset(Working)
ASLEEP = frozenset({Working.IDLE, Working.OFFLINE})
"""What a frozen agent can be: it did not say that it stopped working."""


class Presence(msgspec.Struct, frozen=True):
    """What an agent is doing; `state` is what it reports itself, or else its status in the roster.

    `age` is the time in seconds since it was last seen, `since` the time at which the state began; None if unknown.
    """

    state: str
    substate: str = ""
    age: float | None = None
    is_stale: bool = False
    since: float | None = None
    is_gone: bool = False
    """Whether its program has certainly ended, without saying so."""
    stuck: str = ""
    """Why it may get nowhere though it works, as a clause; empty if nothing shows that."""


def presence_of(agent: Agent, now: float, stale_after: float, since: float | None = None) -> Presence:
    """Return an agent's presence; a living agent not seen for `stale_after` seconds is stale.

    `since` is what the roster knows of when its state began.
    """
    word, _, substate = agent.activity.partition(": ")
    is_living = agent.status is Status.LIVING
    is_said = word in (REPORTED if is_living else ASLEEP if agent.status is Status.FROZEN else ())
    if agent.status is Status.DEAD:
        since = agent.ended_at
    elif is_living and not is_said:
        since = None
    age = None if agent.last_seen is None else max(0.0, now - agent.last_seen)
    return Presence(
        state=word if is_said else agent.status.value,
        substate=substate if is_said else agent.activity,
        age=age,
        is_stale=is_living and age is not None and age > stale_after,
        since=None if since is None or since > now else since,
    )


def beat(agent: Agent, state: Working, substate: str, now: float) -> Agent:
    """Return an agent updated by a heartbeat."""
    return replace(
        agent,
        status=Status.FROZEN if state is Working.OFFLINE else Status.LIVING,
        activity=f"{state}: {substate}" if substate else state.value,
        last_seen=now,
        updated=now,
    )


def is_due(agent: Agent, beaten: Agent) -> bool:
    """Say whether a heartbeat has news, or the last recorded one is old enough."""
    if agent.activity != beaten.activity or agent.status is not beaten.status or agent.last_seen is None:
        return True
    return (beaten.last_seen or 0.0) - agent.last_seen >= BEAT_SECONDS


def is_dormant(agent: Agent, now: float, stale_after: float) -> bool:
    """Say whether an agent sleeps: it is frozen, or living and not seen for `stale_after` seconds."""
    if agent.status is Status.LIVING:
        return agent.last_seen is not None and now - agent.last_seen > stale_after
    return agent.status is Status.FROZEN


def waking_mail(unread: Iterable[Message], types: Collection[str]) -> list[Message]:
    """Return the unread messages of the given types, in the order given."""
    return [message for message in unread if message.type in types]


def called(message: Message, roster: Roster, user: str) -> list[str]:
    """Return the session ids that a message may wake as soon as it is sent.

    Those of the agents that it names, or whose role it names, as addresses or in mentions; never all agents, a whole
    channel, or its sender.
    """
    names: dict[str, None] = {}
    for way in ways(message, roster, user):
        if way.kind is Kind.ROLE:
            names.update((agent.session_id, None) for agent in roster.holders(way.role))
        elif way.kind is Kind.DIRECT and roster.get(way.name) is not None:
            names[way.name] = None
    names.pop(message.sender, None)
    return list(names)
