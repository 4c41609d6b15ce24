"""The note of each archival run: how to undo it, and how far its old mailbox file was copied.

It is in `retired/<run>.json`, and locked while a process works on it. A note without a retired mailbox file belongs
to a run that is running or was interrupted.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from mailstore.errors import MailboxBusy
from mailstore.files.append import locked
from mailstore.files.flushing import flush
from mailstore.files.owned import make_folder
from mailstore.files.salvage import UNREADABLE
from mailstore.files.whole import read_whole
from mailstore.haak.places import MailboxFiles


class RunNote(msgspec.Struct, frozen=True):
    """The previous sizes of the months (None: no file), and how many bytes of the old file were copied elsewhere.

    `into` is the offset in the mailbox file to which lines after `end` are being moved, None if none are.
    """

    months: dict[str, int | None] = {}
    end: int = 0
    into: int | None = None


DECODER = msgspec.json.Decoder(RunNote)
ROOM = 256
"""Bytes: notes are padded with blanks and overwritten in place, so that there is a complete one at every moment."""


def run_notes(places: MailboxFiles) -> dict[str, Path]:
    """Return the notes of all runs."""
    try:
        paths = sorted(path for path in places.retired.iterdir() if path.suffix == ".json")
    except OSError:
        return {}
    return {path.stem: path for path in paths}


def read_note(path: Path) -> RunNote:
    """Read a note; an empty one if it is missing or incomplete."""
    try:
        return DECODER.decode(read_whole(path))
    except (OSError, *UNREADABLE):
        return RunNote()


class LockedNote:
    """A locked note."""

    def __init__(self, path: Path, fd: int) -> None:
        self.path = path
        self._fd = fd

    def write(self, note: RunNote) -> None:
        """Write and sync a note. Raises OSError."""
        data = msgspec.json.encode(note).ljust(max(ROOM, os.fstat(self._fd).st_size))
        if os.pwrite(self._fd, data, 0) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        flush(self._fd)


@contextmanager
def locked_run(places: MailboxFiles, run: str) -> Iterator[LockedNote | None]:
    """Lock a run and yield its note; None if another process holds the lock."""
    look = places.look()
    make_folder(places.archive, look)
    make_folder(places.retired, look)
    path = places.retired / f"{run}.json"
    with ExitStack() as stack:
        try:
            fd = stack.enter_context(locked(path, os.O_RDWR | os.O_CREAT, 0.0, look))
        except MailboxBusy:
            yield None
            return
        yield LockedNote(path, fd)
