"""Write drafts and records as lines of a HAAK mailbox, in the dialect of its file (docs/formats/haak.md#writing)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mailstore.files.append import append_all, append_lines
from mailstore.files.lines import BIG_BLOCK, Line, LineFile, Replaced
from mailstore.files.salvage import Piece, salvage
from mailstore.haak.places import MailboxFiles
from mailstore.haak_records.decode import MessageDecoder
from mailstore.haak_records.encode import delivery_record, intervention_record, message_record, read_record
from mailstore.haak_records.values import MESSAGE, READ, named, pick
from mailstore.kit.json_records import encode_record

if TYPE_CHECKING:
    from mailstore.records.draft import Draft
    from mailstore.records.message import Intervention, Message

LAST_LINES = 100
TAIL_BYTES = 1 << 16


def last_records(path: Path) -> list[dict[str, Any]]:
    """Return the records on up to a hundred last lines of a file."""
    size = TAIL_BYTES
    while True:
        file = LineFile(path)
        file.part(size)
        start = file.cutter.offset
        try:
            lines = [line for block in file.read(block=BIG_BLOCK) for line in block]
        except Replaced:
            # an archival replaced the file between the two reads
            continue
        if start == 0 or len(lines) >= LAST_LINES:
            return records_on(lines[-LAST_LINES:])
        size *= 8


def records_on(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """Return the JSON objects on some lines."""
    return [piece.value for line in lines for piece in salvage(line)[0] if isinstance(piece.value, dict)]


def dialect_of(path: Path) -> dict[str, str]:
    """Return the field names used by most of a file's last 100 records."""
    records = last_records(path)
    return {field: named(records, names) for field, names in MESSAGE.items()}


def write_message(places: MailboxFiles, draft: Draft, message_id: str, time: float) -> Message:
    """Append a message and its deliveries; return it as it will be read."""
    record = message_record(draft, message_id, time, dialect_of(places.mailbox))
    line = encode_record(record)
    deliveries = [encode_record(delivery_record(message_id, name, time)) for name in draft.audience]
    # deliveries first: no reader sees the message without them
    parts = [(places.deliveries, deliveries)] if deliveries else []
    *_, offset = append_all([*parts, (places.mailbox, [line])], places.look())
    return MessageDecoder(places.mailbox.name).message(Piece(offset, line, record))[0]


def write_reads(places: MailboxFiles, reader: str, message_ids: Sequence[str], time: float) -> int:
    """Record that a reader has read messages; existing records aren't repeated."""
    known = _known_reads(places.reads, reader)
    lines = [
        encode_record(read_record(message_id, reader, time))
        for message_id in dict.fromkeys(message_ids)
        if message_id not in known
    ]
    if lines:
        append_lines(places.reads, lines, places.look())
    return len(lines)


def _known_reads(path: Path, reader: str) -> set[str]:
    """Return the messages that a reader has records of; only lines with its name are decoded."""
    marks = {encode_record(reader)[1:-1], reader.encode("ascii", "backslashreplace")}
    lines = [
        line
        for block in LineFile(path).read(block=BIG_BLOCK)
        for line in block
        if any(mark in line.data for mark in marks)
    ]
    return {
        str(pick(record, READ["message_id"])[0])
        for record in records_on(lines)
        if str(pick(record, READ["reader"])[0]) == reader
    }


def write_intervention(places: MailboxFiles, intervention: Intervention) -> None:
    """Append to the oversight journal."""
    append_lines(places.journal, [encode_record(intervention_record(intervention))], places.look())
