"""What is published for the records of another mailbox, and on which subject."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator

from mailstore.haak_records.adopted import adopted_record, is_whole
from mailstore.kinds.nats.publish import Publication
from mailstore.kinds.nats.subjects import Topic, subject, token_of
from mailstore.kit.json_records import encode_record
from mailstore.records.adopted import Adopted, AdoptedMessage
from mailstore.records.message import Delivery, Intervention, Receipt
from mailstore.records.roster import Agent, Roster


def outgoing_of(mailbox: str, records: Iterable[Adopted]) -> Iterator[Publication]:
    """Yield what is to be published for each record; records that lack what the protocol requires are left out."""
    roster = Roster()
    for record in filter(is_whole, records):
        if isinstance(record, Agent):
            roster.put(record)
        data = encode_record(adopted_record(record, roster))
        yield Publication(subject_of(mailbox, record), data, str(uuid.uuid4()))


def subject_of(mailbox: str, record: Adopted) -> str:
    """Return the subject on which a record of another mailbox is published."""
    match record:
        case AdoptedMessage(message=message):
            topic, name = Topic.MAIL, message.sender
        case Agent():
            topic, name = Topic.ROSTER, record.session_id
        case Receipt():
            topic, name = Topic.READ, record.reader
        case Delivery():
            topic, name = Topic.DELIVERY, ""
        case Intervention():
            topic, name = Topic.JOURNAL, record.actor
    return subject(mailbox, topic, token_of(name))
