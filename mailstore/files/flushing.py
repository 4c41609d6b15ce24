"""Have the disk keep what was written: what `fsync` promises, which macOS's own does not. Imports next to nothing."""

from __future__ import annotations

import fcntl
import os

FULL_FLUSH: int | None = getattr(fcntl, "F_FULLFSYNC", None)
"""What has macOS empty the disk's cache too: its `fsync` leaves the bytes there, where a power cut takes them."""


def flush(fd: int) -> None:
    """Return when the contents of an open file are on the disk. Raises OSError."""
    if FULL_FLUSH is not None:
        try:
            fcntl.fcntl(fd, FULL_FLUSH)
        except OSError:
            pass  # a file system of another machine, or a folder
        else:
            return
    os.fsync(fd)
