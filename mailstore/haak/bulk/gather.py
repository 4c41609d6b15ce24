"""Read a whole HAAK mailbox in bulk: usual lines as columns, others with the ordinary decoders."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from itertools import pairwise
from typing import NamedTuple

from mailstore.bulk.build import fill_mail, fill_reads
from mailstore.bulk.column_buffer import MessageBuffer, ReadBuffer
from mailstore.bulk.parts import ColumnPart, ShareColumns
from mailstore.files.lines import ChecksummedSpan, Line, LineFile, PackedFile, Replaced
from mailstore.haak.bulk.parallel_read import Job, Work, jobs_for
from mailstore.haak.read.months import Months
from mailstore.haak_records.decode import MessageDecoder, decode_receipt
from mailstore.haak_records.usual import read_id_in, thread_in
from mailstore.records.events import Event
from mailstore.records.message import Message
from mailstore.state.mailbox import Mailbox


class Source(NamedTuple):
    """A file of messages, its decoder, and the jobs that read it."""

    name: str
    file: LineFile | PackedFile
    decoder: MessageDecoder
    fd: int | None
    jobs: list[Job]


def gather(
    mailbox: Mailbox, mail: LineFile, decoder: MessageDecoder, reads: LineFile, months: Months, now: float
) -> list[Event]:
    """Fill a mailbox from files; return the events still to be folded.

    Raises KeyCollision, LineTooLong, Replaced and OSError.
    """
    with ExitStack() as stack:
        sources = [
            _source(stack, *each, is_archived=at > 0)
            for at, each in enumerate(((mail.name, mail, decoder), *months.look()))
        ]
        reads_fd = stack.enter_context(reads.opened())
        read_jobs = [] if reads_fd is None else jobs_for(reads_fd, None)
        work = Work([[job for source in sources for job in source.jobs], read_jobs], stack)
        fds = {source.name: source.fd for source in sources if source.fd is not None}
        gathered = MessageBuffer(
            mailbox.contents.messages, lambda file, at, size: thread_in(os.pread(fds[file], size, at))
        )
        _gather_mail(sources, work.found(0), months, gathered)
        keys = fill_mail(mailbox.contents, gathered)
        read = ReadBuffer(mailbox.contents.messages.names)
        if reads_fd is not None:
            _gather_reads(reads, reads_fd, work.found(1), read)
        fill_reads(mailbox.contents, keys, read, now)
        messages = sorted(
            (event for event in gathered.events if isinstance(event, Message)), key=lambda message: message.position
        )
        others = (event for event in gathered.events if not isinstance(event, Message))
        return [*others, *messages, *read.events]  # of two with the same id, the valid one comes first


def _source(
    stack: ExitStack, name: str, file: LineFile | PackedFile, decoder: MessageDecoder, *, is_archived: bool
) -> Source:
    fd = stack.enter_context(file.opened()) if isinstance(file, LineFile) else None
    return Source(name, file, decoder, fd, [] if fd is None else jobs_for(fd, name, is_archived))


def _gather_mail(sources: list[Source], columns: list[ShareColumns], months: Months, into: MessageBuffer) -> None:
    """Collect the messages of all files, in order."""

    def take(events: list[Event]) -> None:
        into.take([event for event in events if isinstance(event, Message)])
        into.events += [event for event in events if not isinstance(event, Message)]

    for name, file, decoder, fd, jobs in sources:
        if isinstance(file, PackedFile):
            for events in months.read_one(name, file, decoder):
                take(events)
        elif fd is not None:

            def add(part: ColumnPart, decoder: MessageDecoder = decoder) -> None:
                into.add(part)
                decoder.last_time = float(part.mail().times[-1])

            def one(line: Line, number: int, decoder: MessageDecoder = decoder) -> None:
                messages, problems = decoder.decode(line, number)
                take([*messages, *problems])

            _go_through(file, fd, columns[: len(jobs)], add, one)
        columns = columns[len(jobs) :]


def _gather_reads(file: LineFile, fd: int, columns: list[ShareColumns], into: ReadBuffer) -> None:
    """Collect the records of a file of reads, in order."""

    def add(part: ColumnPart) -> None:
        into.add(part, lambda at, size: read_id_in(os.pread(fd, size, at)))

    def one(line: Line, number: int) -> None:
        into.take(decode_receipt(file.name, line, number))

    _go_through(file, fd, columns, add, one)


def _go_through(
    file: LineFile,
    fd: int,
    found: list[ShareColumns],
    whole: Callable[[ColumnPart], None],
    one: Callable[[Line, int], None],
) -> None:
    """Pass on the results for a file in order: columns as a whole, other parts line by line."""
    summed = [columns.summed for columns in found if columns.summed.start < columns.summed.end]
    if any(before.end != after.start for before, after in pairwise((ChecksummedSpan(0, 0, 0), *summed))):
        raise Replaced(f"{file.name} was truncated")
    number = 1
    for part in (part for columns in found for part in columns.parts):
        if part.columns:
            whole(part)
        else:
            at = part.offset
            for of_line, data in enumerate(os.pread(fd, part.size, at).split(b"\n")[:-1], number):
                one(Line(at, data), of_line)
                at += len(data) + 1
        number += part.lines
    for lines in file.took(fd, number - 1, summed):
        for of_line, line in enumerate(lines, number):
            one(line, of_line)
        number += len(lines)
