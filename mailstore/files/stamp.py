"""Stamps that change when a file changes."""

from __future__ import annotations

import os
import time
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


def path_stamp(path: Path) -> Stamp | None:
    """Return a path's stamp, without following a link; None if there is no accessible file."""
    try:
        return stamp_of(path.lstat())
    except OSError:
        return None
