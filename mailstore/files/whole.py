"""Read a whole file, and only a regular file of a sensible size."""

from __future__ import annotations

import os
import stat
from pathlib import Path

__all__ = ["LARGEST", "NotAFile", "read_whole"]

LARGEST = 64 << 20
"""Bytes; a larger file is not a message."""


class NotAFile(Exception):
    """The path is not a readable file; the message says why."""


def read_whole(path: Path, largest: int = LARGEST) -> bytes:
    """Return a regular file's bytes, without following a link or waiting for a pipe: `read_whole(path)`.

    Raises NotAFile if it is not a regular file or too large, and OSError.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if path.is_symlink():
            raise NotAFile("symbolic link: links are not followed") from error
        raise
    try:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode):
            raise NotAFile("not a regular file")
        if facts.st_size > largest:
            raise NotAFile(f"larger than {largest >> 20} MiB")
        pieces: list[bytes] = []
        size = 0
        while piece := os.read(fd, 1 << 20):
            pieces.append(piece)
            size += len(piece)
            if size > largest:
                raise NotAFile(f"larger than {largest >> 20} MiB")
        return b"".join(pieces)
    finally:
        os.close(fd)
