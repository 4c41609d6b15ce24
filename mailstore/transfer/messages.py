"""A message of one mailbox, made ready to be taken over by another with its body and further fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from mailstore.kit.bodies import first_line
from mailstore.records.adopted import AdoptedMessage
from mailstore.records.extra_fields import extras, own_subject, record_of
from mailstore.records.message import Message
from mailstore.store import Store


def adopted_message(
    message: Message, content: str, record: dict[str, Any] | None, known: frozenset[str]
) -> AdoptedMessage:
    """Return a message as another mailbox takes it over; `known` are the fields that header and body show, if any."""
    extra = extras(record or {}, known) if known else {}
    if record is not None and not own_subject(record) and message.subject == first_line(content):
        message = msgspec.structs.replace(message, subject="")
    return AdoptedMessage(message, content, metadata_of(record), extra)


def record_in(store: Store, message: Message) -> dict[str, Any] | None:
    """Return a message's record if it is a JSON object. Raises ContentGone."""
    return record_of(store.raw(message))


def metadata_of(record: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the metadata in a record."""
    metadata = record.get("metadata") if record is not None else None
    return metadata if isinstance(metadata, dict) else {}
