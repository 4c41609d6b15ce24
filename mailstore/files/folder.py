"""List the files of a folder with their stamps, with as few system calls as possible."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

FRESH_SECONDS = 0.1
"""The coarsest clock of a file system: two writes within it may leave the same time."""


class Stamp(NamedTuple):
    """Device, inode, size in bytes, and modification time in nanoseconds."""

    device: int
    inode: int
    size: int
    changed: int


def stamp_of(stat: os.stat_result) -> Stamp:
    """Return the stamp in a `stat` result."""
    return Stamp(stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)


def is_fresh(stamp: Stamp, now: float | None = None, seconds: float = FRESH_SECONDS) -> bool:
    """Say whether a file changed so recently that it may change again without changing its stamp."""
    return (time.time() if now is None else now) - stamp.changed / 1e9 < seconds


def stamp_there(path: str | Path) -> Stamp | None:
    """Return a path's stamp, without following a link; None if there is nothing. Raises OSError if it is unknown."""
    try:
        return stamp_of(os.stat(path, follow_symlinks=False))  # noqa: PTH116 - there may be very many
    except (FileNotFoundError, NotADirectoryError):
        return None


def may_exist(path: Path) -> bool:
    """Say whether something is at a path; it may be where that can't be looked up, and opening it says why not."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def names_in(folder: Path) -> list[str]:
    """Return the names in a folder, sorted; none if there is none. Raises OSError, where `glob` finds nothing."""
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208 - names are enough
    except (FileNotFoundError, NotADirectoryError):
        return []


def path_stamp(path: Path) -> Stamp | None:
    """Return a path's stamp, without following a link; None if there is no accessible file."""
    try:
        return stamp_there(path)
    except OSError:
        return None


class Folder:
    """Remembers the entries of a folder; a folder that is a link or does not exist has none.

    A full listing takes a `stat` for each file, so it is made only if entries were added or removed, or if files are
    known to have changed in place. Belongs to one thread at a time: `Folder(path).look()`.
    """

    def __init__(self, path: Path, is_wanted: Callable[[str], bool] = lambda name: True) -> None:
        self.path = path
        self._is_wanted = is_wanted
        self._stamp: Stamp | None = None
        self._was_fresh = True
        self._entries: dict[str, Stamp] = {}

    def changed(self) -> bool:
        """Say whether entries may have been added or removed since the last call of `look`."""
        return self._was_fresh or path_stamp(self.path) != self._stamp

    def look(self, *, closely: bool = False) -> dict[str, Stamp]:
        """Return the stamps of the entries by name, links included; `closely` if files may have changed in place.

        The very mapping of the last call is returned if nothing changed. Raises OSError unless it is certain that there
        is no such folder: one that can't be looked at is not an empty one.
        """
        stamp = stamp_there(self.path)
        if stamp == self._stamp and not self._was_fresh and not closely:
            return self._entries
        was_fresh = stamp is not None and is_fresh(stamp)
        known = {} if closely else self._entries
        stamps: dict[str, Stamp] = {}
        if stamp is not None and not self.path.is_symlink():
            try:
                with os.scandir(self.path) as entries:
                    for entry in entries:
                        if self._is_wanted(entry.name):
                            known_stamp = known.get(entry.name)
                            if known_stamp is not None and known_stamp.inode == entry.inode():
                                stamps[entry.name] = known_stamp
                            else:
                                _add(stamps, entry)
            except (FileNotFoundError, NotADirectoryError):
                stamps = {}
        # only now: a folder that couldn't be listed is listed again
        self._stamp, self._was_fresh, self._entries = stamp, was_fresh, stamps
        return stamps

    def look_at(self, names: Iterable[str]) -> bool:
        """Update the stamps of some known entries; say whether any of them changed."""
        has_changed = False
        for name in names:
            stamp = path_stamp(self.path / name) if name in self._entries else None
            if stamp is not None and stamp != self._entries[name]:
                self._entries[name] = stamp
                has_changed = True
        return has_changed


def _add(stamps: dict[str, Stamp], entry: os.DirEntry[str]) -> None:
    try:
        stamps[entry.name] = stamp_of(entry.stat(follow_symlinks=False))
    except FileNotFoundError:
        return
