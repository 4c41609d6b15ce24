"""What one mailbox takes over from another: records as they were, with their ids, senders and times."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec

from mailstore.records.message import Delivery, Intervention, Message, Receipt
from mailstore.records.roster import Agent

__all__ = ["LONG_TTL_HOURS", "Adopted", "Letter", "as_text", "utc", "writable"]

LONG_TTL_HOURS = 876_000
"""A hundred years: what a kind whose mail expires writes for mail that does not."""


class Letter(msgspec.Struct, frozen=True):
    """A message with its body, its record's `metadata` if that is a JSON object, and what else stands in the record.

    `extra` are the fields that neither the message nor the body tells, by dotted name. The message's subject is empty
    where its record has none of its own.
    """

    message: Message
    content: str
    metadata: dict[str, Any] = {}
    extra: dict[str, Any] = {}


Adopted = Agent | Letter | Receipt | Delivery | Intervention
FIRST_SECOND, LAST_SECOND = -62_135_596_800.0, 253_402_300_799.0

Record = TypeVar("Record", bound=Adopted)


def as_text(text: str) -> str:
    """Return a text as files can hold it: halves of surrogate pairs become replacement characters."""
    return text if text.isprintable() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def writable(record: Record) -> Record:
    """Return a record with all its texts as files can hold them."""
    try:
        msgspec.json.encode(record)
    except UnicodeEncodeError:
        return msgspec.convert(_clean(msgspec.to_builtins(record)), type(record))
    return record


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return as_text(value)
    if isinstance(value, (list, tuple)):
        return [_clean(each) for each in value]
    if isinstance(value, dict):
        return {_clean(key): _clean(each) for key, each in value.items()}
    return value


def utc(time: float) -> datetime:
    """Return seconds since the epoch as a date, the nearest there is for what no calendar has."""
    return datetime.fromtimestamp(min(max(time, FIRST_SECOND), LAST_SECOND), UTC)
