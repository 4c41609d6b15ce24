"""What a store yields: records, what happened to the mailbox that holds them, and marks that only the console keeps."""

from __future__ import annotations

import msgspec

from mailstore.records.message import Delivery, Intervention, Message, Problem, Receipt, Trace
from mailstore.records.roster import Agent

NONE: frozenset[str] = frozenset()


class OwnMarks(msgspec.Struct, frozen=True):
    """All of it, as one event: it replaces what was known. Never comes from a store.

    Muted are channels by tag, agents by session id, types (`LABEL/TYPE` for those of one of several mailboxes) and
    threads; a thread is named by any of its messages. `starred` are messages, `starred_threads` whole threads.
    """

    channels: frozenset[str] = NONE
    agents: frozenset[str] = NONE
    types: frozenset[str] = NONE
    threads: frozenset[str] = NONE
    snoozed: frozenset[str] = NONE
    starred: frozenset[str] = NONE
    starred_threads: frozenset[str] = NONE

    @property
    def mutes(self) -> bool:
        """Whether anything is muted."""
        return bool(self.channels or self.agents or self.types or self.threads)


class Reset(msgspec.Struct, frozen=True, gc=False):
    """All earlier records are void: the mailbox was replaced or truncated, and everything follows from the start."""

    reason: str


class Gone(msgspec.Struct, frozen=True, gc=False):
    """The mailbox can't be reached; `Reset` or `Back` follows when it can be.

    `since` in seconds since the epoch, if the store knows; else it is the time of the fold. `mailbox` is the label of
    one of several mailboxes that are open side by side: the others are not concerned.
    """

    reason: str
    since: float | None = None
    mailbox: str = ""


class Back(msgspec.Struct, frozen=True, gc=False):
    """The mailbox can be reached again and still holds all earlier records; what came meanwhile follows.

    `mailbox` is the label of one of several, as in `Gone`.
    """

    mailbox: str = ""


class Mailboxes(msgspec.Struct, frozen=True, gc=False):
    """The events that follow come from several mailboxes, whose names are prefixed with these labels."""

    labels: tuple[str, ...]


class Person(msgspec.Struct, frozen=True, gc=False):
    """Names of the user in this mailbox, besides those that hold for every mailbox."""

    names: tuple[str, ...]


class PutAway(msgspec.Struct, frozen=True, gc=False):
    """A record that `recipient` itself archived a message; `time` in seconds since the epoch, if it is known."""

    message_id: str
    recipient: str
    time: float | None = None


class Undelivered(msgspec.Struct, frozen=True, gc=False):
    """A record that a message was not delivered to `recipient`, and why; of several, the last in time counts.

    An empty `cause` says that it was let through after all. `time` in seconds since the epoch, if it is known.
    `is_told` if the system told the sender.
    """

    message_id: str
    recipient: str
    cause: str
    time: float | None = None
    is_told: bool = False


class Progress(msgspec.Struct, frozen=True, gc=False):
    """How much of a scan is done, in a unit that the store chooses: bytes, files or messages.

    The first one ends what the first screen waits for: it comes right after the newest messages.
    """

    done: int
    total: int


class Seen(msgspec.Struct, frozen=True, gc=False):
    """The user has seen a message; comes from the console's own state, never from a store."""

    message_id: str


class Unseen(msgspec.Struct, frozen=True, gc=False):
    """The user has marked a message as not seen; comes from the console's own state too."""

    message_id: str


Event = (
    Message
    | Receipt
    | Delivery
    | PutAway
    | Undelivered
    | Trace
    | Agent
    | Intervention
    | Problem
    | Progress
    | Mailboxes
    | Person
    | Reset
    | Gone
    | Back
    | Seen
    | Unseen
    | OwnMarks
)
