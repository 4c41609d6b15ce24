"""Read the files of a HAAK mailbox as events: everything once, then what is added."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import msgspec
from msgspec.structs import replace

from mailstore.errors import reason_of
from mailstore.files.lines import BIG_BLOCK, BLOCK, Line, LineFile, LinePlace, Replaced
from mailstore.files.whole import open_binary
from mailstore.haak.archive.leftovers import Leftovers
from mailstore.haak.places import MailboxFiles
from mailstore.haak.read.months import MonthPlace, Months, unterminated
from mailstore.haak.read.roster import RosterReader
from mailstore.haak_records.decode import (
    Make,
    MessageDecoder,
    decode_line,
    decode_receipt,
    delivery_of,
    intervention_of,
)
from mailstore.records.events import Event, Gone, Progress, Reset
from mailstore.records.message import Message, Problem
from mailstore.state.mailbox import Mailbox

TAIL_BYTES = 1 << 16
"""How much of the end of a file is read first, for the first screen."""
BATCH = 1000
MUCH = 1 << 26
"""Bytes: more than this is folded in bulk again rather than record by record."""
BULK_TRIES = 3
TRIES = 100
"""How often a scan starts over before it gives up."""
Decode = Callable[[Line, int], list[Event]]
Followed = tuple[LineFile, Decode]


class Position(msgspec.Struct, frozen=True):
    """How far each file was read (None for a missing one), and the state of the roster."""

    files: dict[str, LinePlace | None]
    months: list[MonthPlace]
    last_time: float
    agents: int
    agents_hash: int
    sessions: set[str]


class Reader:
    """Emit every record once; progress is tracked by file and offset.

    Not thread-safe. Blocks.
    """

    def __init__(self, places: MailboxFiles) -> None:
        self._places = places
        self._gone = ""
        self.begin()

    def begin(self) -> None:
        """Forget everything read so far."""
        places = self._places
        self._roster = RosterReader(places)
        self._deliveries = _small(LineFile(places.deliveries, is_optional=True), delivery_of)
        self._journal = _small(LineFile(places.journal, is_optional=True), intervention_of)
        self._messages = MessageDecoder(places.mailbox.name)
        self._leftovers = Leftovers(places)
        self._mailbox: Followed = LineFile(places.mailbox), self._message(self._messages)
        reads = LineFile(places.reads, is_optional=True)
        self._reads: Followed = reads, partial(decode_receipt, reads.name)
        self._months = Months(places)
        self._touched: list[tuple[LineFile, LinePlace]] = []
        self.grown = 0
        """Bytes that came since the position from which reading was resumed."""

    def scan(self) -> Iterator[list[Event]]:
        """Yield everything, the newest mail early; starts over if a file is replaced meanwhile. Raises OSError."""
        for _ in range(TRIES):
            try:
                yield from _sized(self._everything())
                return
            except Replaced as reason:
                self.begin()
                yield [Reset(str(reason))]
        raise OSError(errno.EBUSY, f"its files were replaced {TRIES} times while they were read")

    def glimpse(self) -> list[Event]:
        """Return the roster and the newest mail, for the first screen. Raises OSError."""
        followed = (self._mailbox, self._reads)
        fronts = [file.part(TAIL_BYTES) for file, _ in followed]
        del fronts
        events = self._roster.read()
        for file, decode in followed:
            tail = [event for batch in _decoded(file, decode, BIG_BLOCK) for event in batch]
            events += _told(tail)[0]
        return events

    def fold_all(self, mailbox: Mailbox, now: float) -> None:
        """Read everything into an empty mailbox, like a scan but in bulk. Raises OSError.

        Late lines in a retired file are emitted by the next look for changes.
        """
        from mailstore.bulk.build import KeyCollision
        from mailstore.bulk.shares import LineTooLong

        for _ in range(BULK_TRIES):
            self.begin()
            if self._leftovers.is_set_aside:
                break
            try:
                self._fold_all(mailbox, now)
                return
            except Replaced as reason:
                mailbox.fold([Reset(str(reason))], now)
            except (KeyCollision, LineTooLong) as reason:
                mailbox.fold([Reset(str(reason))], now)
                break
        self.begin()
        for batch in self.scan():
            mailbox.fold(batch, now)

    def _fold_all(self, mailbox: Mailbox, now: float) -> None:
        from mailstore.haak.bulk.gather import gather

        mailbox.fold(self._roster.read(), now)
        mailbox.fold(gather(mailbox, self._mailbox[0], self._messages, self._reads[0], self._months, now), now)
        for file, decode in (self._deliveries, self._journal):
            for batch in _decoded(file, decode, BIG_BLOCK):
                mailbox.fold(batch, now)
        self._leftovers.check()
        mailbox.fold(self._held(), now)

    def position(self) -> bytes:
        """Return how far everything was read, to resume from there. Raises OSError."""
        if self._leftovers.has_any:
            raise OSError(errno.EBUSY, "an archival has left something over")
        agents, summed, sessions = self._roster.said()
        position = Position(
            {file.name: file.place() for file in self._files()},
            self._months.places(),
            self._messages.last_time,
            agents,
            summed,
            sessions,
        )
        return msgspec.msgpack.encode(position)

    def resume(self, data: bytes) -> list[Event]:
        """Resume an earlier reading; return the roster's events since then.

        Raises Replaced if any file is no longer the one that was read, msgspec.MsgspecError, and OSError.
        """
        self.begin()
        position = msgspec.msgpack.decode(data, type=Position)
        events = self._roster.resume((position.agents, position.agents_hash, position.sessions))
        if self._leftovers.is_set_aside:
            raise Replaced("the mailbox is being archived")
        self._touched = self._months.resume(position.months)
        for file in self._files():
            place = position.files[file.name]
            if place is not None and not file.resume(place):
                self._touched.append((file, place))
        self.grown = sum(file.path.stat().st_size - place.offset for file, place in self._touched)
        if self.grown > MUCH:
            raise Replaced("much has come since")
        self._messages.last_time = position.last_time
        return events

    def places(self) -> tuple[LinePlace | None, LinePlace | None]:
        """Return how far the mailbox and its reads were read. Raises OSError."""
        return self._mailbox[0].place(), self._reads[0].place()

    def confirm(self) -> None:
        """Verify that the part read earlier is unchanged in files that have grown since.

        Reads that part completely. Raises Replaced and OSError.
        """
        for file, place in self._touched:
            if not file.holds_still(place):
                raise Replaced(f"{file.name} was rewritten")
        self._touched = []

    def _files(self) -> tuple[LineFile, ...]:
        return self._mailbox[0], self._reads[0], self._deliveries[0], self._journal[0]

    def changes(self, has_changed: bool = True) -> Iterator[list[Event]]:
        """Yield what was added since the last look; `Reset` and everything again if a file was replaced."""
        gone = self._unreachable()
        if gone:
            if not self._gone:
                yield [Gone(gone)]
            self._gone = gone
            return
        try:
            if self._gone:
                self._gone = ""
                yield from self._anew("the mailbox is back")
            else:
                yield from _sized(_joined(self._news()))
        except Replaced as reason:
            self._gone = self._unreachable()
            if self._gone:  # a folder that is taken away takes its files along: nothing is forgotten
                yield [Gone(self._gone)]
            else:
                yield from self._anew(str(reason))
        except OSError as error:
            self._gone = self._told_by(error)
            yield [Gone(self._gone)]

    def _anew(self, reason: str) -> Iterator[list[Event]]:
        self.begin()
        yield [Reset(reason)]
        yield from self.scan()

    def _unreachable(self) -> str:
        """Return why the mailbox can't be read; empty if it can, as far as known."""
        try:
            if not self._places.folder.is_dir():
                return f"{self._places.folder} is gone"
            for path in self._places.all() if self._gone else ():
                with open_binary(path) as file:
                    file.read(1)
        except OSError as error:
            return self._gone or self._told_by(error)
        return ""

    def _told_by(self, error: OSError) -> str:
        return f"{self._places.mailbox.name} can't be read: {reason_of(error)}"

    def _news(self) -> Iterator[list[Event]]:
        yield self._roster.read()
        for file, decode in (self._deliveries, self._journal):
            yield from _decoded(file, decode)
        yield from self._leftovers.read()
        for file, decode in (self._mailbox, self._reads):
            yield from _decoded(file, decode)
        yield from self._months.read()

    def _everything(self) -> Iterator[list[Event]]:
        yield self._roster.read()
        for file, decode in (self._deliveries, self._journal):
            yield from _decoded(file, decode, BIG_BLOCK)
        yield from self._leftovers.read()
        followed = (self._mailbox, self._reads)
        fronts = [file.part(TAIL_BYTES) for file, _ in followed]
        starts = [file.cutter.offset for file, _ in followed]
        untold: list[list[Event]] = []
        for (file, decode), start in zip(followed, starts, strict=True):
            tail = [event for batch in _decoded(file, decode, BIG_BLOCK) for event in batch]
            told, needy = _told(tail) if start else (tail, [])
            untold.append(needy)
            yield told[::-1] if start or len(told) > BATCH else told
        total = sum(file.cutter.offset for file, _ in followed)
        done = total - sum(starts)
        yield [Progress(done, total)]
        for (file, decode), front, start, needy in zip(followed, fronts, starts, untold, strict=True):
            if start == 0:
                continue
            earlier = MessageDecoder(front.name) if file is self._mailbox[0] else None
            for batch in _decoded(front, self._message(earlier) if earlier else decode, BIG_BLOCK, start):
                yield [*batch, Progress(done + front.cutter.offset, total)]
            done += start
            yield self._settle(needy, front.cutter.lines, earlier)
            file.cutter.lines += front.cutter.lines
        yield from self._months.read()
        self._leftovers.check()
        yield [*self._held(), Progress(total, total)]

    def _settle(self, needy: list[Event], lines: int, earlier: MessageDecoder | None) -> list[Event]:
        """Complete events from a file's end with what precedes them: line numbers and times."""
        last_time = earlier.last_time if earlier else 0.0
        self._messages.last_time = self._messages.last_time or last_time
        return [
            replace(event, line=event.line + lines)
            if isinstance(event, Problem)
            else replace(event, time=last_time)
            if isinstance(event, Message)
            else event
            for event in needy
        ]

    def _held(self) -> Iterator[Event]:
        files = (self._roster.lines, self._deliveries[0], self._journal[0], self._mailbox[0], self._reads[0])
        yield from filter(None, (unterminated(file.name, file) for file in files))
        yield from self._leftovers.held()
        yield from self._months.held()

    def _message(self, decoder: MessageDecoder) -> Decode:
        def decode(line: Line, number: int) -> list[Event]:
            if self._leftovers.is_copy(line):
                return []
            messages, problems = decoder.decode(line, number)
            return [*messages, *problems]

        return decode


def _small(file: LineFile, make: Make) -> Followed:
    return file, partial(decode_line, file.name, make=make)


def _decoded(file: LineFile, decode: Decode, block: int = BLOCK, until: int | None = None) -> Iterator[list[Event]]:
    """Yield the records of a file's next lines, one batch per block."""
    for lines in file.read(until, block):
        batch: list[Event] = []
        for number, line in enumerate(lines, file.cutter.lines - len(lines) + 1):
            batch += decode(line, number)
        yield batch


def _told(events: list[Event]) -> tuple[list[Event], list[Event]]:
    """Separate events of a file's end that are complete from those that need line numbers or times before them."""
    needy = [isinstance(event, Problem) or (isinstance(event, Message) and not event.time) for event in events]
    pairs = list(zip(events, needy, strict=True))
    return [event for event, needs in pairs if not needs], [event for event, needs in pairs if needs]


def _joined(batches: Iterable[list[Event]]) -> Iterator[list[Event]]:
    """Join small batches."""
    waiting: list[Event] = []
    for batch in batches:
        waiting += batch
        if len(waiting) >= BATCH:
            yield waiting
            waiting = []
    yield waiting


def _sized(batches: Iterable[list[Event]]) -> Iterator[list[Event]]:
    """Split batches to at most a thousand events, leaving out empty ones."""
    for batch in batches:
        for at in range(0, len(batch), BATCH):
            yield batch[at : at + BATCH]
