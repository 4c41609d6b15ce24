"""Write the records of another mailbox into a new HAAK mailbox."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from json import loads
from pathlib import Path
from typing import Any, BinaryIO

from mailstore.files.owned import make_folder, open_like
from mailstore.kit.json_records import encode_record
from mailstore.kit.timestamps import written_time
from mailstore.records.address import DEFAULT_TTL_HOURS, resolve
from mailstore.records.adopted import LONG_TTL_HOURS, Adopted, AdoptedMessage
from mailstore.records.message import NEVER, Delivery, Intervention, Message, Receipt
from mailstore.records.roster import Agent, Roster
from mailstore.rules.archive_plan import month_of
from mailstore.stores.haak.field_names import MESSAGE_FIELDS
from mailstore.stores.haak.places import MailboxFiles

__all__ = ["adopt"]

Record = dict[str, Any]


def adopt(places: MailboxFiles, records: Iterable[Adopted]) -> None:
    """Write records into an empty mailbox, in the protocol's own field names. Raises StoreError, OSError.

    Records without a sender, recipient, agent or reader are left out.
    """
    roster = Roster()
    with _files(places.look()) as put:
        for record in records:
            match record:
                case AdoptedMessage(message=message) if message.sender.strip() and any(
                    map(str.strip, message.recipients)
                ):
                    put(_file_of(places, message), _letter(record, roster))
                case Agent(session_id=name) if name.strip():
                    roster.put(record)
                    put(places.roster_lines, _agent(record))
                case Receipt(message_id, reader, time) if message_id.strip() and reader.strip():
                    put(places.reads, _dated({"message_id": message_id, "reader_session_id": reader}, time))
                case Delivery(message_id, recipient, time) if message_id.strip() and recipient.strip():
                    put(places.deliveries, _dated({"message_id": message_id, "recipient": recipient}, time))
                case Intervention():
                    put(places.journal, _intervention(record))


@contextmanager
def _files(like: os.stat_result | None) -> Iterator[Any]:
    with ExitStack() as stack:
        files: dict[Path, BinaryIO] = {}

        def put(path: Path, record: Record) -> None:
            if path not in files:
                make_folder(path.parent, like)
                fd = open_like(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, like)
                files[path] = stack.enter_context(os.fdopen(fd, "ab"))
            files[path].write(encode_record(record) + b"\n")

        yield put


def _file_of(places: MailboxFiles, message: Message) -> Path:
    month = month_of(message) if message.archived else None
    return places.archive / f"{month}.jsonl" if month else places.mailbox


def _letter(letter: AdoptedMessage, roster: Roster) -> Record:
    message = letter.message
    names = list(message.recipients)
    record: Record = {"id": message.id, "sender": message.sender, "recipient": names[0] if len(names) == 1 else names}
    if message.timed:
        record["timestamp"] = written_time(message.time, message.timestamp)
    if message.subject:
        record["subject"] = message.subject
    record["content"] = letter.content
    record["thread"] = message.thread
    record["ttl_hours"] = _ttl(message, roster)
    for name, value in (("type", message.type), ("tags", list(message.tags)), ("metadata", letter.metadata)):
        if value:
            record[name] = value
    record["read_by"] = list(message.read_by)
    for name, value in letter.extra.items():
        bare = name.rpartition(".")[2]
        record.setdefault(name if bare in record or bare in MESSAGE_FIELDS else bare, value)
    return record


def _ttl(message: Message, roster: Roster) -> float | int | None:
    """Return hours, as an integer if whole; None for a message that never expires if its addresses imply that."""
    hours = message.ttl_hours
    if hours == NEVER:
        kinds = {resolve(text, roster).kind for text in message.recipients}
        return None if all(DEFAULT_TTL_HOURS[kind] is None for kind in kinds) else LONG_TTL_HOURS
    return int(hours) if hours is not None and hours == int(hours) else hours


def _agent(agent: Agent) -> Record:
    times = {name: getattr(agent, name) for name in ("started_at", "ended_at", "last_seen", "updated")}
    record: Record = {
        "session_id": agent.session_id,
        "name": agent.name or None,
        "role": agent.role or None,
        "tags": list(agent.tags),
        "status": agent.status.value,
        "activity": agent.activity or None,
        **{name: None if time is None else written_time(time) for name, time in times.items()},
    }
    said = {name: value for name, value in record.items() if value is not None}
    return {**(loads(agent.extra) if agent.extra else {}), **said}


def _intervention(record: Intervention) -> Record:
    return {
        "id": record.id,
        "actor": record.actor,
        "action": record.action,
        "message_id": record.message_id,
        "timestamp": written_time(record.time),
        "note": record.note,
        "details": record.details,
    }


def _dated(record: Record, time: float | None) -> Record:
    return record if time is None else {**record, "timestamp": written_time(time)}
