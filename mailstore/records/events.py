"""What a store hands to the mailbox: records, and news about the files that hold them."""

from __future__ import annotations

import msgspec

from mailstore.records.message import Delivery, Intervention, Message, Problem, Receipt, Trace
from mailstore.records.roster import Agent

__all__ = ["Event", "Gone", "Mailboxes", "Person", "Progress", "PutAway", "Reset", "Seen", "Unseen"]


class Reset(msgspec.Struct, frozen=True, gc=False):
    """Forget all records: the files were replaced or cut, and everything follows anew."""

    reason: str


class Gone(msgspec.Struct, frozen=True, gc=False):
    """The mailbox can't be reached; a `Reset` follows when it is back."""

    reason: str


class Mailboxes(msgspec.Struct, frozen=True, gc=False):
    """What follows comes from several mailboxes, whose names stand behind these labels."""

    labels: tuple[str, ...]


class Person(msgspec.Struct, frozen=True, gc=False):
    """In this mailbox the person bears these names too, beside those that every mailbox knows."""

    names: tuple[str, ...]


class PutAway(msgspec.Struct, frozen=True, gc=False):
    """A record that `recipient` itself put a message away; `time` in seconds since the epoch, if it is known."""

    message_id: str
    recipient: str
    time: float | None = None


class Progress(msgspec.Struct, frozen=True, gc=False):
    """How much of a scan is done, in bytes."""

    done: int
    total: int


class Seen(msgspec.Struct, frozen=True, gc=False):
    """The person has seen a message; comes from the console's own state, never from a store."""

    message_id: str


class Unseen(msgspec.Struct, frozen=True, gc=False):
    """The person takes the mark of having seen a message back."""

    message_id: str


Event = (
    Message
    | Receipt
    | Delivery
    | PutAway
    | Trace
    | Agent
    | Intervention
    | Problem
    | Progress
    | Mailboxes
    | Person
    | Reset
    | Gone
    | Seen
    | Unseen
)
