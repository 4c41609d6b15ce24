"""Reads the files of a HAAK mailbox into events: all of them once, then what comes."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from mailstore.events import Event, Gone, Progress, Reset
from mailstore.files.lines import BIG_BLOCK, Line, LineFile, Replaced
from mailstore.message import Problem, Receipt
from mailstore.stores.haak.decode import MessageDecoder
from mailstore.stores.haak.names import parse_time
from mailstore.stores.haak.places import Places
from mailstore.stores.haak.records import (
    RECEIPT,
    agent_of,
    decode_line,
    delivery_of,
    intervention_of,
    receipt_of,
    roster_of,
)

__all__ = ["Reader"]

TAIL_BYTES = 1 << 18
BATCH = 1000
Decode = Callable[[Line, int], list[Event]]


class Reader:
    """Hands every record out once; what was read is known by file and offset.

    Belongs to one consumer at a time. Blocks.
    """

    def __init__(self, places: Places) -> None:
        self._places = places
        self._reset()

    def _reset(self) -> None:
        places = self._places
        self._mailbox = LineFile(places.mailbox)
        self._reads = LineFile(places.reads)
        self._small = [
            (LineFile(places.roster_lines), self._record(places.roster_lines.name, agent_of)),
            (LineFile(places.deliveries), self._record(places.deliveries.name, delivery_of)),
            (LineFile(places.journal), self._record(places.journal.name, intervention_of)),
        ]
        self._decode_message = self._messages(places.mailbox.name)
        self._months: dict[str, tuple[LineFile | None, Decode, tuple[int, int]]] = {}
        self._document: tuple[int, int, int] | None = None
        self._is_gone = False

    def _messages(self, name: str, *, archived: bool = False) -> Decode:
        decoder = MessageDecoder(name, archived=archived)

        def decode(line: Line, number: int) -> list[Event]:
            messages, problems = decoder.decode(line, number)
            return [*messages, *problems]

        return decode

    def _record(self, name: str, make: Callable[[dict[str, Any]], tuple[Event, str]]) -> Decode:
        return lambda line, number: decode_line(name, line, number, make)

    def _receipt(self, line: Line, number: int) -> list[Event]:
        try:
            usual = RECEIPT.decode(line.data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return decode_line(self._reads.name, line, number, receipt_of)
        time, late = parse_time(usual.timestamp)
        if late or not (usual.message_id and usual.reader_session_id):
            return decode_line(self._reads.name, line, number, receipt_of)
        return [Receipt(usual.message_id, usual.reader_session_id, time)]

    # Everything

    def scan(self) -> Iterator[list[Event]]:
        """Yield all there is: the roster, the newest mail, then the rest."""
        yield self._roster_document()
        for file, decode in self._small:
            yield from self._rest(file, decode)
        total = self._mailbox.size() + self._reads.size()
        tails = [self._tail(self._mailbox, self._decode_message), self._tail(self._reads, self._receipt)]
        for batch, _ in tails:
            yield batch
        done = 0
        decoders = (self._messages(self._mailbox.name), self._receipt)
        for (_, start), file, decode in zip(tails, (self._mailbox, self._reads), decoders, strict=True):
            for batch in self._front(file, start, decode):
                yield [*batch, Progress(done + file.offset, max(1, total))]
            done += file.size()
        yield from self._archive()
        held = [
            Problem(
                file.name, file.lines + 1, held.offset, "unterminated: held until its newline comes", False
            )
            for file, _ in self._all()
            if (held := file.held)
        ]
        yield [*held, Progress(total, max(1, total))]

    def _all(self) -> list[tuple[LineFile, Decode]]:
        return [*self._small, (self._mailbox, self._decode_message), (self._reads, self._receipt)]

    def _tail(self, file: LineFile, decode: Decode) -> tuple[list[Event], int]:
        """Read a file's end; its lines' numbers are not known yet, so its damage is told by `_front`."""
        start = file.tail_start(TAIL_BYTES)
        file.skip_to(start)
        events = [
            event for lines in file.read(block=BIG_BLOCK) for line in lines for event in decode(line, 0)
        ]
        if start == 0:
            return self._numbered(file, events), 0
        return [event for event in reversed(events) if not isinstance(event, Problem)], start

    def _numbered(self, file: LineFile, events: list[Event]) -> list[Event]:
        """Give problems of a file that was read from its beginning their line numbers."""
        wanted = sorted({event.offset for event in events if isinstance(event, Problem)})
        if not wanted:
            return events
        numbers = line_numbers(file.path, wanted)
        return [
            Problem(event.file, numbers[event.offset], event.offset, event.reason, event.fatal)
            if isinstance(event, Problem)
            else event
            for event in events
        ]

    def _front(self, file: LineFile, start: int, decode: Decode) -> Iterator[list[Event]]:
        """Read what stands before the tail, then tell what is damaged in the tail, numbered."""
        if start == 0:
            return
        front = LineFile(file.path)
        yield from self._rest(front, decode, start)
        tail = LineFile(file.path)
        tail.skip_to(start, front.lines)
        damaged: list[Event] = []
        for lines in tail.read(file.offset, BIG_BLOCK):
            first = tail.lines - len(lines)
            for at, line in enumerate(lines, first + 1):
                damaged += [event for event in decode(line, at) if isinstance(event, Problem)]
        file.lines += front.lines
        yield damaged

    def _rest(self, file: LineFile, decode: Decode, until: int | None = None) -> Iterator[list[Event]]:
        for lines in file.read(until, BIG_BLOCK):
            first = file.lines - len(lines)
            batch: list[Event] = []
            for number, line in enumerate(lines, first + 1):
                batch += decode(line, number)
                if len(batch) >= BATCH:
                    yield batch
                    batch = []
            yield batch

    def _roster_document(self) -> list[Event]:
        path = self._places.roster_document
        try:
            facts = path.stat()
            stamp = (facts.st_ino, facts.st_size, facts.st_mtime_ns)
            if stamp == self._document:
                return []
            data = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return []
        self._document = stamp
        return roster_of(path.name, data)

    def _archive(self) -> Iterator[list[Event]]:
        for path in self._places.months():
            name = f"{self._places.archive.name}/{path.name}"
            facts = path.stat()
            stamp = (facts.st_ino, facts.st_size)
            known = self._months.get(name)
            if known is not None and known[2] == stamp:
                continue
            if path.suffix == ".gz":
                decode = self._messages(name, archived=True)
                self._months[name] = (None, decode, stamp)
                yield from self._packed(path, name, decode)
                continue
            file, decode = known[:2] if known else (LineFile(path), self._messages(name, archived=True))
            assert file is not None
            self._months[name] = (file, decode, stamp)
            yield from self._rest(file, decode)

    def _packed(self, path: Path, name: str, decode: Decode) -> Iterator[list[Event]]:
        offset = 0
        try:
            with gzip.open(path) as unpacked:
                batch: list[Event] = []
                for number, data in enumerate(unpacked, 1):
                    batch += decode(Line(offset, data.rstrip(b"\n")), number)
                    offset += len(data)
                    if len(batch) >= BATCH:
                        yield batch
                        batch = []
                yield batch
        except (OSError, EOFError) as error:
            yield [Problem(name, 0, offset, f"can't be unpacked: {error}")]

    # What comes

    def changes(self) -> list[Event]:
        """Return what came since the last look; after a replacement, `Reset` and everything anew."""
        if not self._places.mailbox.exists():
            if self._is_gone:
                return []
            self._is_gone = True
            return [Gone(f"{self._places.mailbox.name} is gone")]
        if self._is_gone:
            return self._anew("the mailbox is back")
        try:
            events = self._roster_document()
            for file, decode in self._all():
                for batch in self._rest(file, decode):
                    events += batch
            for batch in self._archive():
                events += batch
        except Replaced as reason:
            return self._anew(str(reason))
        return events

    def _anew(self, reason: str) -> list[Event]:
        self._reset()
        events: list[Event] = [Reset(reason)]
        for batch in self.scan():
            events += batch
        return events


def line_numbers(path: Path, offsets: list[int]) -> dict[int, int]:
    """Return the line, from 1, in which each of some sorted offsets lies."""
    found: dict[int, int] = {}
    wanted = iter(offsets)
    target = next(wanted, None)
    at, number = 0, 1
    with path.open("rb") as file:
        for line in file:
            while target is not None and target < at + len(line):
                found[target] = number
                target = next(wanted, None)
            at += len(line)
            number += 1
    return found
