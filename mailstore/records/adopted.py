"""Records that one mailbox adopts from another, with their ids, senders and times, and what became of them."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from mailstore.encoding import encodable_value
from mailstore.records.message import Delivery, Intervention, Message, Receipt
from mailstore.records.roster import Agent

LONG_TTL_HOURS = 876_000
"""A hundred years: the TTL that stores write for mail that never expires, if their kind requires a TTL."""


class AdoptedMessage(msgspec.Struct, frozen=True):
    """A message with its body, the `metadata` of its record if that is a JSON object, and the record's other fields.

    `extra` are the fields that are part of neither message nor body, by dotted name. The subject of the message is
    empty if its record has none.
    """

    message: Message
    content: str
    metadata: dict[str, Any] = {}
    extra: dict[str, Any] = {}


Adopted = Agent | AdoptedMessage | Receipt | Delivery | Intervention

Record = TypeVar("Record", bound=Adopted)


def writable(record: Record) -> Record:
    """Return a record with all its texts made writable to files."""
    try:
        msgspec.json.encode(record)
    except UnicodeEncodeError:
        return msgspec.convert(encodable_value(msgspec.to_builtins(record)), type(record))
    return record


class TurnedAway(msgspec.Struct, frozen=True):
    """A record that a mailbox can't hold at all, and why."""

    record: Adopted
    reason: str


class Merged(msgspec.Struct, frozen=True):
    """The records that were there already, and those that can't be held; all others were written."""

    present: tuple[Adopted, ...] = ()
    refused: tuple[TurnedAway, ...] = ()
