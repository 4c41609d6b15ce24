"""Write the records of another mailbox into a new HAAK mailbox."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from mailstore.files.owned import make_folder, open_like
from mailstore.haak.places import MailboxFiles
from mailstore.haak_records.adopted import adopted_record, is_whole
from mailstore.kit.json_records import encode_record
from mailstore.records.adopted import Adopted, AdoptedMessage
from mailstore.records.message import Delivery, Intervention, Message, Receipt
from mailstore.records.roster import Agent, Roster
from mailstore.rules.archive_plan import month_of

Record = dict[str, Any]


def adopt(places: MailboxFiles, records: Iterable[Adopted]) -> None:
    """Write records into an empty mailbox, in the protocol's own field names. Raises StoreError, OSError.

    Records without a sender, recipient, agent or reader are left out.
    """
    roster = Roster()
    with _files(places.look()) as put:
        for record in filter(is_whole, records):
            if isinstance(record, Agent):
                roster.put(record)
            put(file_of(places, record), adopted_record(record, roster))


def file_of(places: MailboxFiles, record: Adopted) -> Path:
    """Return the file that a record of another mailbox belongs into, in a mailbox with a roster of lines."""
    match record:
        case AdoptedMessage(message=message):
            month = archive_month(message)
            return places.archive / f"{month}.jsonl" if month else places.mailbox
        case Agent():
            return places.roster_lines
        case Receipt():
            return places.reads
        case Delivery():
            return places.deliveries
        case Intervention():
            return places.journal


def archive_month(message: Message) -> str | None:
    """Return the month of the archive that an archived message belongs into; None for one that is live."""
    return month_of(message) if message.archived else None


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
