"""The note that each archival keeps of itself: what undoes it, and how far its old mailbox file was taken over.

It stands in `retired/<run>.json`, and whoever works on a run holds its lock. A note without a mailbox file that was
put away is that of a run that is under way, or was interrupted.
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
from mailstore.files.owned import make_folder
from mailstore.stores.haak.places import Places

__all__ = ["Held", "Note", "holding", "note_of", "notes", "sync_folder"]


class Note(msgspec.Struct, frozen=True):
    """The sizes that the months had before (None: no file), and the bytes of the old file that stand elsewhere now.

    `into` is where in the mailbox file what stands behind `end` is just being brought, None where nothing is.
    """

    months: dict[str, int | None] = {}
    end: int = 0
    into: int | None = None


DECODER = msgspec.json.Decoder(Note)
ROOM = 256
"""Bytes: a note is written over with blanks behind it, so that there is a whole one at every moment."""


def notes(places: Places) -> dict[str, Path]:
    """Return the notes of all runs there are."""
    try:
        found = sorted(path for path in places.retired.iterdir() if path.suffix == ".json")
    except OSError:
        return {}
    return {path.stem: path for path in found}


def note_of(path: Path) -> Note:
    """Return what a note says; an empty one for a note that is not there or was not finished."""
    try:
        return DECODER.decode(path.read_bytes())
    except (OSError, ValueError):
        return Note()


class Held:
    """A note whose lock is held."""

    def __init__(self, path: Path, fd: int) -> None:
        self.path = path
        self._fd = fd

    def write(self, note: Note) -> None:
        """Bring a note to the disk. Raises OSError."""
        data = msgspec.json.encode(note).ljust(max(ROOM, os.fstat(self._fd).st_size))
        if os.pwrite(self._fd, data, 0) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        os.fsync(self._fd)


@contextmanager
def holding(places: Places, run: str) -> Iterator[Held | None]:
    """Hold the lock of a run, and give its note; None where somebody works on it now."""
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
        yield Held(path, fd)


def sync_folder(*folders: Path) -> None:
    """Bring the entries of folders to the disk."""
    for folder in folders:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
