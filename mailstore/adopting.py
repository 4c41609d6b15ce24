"""What one mailbox takes over from another: records as they were, with their ids, senders and times."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from mailstore.message import Delivery, Intervention, Message, Receipt
from mailstore.roster import Agent

__all__ = ["LONG_TTL_HOURS", "Adopted", "Letter", "as_text"]

LONG_TTL_HOURS = 876_000.0
"""A hundred years: what a kind whose mail expires writes for mail that does not."""


class Letter(msgspec.Struct, frozen=True):
    """A message with its body, and the `metadata` that its record has, if it is a JSON object."""

    message: Message
    content: str
    metadata: dict[str, Any] = {}


Adopted = Agent | Letter | Receipt | Delivery | Intervention

Told = TypeVar("Told", str, Adopted)


def as_text(record: Told) -> Told:
    """Return a text or a record as files can hold it: halves of surrogate pairs become replacement characters."""
    if isinstance(record, str):
        return record if record.isprintable() else record.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
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
