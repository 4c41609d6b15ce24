"""Takes over another mailbox's records, as they were, into a new HAAK mailbox."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from mailstore.adopting import LONG_TTL_HOURS, Adopted, Letter
from mailstore.archival import month_of
from mailstore.message import NEVER, Delivery, Intervention, Message, Receipt
from mailstore.roster import Agent
from mailstore.stores.encoding import encoded, stamp
from mailstore.stores.haak.places import Places

__all__ = ["adopt"]

Record = dict[str, Any]


def adopt(places: Places, records: Iterable[Adopted]) -> None:
    """Write records into a mailbox that is empty, in the protocol's own names. Raises StoreError, OSError.

    What names no sender, recipient, agent or reader is no record of this system, and is left out.
    """
    with _files() as put:
        for record in records:
            match record:
                case Letter(message=message) if message.sender.strip() and any(map(str.strip, message.recipients)):
                    put(_file_of(places, message), _letter(record))
                case Agent(session_id=name) if name.strip():
                    put(places.roster_lines, _agent(record))
                case Receipt(message_id, reader, time) if message_id.strip() and reader.strip():
                    put(places.reads, _dated({"message_id": message_id, "reader_session_id": reader}, time))
                case Delivery(message_id, recipient, time) if message_id.strip() and recipient.strip():
                    put(places.deliveries, _dated({"message_id": message_id, "recipient": recipient}, time))
                case Intervention():
                    put(places.journal, _intervention(record))


@contextmanager
def _files() -> Iterator[Any]:
    with ExitStack() as stack:
        files: dict[Path, BinaryIO] = {}

        def put(path: Path, record: Record) -> None:
            if path not in files:
                path.parent.mkdir(parents=True, exist_ok=True)
                files[path] = stack.enter_context(path.open("ab"))
            files[path].write(encoded(record) + b"\n")

        yield put


def _file_of(places: Places, message: Message) -> Path:
    month = month_of(message) if message.archived else None
    return places.archive / f"{month}.jsonl" if month else places.mailbox


def _letter(letter: Letter) -> Record:
    message = letter.message
    names = list(message.recipients)
    record: Record = {"id": message.id, "sender": message.sender, "recipient": names[0] if len(names) == 1 else names}
    if message.timed:
        record["timestamp"] = stamp(message.time, message.timestamp)
    record["subject"] = message.subject
    record["content"] = letter.content
    record["thread"] = message.thread
    record["ttl_hours"] = LONG_TTL_HOURS if message.ttl_hours == NEVER else message.ttl_hours
    for name, value in (("type", message.type), ("tags", list(message.tags)), ("metadata", letter.metadata)):
        if value:
            record[name] = value
    record["read_by"] = list(message.read_by)
    return record


def _agent(agent: Agent) -> Record:
    times = {name: getattr(agent, name) for name in ("started_at", "ended_at", "last_seen", "updated")}
    record: Record = {
        "session_id": agent.session_id,
        "name": agent.name or None,
        "role": agent.role or None,
        "tags": list(agent.tags),
        "status": agent.status.value,
        "activity": agent.activity or None,
        **{name: None if time is None else stamp(time) for name, time in times.items()},
    }
    return {name: value for name, value in record.items() if value is not None}


def _intervention(record: Intervention) -> Record:
    return {
        "id": record.id,
        "actor": record.actor,
        "action": record.action,
        "message_id": record.message_id,
        "timestamp": stamp(record.time),
        "note": record.note,
        "details": record.details,
    }


def _dated(record: Record, time: float | None) -> Record:
    return record if time is None else {**record, "timestamp": stamp(time)}
