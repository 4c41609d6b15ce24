"""What `signalbox sync` answers with `--json`; the field names are the interface."""

from __future__ import annotations

from typing import Annotated

import msgspec


class SyncDone(msgspec.Struct, frozen=True):
    """What a sync did."""

    sent: Annotated[int, "How many messages were sent by all their ways, and moved to `sent/`."]
    received: Annotated[int, "How many were taken in."]
    waiting: Annotated[int, "How many still wait."]
    refused: Annotated[int, "How many a server refused for good."]
    troubles: Annotated[list[str], "The accounts that fail, and why."]


class SyncRegistered(msgspec.Struct, frozen=True):
    """An agent's new account on a relay."""

    agent: Annotated[str, "The agent: the name of its folder."]
    address: Annotated[str, "What it is called on the relay."]
    server: Annotated[str, "The URL of the relay."]
    secret_file: Annotated[str, "The file with its token."]
    settings: Annotated[str, "The settings that the account was added to; empty if they could not take it."]


class SyncAgentRow(msgspec.Struct, frozen=True):
    """An agent whose mail was carried."""

    agent: Annotated[str, "The agent: the name of its folder."]
    is_carried: Annotated[bool, "Whether a sync is at work for it now."]
    pid: Annotated[int, "The process of the last sync."]
    last_look: Annotated[str | None, "When that last looked for mail: ISO 8601 in UTC; null if it has not yet."]


class SyncAccountRow(msgspec.Struct, frozen=True):
    """An account."""

    agent: Annotated[str, "Whose it is."]
    transport: Annotated[str, "By which way it carries mail: relay, smtp, imap, pop3 or ftp, and where."]
    is_up: Annotated[bool, "Whether its server could be reached."]
    since: Annotated[str | None, "Since when that is so: ISO 8601 in UTC; null if unknown."]
    last_look: Annotated[str | None, "When it was last tried: ISO 8601 in UTC; null if never."]
    reason: Annotated[str, "Why it could not be reached; empty if it could."]
    next_try: Annotated[str | None, "When it is tried again: ISO 8601 in UTC; null if that is not planned."]


class SyncMessageRow(msgspec.Struct, frozen=True):
    """A message that one of its ways has not delivered."""

    id: Annotated[str, "The id of the message."]
    agent: Annotated[str, "Who sent it."]
    recipient: Annotated[str, "Whom it is for."]
    transport: Annotated[str, "The way."]
    state: Annotated[str, "What is the matter: waiting, refused …"]
    tries: Annotated[int, "How often it was tried."]
    last_try: Annotated[str | None, "When it was last tried: ISO 8601 in UTC; null if never."]
    reason: Annotated[str, "Why it failed; may be empty."]
    next_try: Annotated[str | None, "When it is tried again: ISO 8601 in UTC; null if it is not."]


class TurnedAwayRow(msgspec.Struct, frozen=True):
    """Something that came in and was not kept."""

    agent: Annotated[str, "Whom it was for."]
    transport: Annotated[str, "By which way it came."]
    key: Annotated[str, "How the server calls it."]
    sender: Annotated[str, "Who sent it; may be empty."]
    at: Annotated[str | None, "When it came: ISO 8601 in UTC; null if unknown."]
    reason: Annotated[str, "Why it was not kept."]


class SpooledRow(msgspec.Struct, frozen=True):
    """A file with messages that a relay has handed out, and so deleted, and that are in no inbox yet."""

    agent: Annotated[str, "By whose account they were fetched."]
    file: Annotated[str, "Where they are."]
    relay_agent: Annotated[str, "For whom they are, as the relay calls it; empty if it didn't say."]
    letters: Annotated[int | None, "How many they are; null if that can't be read."]


class SyncStatus(msgspec.Struct, frozen=True):
    """How the carrying of a mailbox stands."""

    mailbox: Annotated[str, "The folder of mailboxes."]
    agents: Annotated[list[SyncAgentRow], "The agents whose mail was carried."]
    accounts: Annotated[list[SyncAccountRow], "Their accounts."]
    letters: Annotated[list[SyncMessageRow], "Messages that are not delivered, once for each way."]
    turned_away: Annotated[list[TurnedAwayRow], "The last 20 things that came in and were not kept."]
    spooled: Annotated[list[SpooledRow], "What relays have handed out and no inbox has yet."]
