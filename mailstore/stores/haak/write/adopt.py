"""Write the records of another mailbox into a new HAAK mailbox."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from mailstore.files.owned import make_folder, open_like
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
from mailstore.records.message import Delivery, Intervention, Message, Receipt
from mailstore.records.roster import Agent, Roster
from mailstore.rules.archive_plan import month_of
from mailstore.stores.haak.places import MailboxFiles

__all__ = ["adopt"]

Record = dict[str, Any]


def adopt(places: MailboxFiles, records: Iterable[Adopted]) -> None:
    """Write records into an empty mailbox, in the protocol's own field names. Raises StoreError, OSError.

    Records without a sender, recipient, agent or reader are left out.
    """
    roster = Roster()
    with _files(places.look()) as put:
        for record in filter(is_whole, records):
            match record:
                case AdoptedMessage(message=message):
                    put(_file_of(places, message), adopted_message(record, roster))
                case Agent():
                    roster.put(record)
                    put(places.roster_lines, adopted_agent(record))
                case Receipt():
                    put(places.reads, adopted_read(record))
                case Delivery():
                    put(places.deliveries, adopted_delivery(record))
                case Intervention():
                    put(places.journal, adopted_intervention(record))


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
