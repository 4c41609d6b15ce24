"""What commands print with `--json` about agents; the field names are the interface."""

from __future__ import annotations

import msgspec

from console.cli.output import OpenMailRow
from mailstore.records.roster import Status


class FactRow(msgspec.Struct, frozen=True):
    """What a mailbox says of an agent."""

    name: str
    """What it is about, such as account."""

    value: str
    """What is said."""

    source: str
    """The file that it is from."""

    warning: bool
    """Whether something should be mended."""


class AgentRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """An agent of the roster."""

    session_id: str
    """Its id, by which it is addressed."""

    role: str
    """Its role; empty if it has none."""

    tags: tuple[str, ...]
    """Its tags: the channels whose mail it gets."""

    status: Status
    """Whether it lives, is frozen, or has ended."""

    unread: int | None
    """How many messages it has not read; null where reads are not recorded."""

    last_seen: str | None
    """Its last sign of life: ISO 8601 in UTC; null if there was none."""

    state: str
    """What it is doing, in its own word; else its status."""

    substate: str
    """Details of that, in its own words; may be empty."""

    since: str | None
    """Since when it is in that state: ISO 8601 in UTC; null if unknown."""

    stale: bool
    """Whether it was not seen recently (stale_after_minutes in the settings)."""

    gone: bool
    """Whether its program ended without saying so."""

    hook: str | None
    """The program whose hook notifies it of mail; null if there is none."""

    can_wake: bool
    """Whether that hook can wake it when it is idle."""

    facts: tuple[FactRow, ...] = ()
    """What its mailbox says of it; left out if it says nothing."""


class PresenceRow(msgspec.Struct, frozen=True):
    """An agent and what it is doing."""

    session_id: str
    """Its id, by which it is addressed."""

    role: str
    """Its role; empty if it has none."""

    status: Status
    """Whether it lives, is frozen, or has ended."""

    state: str
    """What it is doing, in its own word; else its status."""

    substate: str
    """Details of that, in its own words; may be empty."""

    last_seen: str | None
    """Its last sign of life: ISO 8601 in UTC; null if there was none."""

    stale: bool
    """Whether it was not seen recently (stale_after_minutes in the settings)."""

    unread: int | None
    """How many messages it has not read; null where reads are not recorded."""

    since: str | None
    """Since when it is in that state: ISO 8601 in UTC; null if unknown."""

    gone: bool
    """Whether its program ended without saying so."""

    hook: str | None
    """The program whose hook notifies it of mail; null if there is none."""

    can_wake: bool
    """Whether that hook can wake it when it is idle."""


class CheckpointRow(msgspec.Struct, frozen=True):
    """What an agent has not finished."""

    agent: str
    """Its session id."""

    unread: OpenMailRow
    """Mail that it has not read."""

    asked: OpenMailRow
    """Questions to it without an answer."""

    asking: OpenMailRow
    """Its own questions without an answer."""


class ByeRow(msgspec.Struct, frozen=True):
    """What an agent leaves behind."""

    agent: str
    """Its session id."""

    status: Status
    """Its status now: dead or frozen if it was ended, living if it was not."""

    unread: OpenMailRow
    """Mail that it has not read."""

    asked: OpenMailRow
    """Questions to it without an answer."""

    asking: OpenMailRow
    """Its own questions without an answer."""
