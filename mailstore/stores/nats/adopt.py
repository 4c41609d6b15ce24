"""Publish the records of another mailbox as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mailstore.haak_records.adopted import (
    adopted_agent,
    adopted_delivery,
    adopted_intervention,
    adopted_message,
    adopted_read,
    is_whole,
)
from mailstore.kit.json_records import encode_record
from mailstore.records.adopted import Adopted, AdoptedMessage
from mailstore.records.message import Delivery, Intervention, Receipt
from mailstore.records.roster import Agent, Roster
from mailstore.stores.nats.publish import Publication
from mailstore.stores.nats.subjects import Topic, subject, token_of

__all__ = ["outgoing_of"]


def outgoing_of(mailbox: str, records: Iterable[Adopted]) -> Iterator[Publication]:
    """Yield what is to be published for each record; records that lack what the protocol requires are left out."""
    roster = Roster()
    for number, record in enumerate(filter(is_whole, records)):
        match record:
            case AdoptedMessage(message=message):
                topic, name, data = Topic.MAIL, message.sender, adopted_message(record, roster)
            case Agent():
                roster.put(record)
                topic, name, data = Topic.ROSTER, record.session_id, adopted_agent(record)
            case Receipt():
                topic, name, data = Topic.READ, record.reader, adopted_read(record)
            case Delivery():
                topic, name, data = Topic.DELIVERY, "", adopted_delivery(record)
            case Intervention():
                topic, name, data = Topic.JOURNAL, record.actor, adopted_intervention(record)
        yield Publication(subject(mailbox, topic, token_of(name)), encode_record(data), f"adopted.{number}")
