"""Files that belong to a HAAK mailbox during an archival or after an interrupted one.

These are a file that was set aside and not retired yet, and late lines in a retired file, from a program that still
had it open.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mailstore.files.lines import BIG_BLOCK, Cutter, Line, LineFile, Replaced
from mailstore.haak.places import MailboxFiles
from mailstore.haak.read.months import unterminated
from mailstore.haak_records.decode import MessageDecoder
from mailstore.records.events import Event
from mailstore.records.message import Problem

SET_ASIDE = "set aside by a running or interrupted archival; the next write finishes it"
CAME_LATE = "written to after it was archived, by a program that has it open; the next write moves the lines over"


class Leftovers:
    """Emit the lines of such files, and recognise their copies in the mailbox."""

    def __init__(self, places: MailboxFiles) -> None:
        self._places = places
        self._live = _identity(places.mailbox)
        self._files: dict[Path, tuple[LineFile, MessageDecoder]] = {}
        self._seen: set[int] = set()
        self._brought: set[int] = set()
        """Late lines that are already in the mailbox."""
        self._aside = self._lying()
        for path in self._aside:
            self._follow(path, Cutter())

    def read(self) -> Iterator[list[Event]]:
        """Yield what is new. Raises Replaced if the mailbox file was set aside or retired meanwhile, and OSError."""
        self.check()
        self._look_for_late_lines()
        for file, decoder in self._files.values():
            for lines in file.read(block=BIG_BLOCK):
                batch: list[Event] = []
                for number, line in enumerate(lines, file.cutter.lines - len(lines) + 1):
                    if hash(line.data) not in self._brought and not self.is_copy(line):
                        messages, problems = decoder.decode(line, number)
                        batch += (*messages, *problems)
                yield batch

    @property
    def is_set_aside(self) -> bool:
        """Return whether a file is set aside, whose lines may also be in the mailbox."""
        return bool(self._aside)

    @property
    def has_any(self) -> bool:
        """Return whether there are leftovers, as of the last look."""
        return bool(self._files)

    def is_copy(self, line: Line) -> bool:
        """Return whether a line was already emitted from any file; never without leftovers."""
        if not self._files or not line.data:
            return False
        key = hash(line.data)
        if key in self._seen:
            return True
        self._seen.add(key)
        return False

    def check(self) -> None:
        """Raise Replaced if the mailbox file was replaced, or a file was set aside or retired."""
        live = _identity(self._places.mailbox)
        if self._lying() != self._aside:
            raise Replaced("the mailbox is being archived")
        if live and self._live and live != self._live:
            raise Replaced(f"{self._places.mailbox.name} was replaced")
        self._live = live

    def held(self) -> Iterator[Problem]:
        """Yield a warning for each file, and for an unterminated last line."""
        for path, (file, _) in self._files.items():
            yield Problem(self._name(path), 1, 0, SET_ASIDE if path in self._aside else CAME_LATE, fatal=False)
            if end := unterminated(self._name(path), file):
                yield end

    def _lying(self) -> set[Path]:
        """Return the files that are set aside, except one that is still the mailbox as well."""
        return {
            path for path in self._places.set_aside().values() if _identity(path) != _identity(self._places.mailbox)
        }

    def _look_for_late_lines(self) -> None:
        if not self._places.retired.is_dir():
            return
        from mailstore.haak.archive.recovery import late_runs, retired_file

        for run, note in late_runs(self._places).items():
            path = retired_file(self._places, run)
            if path not in self._files:
                if note.into is not None:
                    self._brought |= _hashes(self._places.mailbox, note.into)
                self._follow(path, Cutter(note.end))

    def _follow(self, path: Path, cutter: Cutter) -> None:
        file = LineFile(path, is_optional=True)
        file.cutter = cutter
        self._files[path] = file, MessageDecoder(self._name(path))

    def _name(self, path: Path) -> str:
        return str(path.relative_to(self._places.folder))


def _hashes(path: Path, start: int) -> set[int]:
    """Return the hashes of a file's lines from an offset on."""
    file = LineFile(path)
    file.cutter = Cutter(start)
    return {hash(line.data) for lines in file.read(block=BIG_BLOCK) for line in lines}


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino
