"""What one mailbox takes over from another: records as they were, with their ids, senders and times."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from mailstore.encoding import encodable_value
from mailstore.records.message import Delivery, Intervention, Message, Receipt
from mailstore.records.roster import Agent

__all__ = ["LONG_TTL_HOURS", "Adopted", "AdoptedMessage", "writable"]

LONG_TTL_HOURS = 876_000
"""A hundred years: what a kind whose mail expires writes for mail that does not."""


class AdoptedMessage(msgspec.Struct, frozen=True):
    """A message with its body, its record's `metadata` if that is a JSON object, and what else stands in the record.

    `extra` are the fields that neither the message nor the body tells, by dotted name. The message's subject is empty
    where its record has none of its own.
    """

    message: Message
    content: str
    metadata: dict[str, Any] = {}
    extra: dict[str, Any] = {}


Adopted = Agent | AdoptedMessage | Receipt | Delivery | Intervention

Record = TypeVar("Record", bound=Adopted)


def writable(record: Record) -> Record:
    """Return a record with all its texts as files can hold them."""
    try:
        msgspec.json.encode(record)
    except UnicodeEncodeError:
        return msgspec.convert(encodable_value(msgspec.to_builtins(record)), type(record))
    return record
