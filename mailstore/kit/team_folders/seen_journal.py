"""Our own journal of the messages seen in a folder, because the program whose folder it is deletes them.

Usage:

    class RunJournal(SeenJournal[TeamRunNote]):
        kind, note_name, note_type = "x", "run.json", TeamRunNote
        def read(self): yield from map(decoded, self._lines())
        def keep(self, found): return self._append([encoded(each) for each in found])
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import msgspec
from platformdirs import user_state_path

from mailstore.encoding import encodable
from mailstore.errors import StoreError, reason_of
from mailstore.files.append import append_lines, replace_file
from mailstore.files.lines import Line
from mailstore.files.salvage import salvage
from mailstore.files.whole import open_regular, read_whole
from mailstore.kit.timestamps import utc

LARGEST = 1 << 30


class SeenNote(msgspec.Struct, frozen=True):
    """What is stored of a folder besides its mail: its path, when it was last seen, since when it is gone.

    A kind's own note adds what is needed of the roster. Times are in seconds since the epoch.
    """

    folder: str
    seen: float = 0.0
    gone: float | None = None


Note = TypeVar("Note", bound=SeenNote)


class SeenJournal(Generic[Note]):
    """One file of lines for each folder, named after a hash of its path; readable by its owner alone.

    A note beside it describes the folder. No file is created before the first message.
    """

    kind: ClassVar[str]
    """The kind of mailbox, which names the folder of its journals."""
    note_name: ClassVar[str]
    note_type: type[Note]

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()
        self.path = journal_of(self.kind, self._folder)
        self.damaged = 0
        """How many lines could not be read."""
        self._noted: Note | None = None

    @property
    def is_there(self) -> bool:
        return self._file().is_file()

    def _file(self) -> Path:
        """Return the file that shows when the journal was last written."""
        return self.path

    def read(self) -> Iterator[Any]:
        """Yield what is stored; unreadable lines are counted. Raises OSError and NotAFile."""
        raise NotImplementedError

    def keep(self, entries: Iterable[Any]) -> str:
        """Append what was seen; return a message saying why that failed, or nothing."""
        raise NotImplementedError

    def remember(self, roster: dict[str, Any]) -> None:
        """Store in the note what is needed of an existing folder's roster."""
        raise NotImplementedError

    def note(self) -> Note:
        if self._noted is None:
            note = _note_in(self.path.with_name(self.note_name), self.note_type)
            self._noted = self._noted_now() if note is None else note
        return self._noted

    def _noted_now(self, **fields: Any) -> Note:
        return self.note_type(folder=encodable(os.fsdecode(self._folder)), **fields)

    def _remember(self, **fields: Any) -> None:
        """Store in the note what is told of an existing folder, if that is new."""
        had = self.note()
        if self.is_there and (
            any(getattr(had, name) != value for name, value in fields.items()) or had.gone is not None or not had.seen
        ):
            self._write(self._noted_now(**fields, seen=time.time()))

    def gone_since(self, *, is_keeping: bool = True, ended: float | None = None) -> float:
        """Return since when a missing folder is gone, as far as known; store it the first time.

        `ended` is what else says so. Times are in seconds since the epoch.
        """
        had = self.note()
        if had.gone is not None:
            return had.gone
        moment = ended if ended is not None else self._last_change()
        if is_keeping and self.is_there:
            self._write(msgspec.structs.replace(had, gone=moment))
        return moment

    def _last_change(self) -> float:
        """Return when the folder's parent last changed if that was after the folder was seen, else now."""
        now = time.time()
        with suppress(OSError):
            changed = self._folder.parent.stat().st_mtime
            if max(self.note().seen, self._file().stat().st_mtime) <= changed <= now:
                return changed
        return now

    def _write(self, note: Note) -> None:
        self._noted = note
        with suppress(OSError, StoreError):  # the next look writes it again
            replace_file(self.path.with_name(self.note_name), msgspec.json.encode(note), self._file().stat())

    def _lines(self) -> Iterator[Any]:
        """Yield the stored JSON values; unreadable lines are counted. Raises OSError and NotAFile."""
        self.damaged = 0
        try:
            data = read_whole(self.path, LARGEST)
        except (FileNotFoundError, NotADirectoryError):
            return
        for line in filter(None, data.split(b"\n")):
            pieces, faults = salvage(Line(0, line))
            self.damaged += any(fault.hides for fault in faults)
            for piece in pieces:
                yield piece.value

    def _append(self, lines: list[bytes]) -> str:
        """Append lines; return a message saying why that failed, or nothing."""
        if not lines:
            return ""
        try:
            append_privately(self.path, lines)
        except (OSError, StoreError) as error:
            return f"seen messages can't be stored: {reason_of(error)}"
        return ""


def journaled_in(folder: Path, journal: type[SeenJournal[Note]]) -> set[str]:
    """Return the names of all folders with a journal of a kind that are or were in a folder."""
    paths = sorted(_journals(journal.kind).glob(f"*/{journal.note_name}"))
    notes = [_note_in(path, journal.note_type) for path in paths]
    parent = Path(encodable(os.fsdecode(folder)))
    places = [Path(note.folder) for note in notes if note is not None]
    return {place.name for place in places if place.parent == parent}


def gone_words(what: str, since: float) -> str:
    """Return the message that a team, as it is called, is gone; `since` in seconds since the epoch."""
    return f"the {what} has been gone since {utc(since):%Y-%m-%d %H:%M:%S} UTC: showing what was seen of it"


def append_privately(path: Path, lines: list[bytes]) -> None:
    """Append lines to a file that only its owner can read, made where there is none. Raises OSError and StoreError."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with suppress(FileExistsError):
        os.close(open_regular(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    append_lines(path, lines)


def journal_of(kind: str, folder: Path) -> Path:
    """Return the file of the journal for an absolute folder, below the state folder."""
    return _journals(kind) / hashlib.sha256(os.fsencode(folder)).hexdigest() / "seen.jsonl"


def _journals(kind: str) -> Path:
    return user_state_path("signalbox") / kind


def _note_in(path: Path, note_type: type[Note]) -> Note | None:
    try:
        return msgspec.json.decode(read_whole(path), type=note_type)
    except (OSError, ValueError, RecursionError):
        return None
