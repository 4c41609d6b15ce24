"""What tells that a file is still the one that was read."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple

__all__ = ["Stamp", "is_fresh", "path_stamp", "stamp_of"]

FRESH_SECONDS = 0.1
"""How coarse a file system's clock may be: two writes within it can leave the same time behind."""


class Stamp(NamedTuple):
    """Device, inode, size in bytes, and when it was last changed, in nanoseconds."""

    device: int
    inode: int
    size: int
    changed: int


def stamp_of(found: os.stat_result) -> Stamp:
    """Return the stamp of what `stat` found."""
    return Stamp(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def is_fresh(stamp: Stamp, now: float | None = None, seconds: float = FRESH_SECONDS) -> bool:
    """Say whether something changed so lately that it may have changed again under the same stamp."""
    return (time.time() if now is None else now) - stamp.changed / 1e9 < seconds


def path_stamp(path: Path) -> Stamp | None:
    """Return a path's stamp, None where nothing is that can be looked at; a link is not followed."""
    try:
        return stamp_of(path.lstat())
    except OSError:
        return None
