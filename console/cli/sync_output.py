"""What `signalbox sync` prints with `--json`; the field names are the interface."""

from __future__ import annotations

import msgspec

__all__ = [
    "SyncAccountRow",
    "SyncAgentRow",
    "SyncDone",
    "SyncLetterRow",
    "SyncRegistered",
    "SyncStatus",
    "TurnedAwayRow",
]


class SyncDone(msgspec.Struct, frozen=True):
    """What a sync did: letters moved to `sent/`, taken in, still waiting; what fails, and why."""

    sent: int
    received: int
    waiting: int
    refused: int
    troubles: list[str]


class SyncRegistered(msgspec.Struct, frozen=True):
    """An agent's account on a relay: its address there, where its token is; the settings it was added to, if any."""

    agent: str
    address: str
    server: str
    secret_file: str
    settings: str


class SyncAgentRow(msgspec.Struct, frozen=True):
    """An agent whose mail was carried: whether a sync is at work now, and when it last looked."""

    agent: str
    is_carried: bool
    pid: int
    last_look: str | None


class SyncAccountRow(msgspec.Struct, frozen=True):
    """An account: whether its server could be reached, since when that is so, and why not."""

    agent: str
    transport: str
    is_up: bool
    since: str | None
    last_look: str | None
    reason: str
    next_try: str | None


class SyncLetterRow(msgspec.Struct, frozen=True):
    """A letter that one of its ways has not delivered."""

    id: str
    agent: str
    recipient: str
    transport: str
    state: str
    tries: int
    last_try: str | None
    reason: str
    next_try: str | None


class TurnedAwayRow(msgspec.Struct, frozen=True):
    """Something that came in and was not kept."""

    agent: str
    transport: str
    key: str
    sender: str
    at: str | None
    reason: str


class SyncStatus(msgspec.Struct, frozen=True):
    """How the carrying of a mailbox stands."""

    mailbox: str
    agents: list[SyncAgentRow]
    accounts: list[SyncAccountRow]
    letters: list[SyncLetterRow]
    turned_away: list[TurnedAwayRow]
