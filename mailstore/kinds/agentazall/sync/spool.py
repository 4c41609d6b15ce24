"""Bytes that the other side has already deleted, kept until everything in them is in the inbox."""

from __future__ import annotations

import errno
import hashlib
import os
from contextlib import suppress
from itertools import count
from pathlib import Path

from mailstore.files.durable import sync_folder, write_durably
from mailstore.files.whole import open_regular
from mailstore.kinds.agentazall.spools import FOLDER

RESERVED = 16 << 20
"""Bytes of the disk that are held before more is fetched, and given up for it if the disk is full."""


class Spool:
    """The spool of one account; created when it is first needed."""

    def __init__(self, home: Path, label: str) -> None:
        digest = hashlib.blake2b(label.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
        self._home = home
        self.folder = home / FOLDER / f"spool-{digest}"
        self._reserve = self.folder / "reserve"

    def waiting(self) -> list[Path]:
        """Return what was spooled, oldest first, and reserve room for more. Raises OSError."""
        found = sorted(path for path in self.folder.glob("*.bytes")) if self.folder.is_dir() else []
        self._make()
        if not self._reserve.exists():
            fd = open_regular(self._reserve, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW)
            try:
                _reserve(fd)
            except OSError:
                self._reserve.unlink()
                raise
            finally:
                os.close(fd)
        return found

    def put(self, data: bytes) -> Path:
        """Write bytes durably. Raises OSError."""
        self._make()
        try:
            return self._put(data)
        except OSError:
            # the room that was reserved for this
            with suppress(FileNotFoundError):
                self._reserve.unlink()
            return self._put(data)

    def remove(self, path: Path) -> None:
        """Remove what was spooled. Raises OSError."""
        path.unlink(missing_ok=True)
        sync_folder(path.parent)

    def put_aside(self, path: Path) -> Path:
        """Keep what was spooled, and never return it again. Raises OSError."""
        names = (f"{path.stem}-{number}.aside" for number in count(1))
        kept = next(each for each in map(path.with_name, names) if not each.exists())
        path.rename(kept)
        sync_folder(path.parent)
        return kept

    def _put(self, data: bytes) -> Path:
        numbers = [int(each.stem) for each in self.folder.glob("*.bytes") if each.stem.isdigit()]
        path = self.folder / f"{max(numbers, default=0) + 1:012}.bytes"
        new = path.with_suffix(".new")
        write_durably(new, data, 0o600)
        new.rename(path)
        sync_folder(self.folder)
        return path

    def _make(self) -> None:
        if not self.folder.is_dir():
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            sync_folder(self._home)


def _reserve(fd: int) -> None:
    """Take room on the disk for an empty file. Raises OSError."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(fd, 0, RESERVED)
        return
    piece = bytes(1 << 20)
    for _ in range(RESERVED // len(piece)):
        if os.write(fd, piece) < len(piece):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
