"""Follow the archive of a HAAK mailbox: one file per month, packed or not."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from mailstore.errors import reason_of
from mailstore.files.lines import BIG_BLOCK, TOO_LONG, Broken, LineFile, LinePlace, PackedFile, PackedPlace, Replaced
from mailstore.files.whole import NotAFile
from mailstore.haak.places import MailboxFiles
from mailstore.haak_records.decode import MessageDecoder
from mailstore.records.events import Event
from mailstore.records.message import Problem

Month = tuple[LineFile | PackedFile, MessageDecoder]


class MonthPlace(msgspec.Struct, frozen=True):
    """How far a month of the archive was read, and when its last message was sent."""

    name: str
    lines: LinePlace | None
    packed: PackedPlace | None
    last_time: float


class Months:
    """Emit every archived message once, newest month first; months may appear and grow."""

    def __init__(self, places: MailboxFiles) -> None:
        self._places = places
        self._months: dict[str, Month] = {}
        self._told: set[str] = set()

    def read(self) -> Iterator[list[Event]]:
        """Yield what is new. Raises Replaced if a month is gone or was replaced, and OSError."""
        for name, file, decoder in self.look():
            yield from self.read_one(name, file, decoder)

    def look(self) -> Iterator[tuple[str, LineFile | PackedFile, MessageDecoder]]:
        """Yield every month: file name within the store, file, and decoder. Raises Replaced."""
        paths = {path.name: path for path in self._places.months()}
        if gone := self._months.keys() - paths.keys():
            raise Replaced(f"{min(gone)} has left the archive")
        for name, path in paths.items():
            if name not in self._months:
                file = PackedFile(path) if path.suffix == ".gz" else LineFile(path, is_optional=True)
                self._months[name] = file, MessageDecoder(self._within(name), archived=True)
            yield self._within(name), *self._months[name]

    def places(self) -> list[MonthPlace]:
        """Return how far every month was read. Raises OSError."""
        return [
            MonthPlace(
                name,
                file.place() if isinstance(file, LineFile) else None,
                file.place() if isinstance(file, PackedFile) else None,
                decoder.last_time,
            )
            for name, (file, decoder) in self._months.items()
        ]

    def resume(self, places: list[MonthPlace]) -> list[tuple[LineFile, LinePlace]]:
        """Resume an earlier reading; return the files that have changed since. Raises Replaced and OSError."""
        touched = []
        list(self.look())
        for place in places:
            if place.name not in self._months:
                raise Replaced(f"{place.name} has left the archive")
            file, decoder = self._months[place.name]
            decoder.last_time = place.last_time
            if isinstance(file, LineFile) and place.lines is not None and not file.resume(place.lines):
                touched.append((file, place.lines))
            elif isinstance(file, PackedFile) and place.packed is not None:
                file.resume(place.packed)
        return touched

    def held(self) -> Iterator[Problem]:
        """Yield a warning for each month with an unterminated last line."""
        for name, (file, _) in self._months.items():
            if isinstance(file, LineFile) and (end := unterminated(self._within(name), file)):
                yield end

    def _within(self, name: str) -> str:
        return f"{self._places.archive.name}/{name}"

    def read_one(self, name: str, file: LineFile | PackedFile, decoder: MessageDecoder) -> Iterator[list[Event]]:
        """Yield what is new in a month. Raises Replaced and OSError."""
        blocks = file.read() if isinstance(file, PackedFile) else file.read(block=BIG_BLOCK)
        try:
            for lines in blocks:
                batch: list[Event] = []
                for number, line in enumerate(lines, file.cutter.lines - len(lines) + 1):
                    messages, problems = decoder.decode(line, number)
                    batch += messages
                    batch += problems
                yield batch
        except Broken as reason:
            if name not in self._told:
                self._told.add(name)
                yield [Problem(name, file.cutter.lines + 1, file.cutter.offset, str(reason))]
        except FileNotFoundError:
            raise Replaced(f"{name} has left the archive") from None
        except NotAFile as error:
            if name not in self._told:
                self._told.add(name)
                yield [Problem(name, 1, 0, reason_of(error))]


def unterminated(name: str, file: LineFile) -> Problem | None:
    """Return a warning if a file's last line is held back, and a problem if the file isn't read at all."""
    if file.refused:
        return Problem(name, 1, 0, file.refused)
    held = file.cutter.held
    if held is None:
        return None
    reason = TOO_LONG if file.cutter.is_long else "unterminated: held back until its newline is written"
    return Problem(name, file.cutter.lines + 1, held.offset, reason, fatal=file.cutter.is_long)
