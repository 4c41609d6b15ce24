"""What `signalbox sync` prints with `--json`; the field names are the interface."""

from __future__ import annotations

import msgspec

from console.cli.document import JsonOutput


class SyncDone(msgspec.Struct, frozen=True):
    """What a sync did."""

    sent: int
    """How many letters were sent by all their ways, and moved to `sent/`."""

    received: int
    """How many were taken in."""

    waiting: int
    """How many still wait."""

    refused: int
    """How many a server refused for good."""

    troubles: list[str]
    """The accounts that fail, and why."""


class SyncRegistered(msgspec.Struct, frozen=True):
    """An agent's new account on a relay."""

    agent: str
    """The agent: the name of its folder."""

    address: str
    """What it is called on the relay."""

    server: str
    """The URL of the relay."""

    secret_file: str
    """The file with its token."""

    settings: str
    """The settings that the account was added to; empty if they could not take it."""


class SyncAgentRow(msgspec.Struct, frozen=True):
    """An agent whose mail was carried."""

    agent: str
    """The agent: the name of its folder."""

    is_carried: bool
    """Whether a sync is at work for it now."""

    pid: int
    """The process of the last sync."""

    last_look: str | None
    """When that last looked for mail: ISO 8601 in UTC; null if it has not yet."""


class SyncAccountRow(msgspec.Struct, frozen=True):
    """An account."""

    agent: str
    """Whose it is."""

    transport: str
    """By which way it carries mail: relay, smtp, imap, pop3 or ftp, and where."""

    is_up: bool
    """Whether its server could be reached."""

    since: str | None
    """Since when that is so: ISO 8601 in UTC; null if unknown."""

    last_look: str | None
    """When it was last tried: ISO 8601 in UTC; null if never."""

    reason: str
    """Why it could not be reached; empty if it could."""

    next_try: str | None
    """When it is tried again: ISO 8601 in UTC; null if that is not planned."""


class SyncLetterRow(msgspec.Struct, frozen=True):
    """A letter that one of its ways has not delivered."""

    id: str
    """The id of the letter."""

    agent: str
    """Who sent it."""

    recipient: str
    """Whom it is for."""

    transport: str
    """The way."""

    state: str
    """What is the matter: waiting, refused …"""

    tries: int
    """How often it was tried."""

    last_try: str | None
    """When it was last tried: ISO 8601 in UTC; null if never."""

    reason: str
    """Why it failed; may be empty."""

    next_try: str | None
    """When it is tried again: ISO 8601 in UTC; null if it is not."""


class TurnedAwayRow(msgspec.Struct, frozen=True):
    """Something that came in and was not kept."""

    agent: str
    """Whom it was for."""

    transport: str
    """By which way it came."""

    key: str
    """How the server calls it."""

    sender: str
    """Who sent it; may be empty."""

    at: str | None
    """When it came: ISO 8601 in UTC; null if unknown."""

    reason: str
    """Why it was not kept."""


class SpooledRow(msgspec.Struct, frozen=True):
    """A file with letters that a relay has handed out, and so deleted, and that are in no inbox yet."""

    agent: str
    """By whose account they were fetched."""

    file: str
    """Where they are."""

    relay_agent: str
    """For whom they are, as the relay calls it; empty if it didn't say."""

    letters: int | None
    """How many they are; null if that can't be read."""


class SyncStatus(msgspec.Struct, frozen=True):
    """How the carrying of a mailbox stands."""

    mailbox: str
    """The folder of mailboxes."""

    agents: list[SyncAgentRow]
    """The agents whose mail was carried."""

    accounts: list[SyncAccountRow]
    """Their accounts."""

    letters: list[SyncLetterRow]
    """Letters that are not delivered, once for each way."""

    turned_away: list[TurnedAwayRow]
    """The last 20 things that came in and were not kept."""

    spooled: list[SpooledRow]
    """What relays have handed out and no inbox has yet."""


DONE = JsonOutput(SyncDone)
REGISTERED = JsonOutput(SyncRegistered, "register")
STATUS = JsonOutput(SyncStatus, "status")
